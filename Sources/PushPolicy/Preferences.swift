/// A person's choices: what may reach them, for everything, per app, and per category of an app.
///
/// The defaults suit most people with no set-up (N8): everything is allowed until the person says otherwise, and of alerts
/// ``AlertBudget/standardCount`` an hour of each app.
///
/// These are what the policy reads. A choice is a stored property, whose initial value is its default, and a row of
/// ``Preference/all``, from which everything else follows.
package struct Preferences: Sendable, Equatable {
  /// The one switch for everything (N4).
  package var notifications = true
  /// What any app may use; off here is off everywhere.
  package var parts = PartSwitches()
  /// The choices per app, by topic. An app that is not listed has the defaults.
  package var apps: [String: AppPreferences] = [:]
  /// When nothing is to be seen or heard but what waits silently; empty: never.
  package var quietHours: [QuietWindow] = []
  /// The apps that each Focus lets through, by its name. A Focus that is not listed lets none through.
  package var focuses: [String: Set<String>] = [:]
  /// When what is held for the summary arrives; by default at 08:00 and 18:00.
  package var summary = SummaryTimes()
  /// Who finds a push by its text in the delivery log.
  package var logText = LogText.devices

  package init() {}
}

/// Whether the delivery log keeps the texts of a person's pushes, and who finds pushes by them.
package enum LogText: String, Sendable, Codable, CaseIterable {
  /// They are not kept.
  case off
  /// The person's own devices.
  case devices
  /// Senders who may read the log as well.
  case senders
}

/// On or off for each of the three parts of a notification (N5).
package struct PartSwitches: Sendable, Equatable {
  package var badge = true
  package var sound = true
  package var alert = true

  package init() {}

  /// The switch of `part`.
  package subscript(part: Part) -> Bool {
    get {
      switch part {
      case .badge: badge
      case .sound: sound
      case .alert: alert
      }
    }
    set {
      switch part {
      case .badge: badge = newValue
      case .sound: sound = newValue
      case .alert: alert = newValue
      }
    }
  }
}

/// A person's choices for one app (N5), and for its categories (N6).
package struct AppPreferences: Sendable, Equatable {
  /// Whether the app may notify at all.
  package var notifications = true
  /// Which of the three parts the app may use.
  package var parts = PartSwitches()
  /// The choices per category. A category that is not listed inherits all three from the app.
  package var categories: [String: CategoryPreferences] = [:]
  /// Whether its alerts may advertise (A9).
  package var advertising = false
  /// Whether its time-sensitive pushes break through quiet hours and Focus.
  package var timeSensitive = false
  /// Whether its critical pushes break through everything, the silent switch too (S4).
  package var critical = false
  /// Alerts an hour, beyond which its pushes only reach badge and notification center (A8).
  package var alertBudget = AlertBudget.standard
  /// Whether its pushes interrupt now or are held for the summary.
  package var delivery = Delivery.now
  /// Whether it is on probation: quiet until the person keeps it or turns it off.
  package var provisional = false

  package init() {}
}

/// When an app's pushes interrupt.
package enum Delivery: String, Sendable, Codable {
  case now, summary
}

/// A person's choices for one category of an app; `nil` inherits from the app (N6).
package struct CategoryPreferences: Sendable, Equatable {
  package var badge: Bool?
  package var sound: Bool?
  package var alert: Bool?

  package init() {}

  /// The choice for `part`.
  package subscript(part: Part) -> Bool? {
    get {
      switch part {
      case .badge: badge
      case .sound: sound
      case .alert: alert
      }
    }
    set {
      switch part {
      case .badge: badge = newValue
      case .sound: sound = newValue
      case .alert: alert = newValue
      }
    }
  }
}

extension Preferences {
  /// The most windows of quiet hours that a person may have.
  static let maximumWindows = 32
  /// The most Focuses that a person may have.
  static let maximumFocuses = 32
  /// Names of Focuses that are offered to everybody.
  static let usualFocuses = ["sleep", "work"]

  /// Letters, digits, hyphens, underscores and spaces, 1 to 64 bytes.
  static func isFocusName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == " " }
  }

  /// Letters, digits, hyphens, underscores and dots of ASCII, 1 to 255 bytes: what an app's topic may be.
  static func isTopic(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "." || $0 == "-" || $0 == "_" }
  }
}

extension AppPreferences {
  /// The most alerts an hour that a budget may say.
  static let maximumBudget = 10_000
}
