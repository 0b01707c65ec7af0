import GatewayProtocol
import PushPolicy

/// One change of what the phone must not forget.
enum PhoneChange: Sendable, Equatable {
  /// A push arrived: its app, badge, entry and alert.
  case received(DevicePush)
  /// A push came again under another number.
  case passed(seq: UInt64)
  /// Pushes are numbered anew.
  case renumbered(NumberingEpoch?)
  /// The alert on screen was seen, and the gateway is told.
  case presented(ordinal: Int)
  /// An alert was answered, here; one of several that were closed together has not been read.
  case answered(ordinal: Int, isRead: Bool = true)
  /// An answer waits for the gateway.
  case pending(PhoneState.PendingAnswer)
  /// The gateway has been told the answers that waited, as journals of earlier versions say it.
  case answersSent
  /// The gateway has an answer to the push.
  case answerTaken(id: String)
  /// A push is over elsewhere, perhaps by an answer.
  case retracted(id: String, answer: GivenAnswer? = nil)
  case read([Int])
  case cleared([Int])
  /// Entries come back, as they were.
  case restored([PhoneState.Entry])
  case apps([DeviceApp])
  case preferences(Preferences)
  case settings(DeviceSettings)
  case place(PhoneState.Place)
  case gap(dropped: Int)
  case gapNoted
}

extension PhoneChange {
  /// Whether the center may look otherwise afterwards.
  var concernsCenter: Bool {
    switch self {
    case .received, .answered, .retracted, .read, .cleared, .restored, .apps: true
    case .passed, .renumbered, .presented, .pending, .answersSent, .answerTaken, .preferences, .settings, .place, .gap,
      .gapNoted:
      false
    }
  }
}

extension PhoneState {
  /// Lets `change` happen; what it can't be about any more changes nothing.
  mutating func apply(_ change: PhoneChange) {
    switch change {
    case .received(let push): receive(push)
    case .passed(let seq): lastSeq = max(lastSeq, seq)
    case .renumbered(let epoch):
      if epoch != self.epoch { lastSeq = 0 }
      (self.epoch, isRenumbered) = (epoch, true)
    case .presented(let ordinal):
      if let index = alerts.firstIndex(where: { $0.ordinal == ordinal }) { alerts[index].isPresented = true }
    case .answered(let ordinal, let isRead):
      alerts.removeAll { $0.ordinal == ordinal }
      if isRead { markRead([ordinal]) }
    case .pending(let answer):
      pendingAnswers.append(answer)
      if pendingAnswers.count > Self.maximumPendingAnswers { pendingAnswers.removeFirst() }
    case .answersSent: pendingAnswers = []
    case .answerTaken(let id): pendingAnswers.removeAll { $0.id == id }
    case .retracted(let id, let answer):
      alerts.removeAll { $0.id == id }
      for index in entries.indices where entries[index].push.id == id {
        entries[index].isRead = true
        if let answer { entries[index].answer = answer }
      }
    case .read(let ordinals): markRead(ordinals)
    case .cleared(let ordinals):
      let gone = Set(ordinals)
      entries.removeAll { gone.contains($0.ordinal) }
    case .restored(let restored):
      let known = Set(entries.map(\.ordinal))
      let all = (entries + restored.filter { !known.contains($0.ordinal) }).sorted { $0.ordinal < $1.ordinal }
      entries = Array(all.suffix(Self.maximumEntries))
    case .apps(let apps): install(apps)
    case .preferences(let preferences): self.preferences = preferences
    case .settings(let settings): self.settings = settings
    case .place(let place): self.place = place
    case .gap(let dropped):
      droppedCount = min(droppedCount + min(max(dropped, 0), Self.maximumDropped), Self.maximumDropped)
    case .gapNoted: droppedCount = 0
    }
  }

  /// The change that a push makes which a gateway has sent: none if it is here.
  func change(by push: DevicePush) -> PhoneChange? {
    guard push.seq == 0 || push.seq > lastSeq else { return nil }
    return isKnown(push) ? .passed(seq: push.seq) : .received(push)
  }

  /// Whether a push is here under the number of another numbering.
  private func isKnown(_ push: DevicePush) -> Bool {
    guard isRenumbered, push.seq > 0 else { return false }
    let key = PushKey(push)
    return entries.contains { $0.push.id == push.id && PushKey($0.push) == key }
  }

  private mutating func receive(_ push: DevicePush) {
    lastSeq = max(lastSeq, push.seq)
    let ordinal = nextOrdinal
    nextOrdinal += 1
    if push.topic != DevicePush.digestTopic { install(push.app, badge: push.presentation.badge) }
    guard !push.presentation.isEmpty else { return }
    let replaced = replacedOrdinals(by: push)
    if !replaced.isEmpty { entries.removeAll { replaced.contains($0.ordinal) } }
    entries.append(Entry(ordinal: ordinal, push: push))
    if entries.count > Self.maximumEntries { entries.removeFirst(entries.count - Self.maximumEntries) }
    if case .app(let topic, let selected?) = place.screen, replaced.contains(selected) {
      place.screen = .app(topic: topic, selected: ordinal)
    }
    queue(QueuedAlert(ordinal: ordinal, push: push), replacing: replaced)
  }

  /// The entries that `push` takes the place of: those of its app with the same collapse id.
  private func replacedOrdinals(by push: DevicePush) -> Set<Int> {
    guard !push.collapseID.isEmpty else { return [] }
    func isReplaced(_ other: DevicePush) -> Bool { other.collapseID == push.collapseID && other.topic == push.topic }
    return Set(
      entries.filter { isReplaced($0.push) }.map(\.ordinal) + alerts.filter { isReplaced($0.push) }.map(\.ordinal))
  }

  /// Puts an alert at the end of the queue, or where the one stood that it replaces.
  private mutating func queue(_ alert: QueuedAlert, replacing replaced: Set<Int>) {
    let place = alerts.firstIndex { replaced.contains($0.ordinal) }
    guard alert.push.presentation.alert != nil else {
      alerts.removeAll { replaced.contains($0.ordinal) }
      return
    }
    if let place {
      alerts[place] = alert
      alerts.removeAll { replaced.contains($0.ordinal) }
      return
    }
    alerts.append(alert)
    // The one on screen goes only when the person picks a button (A1), and who asks waits for an answer.
    if alerts.count > Self.maximumAlerts {
      alerts.remove(at: alerts.indices.dropFirst().first { !alerts[$0].standsAlone } ?? 1)
    }
  }

  private mutating func markRead(_ ordinals: [Int]) {
    for ordinal in ordinals {
      if let index = index(of: ordinal) { entries[index].isRead = true }
    }
  }

  private mutating func install(_ app: DeviceApp, badge: Int?) {
    let index = apps.firstIndex { $0.app.topic == app.topic } ?? apps.endIndex
    if index == apps.endIndex { apps.append(InstalledApp(app: app)) }
    apps[index].app = app
    if let badge { apps[index].badge = badge }
  }

  /// Replaces the registered apps; what is known of those that stay is kept.
  private mutating func install(_ registered: [DeviceApp]) {
    apps = registered.map { app in InstalledApp(app: app, badge: self.app(app.topic)?.badge ?? 0) }
    if case .app(let topic, _) = place.screen, app(topic) == nil { place.screen = .home }
  }
}
