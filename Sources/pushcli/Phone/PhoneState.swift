import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

/// What the phone must not forget (L2): everything that ``PhoneChange`` can change, and nothing else.
struct PhoneState: Sendable, Equatable {
  /// How many pushes the center keeps; beyond it the oldest go.
  static let maximumEntries = 5_000
  /// How many alerts wait at most. Beyond that the oldest one that is not on screen stays unread in the center.
  static let maximumAlerts = 200
  /// How many answers wait for the gateway at most.
  static let maximumPendingAnswers = 1_000
  /// The most dropped pushes that are told; more are told as this many.
  static let maximumDropped = 1_000_000_000

  /// In the order of the home screen.
  var apps: [InstalledApp] = []
  /// What arrived, oldest first, by ascending ordinal.
  var entries: [Entry] = []
  /// Oldest first; the first one is on screen.
  var alerts: [QueuedAlert] = []
  /// The highest `seq` received; everything up to it is known.
  var lastSeq: UInt64 = 0
  /// The numbering that it belongs to.
  var epoch: NumberingEpoch?
  /// Whether there was another numbering before: what is here may come once more, with another number.
  var isRenumbered = false
  /// The ordinal of the next push.
  var nextOrdinal = 1
  /// What the person answered, until the gateway has it.
  var pendingAnswers: [PendingAnswer] = []
  /// Pushes that the gateway dropped, until the person has taken note.
  var droppedCount = 0
  /// The person's choices, as the gateway last told them.
  var preferences = Preferences()
  /// The choices that belong to this device.
  var settings = DeviceSettings()
  var place = Place()

  /// A push in the center. Small, since there are thousands: what it holds is shared.
  struct Entry: Sendable, Equatable {
    /// Counts what arrives here; names the entry.
    var ordinal: Int
    var isRead: Bool
    private let contents: Contents

    private final class Contents: Sendable {
      let push: DevicePush
      let isAlert: Bool

      init(_ push: DevicePush) {
        self.push = push
        isAlert = push.presentation.listed != nil
      }
    }

    init(ordinal: Int, push: DevicePush, isRead: Bool = false) {
      (self.ordinal, self.isRead) = (ordinal, isRead)
      contents = Contents(push)
    }

    var push: DevicePush { _read { yield contents.push } }
    /// Whether it has texts, which the center shows.
    var isAlert: Bool { contents.isAlert }

    static func == (left: Entry, right: Entry) -> Bool {
      left.ordinal == right.ordinal && left.isRead == right.isRead && left.push == right.push
    }
  }

  /// An answer that the gateway does not know yet.
  struct PendingAnswer: Sendable, Equatable {
    /// The push's id.
    var id: String
    var action: String
  }

  /// Where the person is.
  struct Place: Sendable, Equatable {
    var screen = Screen.home
    /// The topic of the app that is selected on the home screen; `nil` selects the first.
    var selectedTopic: String?
  }

  /// What the person looks at, beneath anything modal.
  enum Screen: Sendable, Equatable {
    case home, center
    /// The pushes of the app with this topic; `selected` is the chosen one's ordinal, `nil` the newest.
    case app(topic: String, selected: Int?)
  }

  /// The app with `topic`.
  func app(_ topic: String) -> InstalledApp? { apps.first { $0.app.topic == topic } }

  /// The place of an entry in ``entries``.
  func index(of ordinal: Int) -> Int? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].ordinal < ordinal { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].ordinal == ordinal ? low : nil
  }

  /// The entries of an app, newest first.
  func entries(of topic: String) -> [Entry] { entries.reversed().filter { $0.push.app.topic == topic } }

  /// Alerts in the center that the person has not read.
  var unreadCount: Int { entries.count { !$0.isRead && $0.isAlert } }
}

/// An app on the home screen.
struct InstalledApp: Sendable, Equatable {
  var app: DeviceApp
  /// The count on the icon; 0 shows none (B2).
  var badge = 0
}

/// An alert that waits for the person or is on screen.
struct QueuedAlert: Sendable, Equatable {
  /// The entry that it belongs to.
  var ordinal: Int
  var push: DevicePush
  /// Whether it was on screen and the gateway knows.
  var isPresented: Bool
  /// Whether it is asked by itself, however many wait: a question, or what its sender calls urgent.
  let standsAlone: Bool

  init(ordinal: Int, push: DevicePush, isPresented: Bool = false) {
    (self.ordinal, self.push, self.isPresented) = (ordinal, push, isPresented)
    standsAlone = !(push.presentation.alert?.actions ?? []).isEmpty || push.level >= .timeSensitive
  }

  var id: String { push.id }
  var alert: AlertPresentation { push.presentation.alert ?? AlertPresentation(buttons: ["OK"]) }
  var choices: [AlertChoice] { alert.choices }
}

/// The choices that belong to a device, not to its person.
struct DeviceSettings: Sendable, Equatable {
  /// The ring/silent switch (S4).
  var isSilent = false
  /// From 0 to 100 (S5).
  var volume = 100
  /// When an alert is told outside of this screen as well.
  var notices = Notices.unfocused
  /// The Focus that is on; empty for none.
  var focus = ""
  /// Light or dark whatever the terminal says; nil: as it says.
  var appearance: Appearance?
  /// Whether clicks and the wheel come here, or stay with the terminal, which selects text with them.
  var usesMouse = true

  func with(focus: String) -> DeviceSettings {
    var settings = self
    settings.focus = focus
    return settings
  }

  enum Notices: String, Sendable, CaseIterable { case off, unfocused, always }
}

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
  /// A push is over elsewhere.
  case retracted(id: String)
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
    case .retracted(let id):
      alerts.removeAll { $0.id == id }
      for index in entries.indices where entries[index].push.id == id { entries[index].isRead = true }
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

  /// Whether a push is here under the number of another numbering: two of one id were not received at one time.
  func isKnown(_ push: DevicePush) -> Bool {
    isRenumbered && push.seq > 0
      && entries.contains {
        $0.push.id == push.id && $0.push.topic == push.topic && $0.push.received == push.received
      }
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
