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
    /// The answer of another person or device that has taken its alert away.
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
    /// Whether it has texts, which the center shows.
    var isAlert: Bool { contents.isAlert }

    static func == (left: Entry, right: Entry) -> Bool {
      left.ordinal == right.ordinal && left.isRead == right.isRead && left.answer == right.answer
        && left.push == right.push
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
