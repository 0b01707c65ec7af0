import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

/// The persistent state of the phone (L2): exactly the values that ``PhoneChange`` can change.
struct PhoneState: Sendable, Equatable {
  /// The maximum number of pushes in the center; beyond it the oldest are removed. The device in a browser has the same
  /// limits (`limits` in `state.js`).
  static let maximumEntries = 10_000
  /// The maximum number of queued alerts. Beyond it, the oldest one that is not on screen remains only as an unread
  /// entry.
  static let maximumAlerts = 200
  /// The maximum number of answers that are pending for the gateway.
  static let maximumPendingAnswers = 1_000
  /// The maximum number of snoozed alerts. Beyond it, the earliest remains only as an entry.
  static let maximumSnoozed = 200
  /// The maximum reported number of dropped pushes; higher numbers are reduced to it.
  static let maximumDropped = 1_000_000_000

  /// The apps in the order of the home screen.
  var apps: [InstalledApp] = []
  /// The received pushes by ascending ordinal, oldest first.
  var entries: [Entry] = []
  /// The queued alerts, oldest first; the first one is on screen.
  var alerts: [QueuedAlert] = []
  /// The alerts that are shown again at a later time, in the order in which they were snoozed.
  var snoozed: [SnoozedAlert] = []
  /// The highest received `seq`; all pushes up to it are known.
  var lastSeq: UInt64 = 0
  /// The numbering that ``lastSeq`` belongs to.
  var epoch: NumberingEpoch?
  /// True if the numbering has changed: known pushes may arrive again under other numbers.
  var isRenumbered = false
  /// The ordinal of the next push.
  var nextOrdinal = 1
  /// The answers of the user that the gateway has not confirmed.
  var pendingAnswers: [PendingAnswer] = []
  /// The number of pushes that the gateway dropped, until the user acknowledges it.
  var droppedCount = 0
  /// The user's preferences, as last received from the gateway.
  var preferences = Preferences()
  var settings = DeviceSettings()
  var place = Place()

  /// A push in the center. The value is small and its contents are shared, because there are thousands of entries.
  struct Entry: Sendable, Equatable {
    /// The number of the push in the order of arrival on this device; identifies the entry.
    var ordinal: Int
    var isRead: Bool
    /// The answer of another user or device that closed its alert.
    var answer: GivenAnswer?
    private let contents: Contents

    private final class Contents: Sendable {
      let push: DevicePush
      let isAlert: Bool

      init(_ push: DevicePush) {
        self.push = push
        isAlert = push.presentation.listed != nil
      }
    }

    init(ordinal: Int, push: DevicePush, isRead: Bool = false, answer: GivenAnswer? = nil) {
      (self.ordinal, self.isRead, self.answer) = (ordinal, isRead, answer)
      contents = Contents(push)
    }

    var push: DevicePush { _read { yield contents.push } }
    /// True if the push has texts, which the center shows.
    var isAlert: Bool { contents.isAlert }

    static func == (left: Entry, right: Entry) -> Bool {
      left.ordinal == right.ordinal && left.isRead == right.isRead && left.answer == right.answer
        && left.push == right.push
    }
  }

  /// An answer that the gateway has not confirmed.
  struct PendingAnswer: Sendable, Equatable {
    /// The ID of the push.
    var id: String
    var action: String
  }

  /// The current screen and the selection on the home screen.
  struct Place: Sendable, Equatable {
    var screen = Screen.home
    /// The topic of the app that is selected on the home screen; `nil` selects the first app.
    var selectedTopic: String?
  }

  /// The current screen below modal views.
  enum Screen: Sendable, Equatable {
    case home, center
    /// The pushes of the app with this topic; `selected` is the ordinal of the selected push, `nil` selects the
    /// newest.
    case app(topic: String, selected: Int?)
  }

  func app(_ topic: String) -> InstalledApp? { apps.first { $0.app.topic == topic } }

  /// Returns the index of an entry in ``entries``.
  func index(of ordinal: Int) -> Int? {
    let index = lowerBound(of: ordinal)
    return index < entries.count && entries[index].ordinal == ordinal ? index : nil
  }

  /// Returns the index of the first entry with this ordinal or a higher one.
  func lowerBound(of ordinal: Int) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].ordinal < ordinal { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the entries of an app, newest first.
  func entries(of topic: String) -> [Entry] { entries.reversed().filter { $0.push.app.topic == topic } }

  /// The number of unread entries with texts.
  var unreadCount: Int { entries.count { !$0.isRead && $0.isAlert } }
}

/// An app on the home screen.
struct InstalledApp: Sendable, Equatable {
  var app: DeviceApp
  /// The number on the icon; 0 shows no badge (B2).
  var badge = 0
}

/// An alert that is queued or on screen.
struct QueuedAlert: Sendable, Equatable {
  /// The ordinal of its entry.
  var ordinal: Int
  var push: DevicePush
  /// True if the alert was on screen and the gateway has been notified.
  var isPresented: Bool
  /// True if the alert is always shown alone: a question, or an alert with the level time-sensitive or critical.
  let standsAlone: Bool

  init(ordinal: Int, push: DevicePush, isPresented: Bool = false) {
    (self.ordinal, self.push, self.isPresented) = (ordinal, push, isPresented)
    standsAlone = !(push.presentation.alert?.actions ?? []).isEmpty || push.level >= .timeSensitive
  }

  var id: String { push.id }
  var alert: AlertPresentation { push.presentation.listed ?? AlertPresentation(buttons: ["OK"]) }
  var choices: [AlertAction] { alert.choices }
}

/// An alert that is shown again at a later time.
struct SnoozedAlert: Sendable, Equatable {
  var alert: QueuedAlert
  /// The time from which it is shown again, in seconds since 1970.
  var until: Int
}

/// The settings of a device, independent of its user's preferences.
struct DeviceSettings: Sendable, Equatable {
  /// True if the ring/silent switch is set to silent (S4).
  var isSilent = false
  /// The volume from 0 to 100 (S5).
  var volume = 100
  /// The condition under which alerts are also shown outside of this screen.
  var notices = Notices.unfocused
  /// The active Focus; empty for none.
  var focus = ""
  /// The appearance that replaces the terminal's; nil uses the terminal's.
  var appearance: Appearance?
  /// True if clicks and the wheel control the phone; otherwise the terminal selects text with them.
  var usesMouse = true

  func with(focus: String) -> DeviceSettings {
    var settings = self
    settings.focus = focus
    return settings
  }

  enum Notices: String, Sendable, CaseIterable { case off, unfocused, always }
}
