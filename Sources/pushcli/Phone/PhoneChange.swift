import GatewayProtocol
import PushPolicy

/// One change of the persistent state of the phone.
enum PhoneChange: Sendable, Equatable {
  /// A push arrived, with its app, badge, entry and alert.
  case received(DevicePush)
  /// A known push arrived again under another number.
  case passed(seq: UInt64)
  /// The gateway began a new numbering of pushes.
  case renumbered(NumberingEpoch?)
  /// The alert on screen was seen; the gateway receives a report.
  case presented(ordinal: Int)
  /// The user answered an alert on this device. `isRead` is false for alerts that were closed together.
  case answered(ordinal: Int, isRead: Bool = true)
  /// The user snoozed an alert, or an entry of the center, until a time in seconds since 1970.
  case snoozed(ordinal: Int, until: Int)
  /// A snoozed alert is shown again.
  case woken(ordinal: Int)
  /// An answer is pending until the gateway has it.
  case pending(PhoneState.PendingAnswer)
  /// The pending answers were sent to the gateway. Only journals of earlier versions contain this change.
  case answersSent
  /// The gateway has an answer to the push.
  case answerTaken(id: String)
  /// A push was retracted or answered on another device.
  case retracted(id: String, answer: GivenAnswer? = nil)
  case read([Int])
  case cleared([Int])
  /// Cleared entries are restored unchanged.
  case restored([PhoneState.Entry])
  case apps([DeviceApp])
  case preferences(Preferences)
  case settings(DeviceSettings)
  case place(PhoneState.Place)
  case gap(dropped: Int)
  case gapNoted

  /// True if the change may affect the rows of the center.
  var concernsCenter: Bool {
    switch self {
    case .received, .answered, .retracted, .read, .cleared, .restored, .apps: true
    case .passed, .renumbered, .presented, .snoozed, .woken, .pending, .answersSent, .answerTaken, .preferences,
      .settings, .place, .gap, .gapNoted:
      false
    }
  }
}

