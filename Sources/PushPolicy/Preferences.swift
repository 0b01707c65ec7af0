/// The preferences of a user for notifications: for all apps, for each app, and for each category of an app.
///
/// The defaults suit most users without any setup (N8): everything is allowed until the user changes it, with
/// ``AlertBudget/standardCount`` alerts an hour for each app.
///
/// The policy reads this type. A preference is a stored property, whose initial value is its default, and a row of
/// ``Preference/all``, which determines everything else.
package struct Preferences: Sendable, Equatable {
  /// The switch for all notifications (N4).
  package var notifications = true
  /// The switches of the parts for all apps; a part that is off here is off for every app.
  package var parts = PartSwitches()
  /// The preferences for each app, by topic. An app without an entry has the defaults.
  package var apps: [String: AppPreferences] = [:]
  /// The windows of quiet hours, in which pushes show no alerts and play no sounds; empty for none.
  package var quietHours: [QuietWindow] = []
  /// The topics of the apps that each Focus lets through, by its name. A Focus without an entry lets none through.
  package var focuses: [String: Set<String>] = [:]
  /// The times of the summary; by default 08:00 and 18:00.
  package var summary = SummaryTimes()
  /// The readers of the delivery log who find a push by its text.
  package var logText = LogText.devices
  /// True if apps without a preference of their own may show marketing (N9).
  package var marketing = false

  package init() {}
}

/// The storage of the texts of a user's pushes in the delivery log, and the readers who find pushes by them.
package enum LogText: String, Sendable, Codable, CaseIterable {
  /// The texts are not stored.
  case off
  /// The user's own devices.
  case devices
  /// The user's own devices, and senders who may read the log.
  case senders
}

/// A switch for each of the three parts of a notification (N5).
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

/// The preferences of a user for one app (N5), and for its categories (N6).
package struct AppPreferences: Sendable, Equatable {
  /// True if the app may notify at all.
  package var notifications = true
  /// The parts that the app may use.
  package var parts = PartSwitches()
  /// The preferences for each category. A category without an entry inherits all three parts from the app.
  package var categories: [String: CategoryPreferences] = [:]
  /// True if the app's alerts may advertise (A9).
  package var advertising = false
  /// True if the app may show marketing, false if the user has unsubscribed from it; nil inherits from everything (N9).
  package var marketing: Bool?
  /// True if the app's time-sensitive pushes break through quiet hours and Focus.
  package var timeSensitive = false
  /// True if the app's critical pushes break through everything, including the silent switch (S4).
  package var critical = false
  /// The maximum number of alerts an hour; further pushes only set the badge and go to the notification center (A8).
  package var alertBudget = AlertBudget.standard
  /// The delivery of the app's pushes: immediate, or deferred to the summary.
  package var delivery = Delivery.now
  /// True while the app is on probation: quiet until the user keeps it or turns it off.
  package var provisional = false

  package init() {}
}

/// The time at which an app's pushes interrupt.
package enum Delivery: String, Sendable, Codable {
  case now, summary
}

/// The preferences of a user for one category of an app; `nil` inherits from the app (N6).
package struct CategoryPreferences: Sendable, Equatable {
  package var badge: Bool?
  package var sound: Bool?
  package var alert: Bool?
  /// The permission that the user has given to a new category; nil: none yet (N10).
  package var permission: CategoryPermission?

  package init() {}

  /// The value for `part`.
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

/// The permission of a category that was new (N10).
package enum CategoryPermission: String, Sendable, Codable, CaseIterable {
  /// Its pushes may interrupt.
  case show
  /// Its pushes are in the notification center only.
  case quiet
  /// Its pushes show nothing.
  case off
}

extension CategoryPreferences {
  /// True if the user has not decided, and has not allowed the category an alert or a sound. A part that is turned off does
  /// not permit the others.
  package var isNew: Bool { permission == nil && alert != true && sound != true }
}

extension Preferences {
  /// The maximum number of a user's windows of quiet hours.
  static let maximumWindows = 32
  /// The maximum number of a user's Focuses.
  static let maximumFocuses = 32
  /// The names of Focuses that are offered to all users.
  static let usualFocuses = ["sleep", "work"]

  /// Returns true for 1 to 64 bytes of letters, digits, hyphens, underscores and spaces.
  static func isFocusName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == " " }
  }

  /// Returns true for 1 to 255 bytes of ASCII letters, digits, hyphens, underscores and dots, the characters of a
  /// topic.
  static func isTopic(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "." || $0 == "-" || $0 == "_" }
  }
}

extension AppPreferences {
  /// The maximum of an alert budget, in alerts an hour.
  static let maximumBudget = 10_000
}