extension PhoneState {
  /// Applies `change`. A change of something that no longer exists has no effect.
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
      snoozed.removeAll { $0.alert.ordinal == ordinal }
      if isRead { markRead([ordinal]) }
    case .snoozed(let ordinal, let until): snooze(ordinal, until: until)
    case .woken(let ordinal):
      guard let alert = snoozed.first(where: { $0.alert.ordinal == ordinal })?.alert else { return }
      snoozed.removeAll { $0.alert.ordinal == ordinal }
      append(alert)
    case .pending(let answer):
      pendingAnswers.append(answer)
      if pendingAnswers.count > Self.maximumPendingAnswers { pendingAnswers.removeFirst() }
    case .answersSent: pendingAnswers = []
    case .answerTaken(let id): pendingAnswers.removeAll { $0.id == id }
    case .retracted(let id, let answer):
      alerts.removeAll { $0.id == id }
      snoozed.removeAll { $0.alert.id == id }
      for index in entries.indices where entries[index].push.id == id {
        entries[index].isRead = true
        if let answer { entries[index].answer = answer }
      }
    case .read(let ordinals): markRead(ordinals)
    case .cleared(let ordinals):
      let gone = Set(ordinals)
      entries.removeAll { gone.contains($0.ordinal) }
      snoozed.removeAll { gone.contains($0.alert.ordinal) }
    case .restored(let restored): for entry in restored { restore(entry) }
    case .apps(let apps): install(apps)
    case .preferences(let preferences): self.preferences = preferences
    case .settings(let settings): self.settings = settings
    case .place(let place): self.place = place
    case .gap(let dropped):
      droppedCount = min(droppedCount + min(max(dropped, 0), Self.maximumDropped), Self.maximumDropped)
    case .gapNoted: droppedCount = 0
    }
  }

  /// Returns the change for a push from the gateway; nil if the push is already known by its number.
  func change(by push: DevicePush) -> PhoneChange? {
    guard push.seq == 0 || push.seq > lastSeq else { return nil }
    return isKnown(push) ? .passed(seq: push.seq) : .received(push)
  }

  /// Returns true if the push was received before, under a number of an earlier numbering.
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
    if !replaced.isEmpty {
      entries.removeAll { replaced.contains($0.ordinal) }
      snoozed.removeAll { replaced.contains($0.alert.ordinal) }
    }
    entries.append(Entry(ordinal: ordinal, push: push))
    if entries.count > Self.maximumEntries { entries.removeFirst(entries.count - Self.maximumEntries) }
    if case .app(let topic, let selected?) = place.screen, replaced.contains(selected) {
      place.screen = .app(topic: topic, selected: ordinal)
    }
    queue(QueuedAlert(ordinal: ordinal, push: push), replacing: replaced)
  }

  /// Returns the ordinals that `push` replaces: the entries and alerts of its app with the same collapse ID.
  private func replacedOrdinals(by push: DevicePush) -> Set<Int> {
    guard !push.collapseID.isEmpty else { return [] }
    func isReplaced(_ other: DevicePush) -> Bool { other.collapseID == push.collapseID && other.topic == push.topic }
    return Set(
      entries.filter { isReplaced($0.push) }.map(\.ordinal) + alerts.filter { isReplaced($0.push) }.map(\.ordinal))
  }

  /// Appends an alert to the queue, or puts it at the position of the alert that it replaces.
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
    append(alert)
  }

  /// Removes an alert from the queue until a time. An entry without a queued alert gets one at that time.
  private mutating func snooze(_ ordinal: Int, until: Int) {
    let entry = index(of: ordinal).map { entries[$0] }
    guard let push = alerts.first(where: { $0.ordinal == ordinal })?.push ?? entry?.push else { return }
    alerts.removeAll { $0.ordinal == ordinal }
    snoozed.removeAll { $0.alert.ordinal == ordinal }
    snoozed.append(SnoozedAlert(alert: QueuedAlert(ordinal: ordinal, push: push), until: until))
    if snoozed.count > Self.maximumSnoozed { snoozed.removeFirst() }
  }

  private mutating func append(_ alert: QueuedAlert) {
    alerts.append(alert)
    // The alert on screen stays until the user presses a button (A1). Alerts that stand alone stay too, as far as
    // possible.
    if alerts.count > Self.maximumAlerts {
      alerts.remove(at: alerts.indices.dropFirst().first { !alerts[$0].standsAlone } ?? 1)
    }
  }

  /// Inserts an entry in the order of the ordinals, unless it is there. A journal has a line for each restored entry, so
  /// that thousands of them follow one another.
  private mutating func restore(_ entry: Entry) {
    guard index(of: entry.ordinal) == nil else { return }
    entries.insert(entry, at: lowerBound(of: entry.ordinal))
    if entries.count > Self.maximumEntries { entries.removeFirst() }
  }

  private mutating func markRead(_ ordinals: [Int]) {
    for ordinal in ordinals {
      if let index = index(of: ordinal) { entries[index].isRead = true }
    }
  }

  private mutating func install(_ app: DeviceApp, badge: Int?) {
    let index = apps.firstIndex { $0.app.topic == app.topic } ?? apps.endIndex
    if index == apps.endIndex { apps.append(InstalledApp(app: app)) }
    let standing = apps[index].app.standing
    apps[index].app = app
    // A push does not have the standing of its app.
    apps[index].app.standing = app.standing ?? standing
    if let badge { apps[index].badge = badge }
  }

  /// Replaces the registered apps; the badges of apps that stay registered are kept.
  private mutating func install(_ registered: [DeviceApp]) {
    apps = registered.map { app in InstalledApp(app: app, badge: self.app(app.topic)?.badge ?? 0) }
    if case .app(let topic, _) = place.screen, app(topic) == nil { place.screen = .home }
  }
}
