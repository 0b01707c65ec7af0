/// One of the three parts of a notification (N1).
package enum Part: String, Sendable, Codable, CaseIterable {
  case badge, sound, alert
}

/// The parts of one push that the policy presents to one user, and the rule of each removal (N7).
package struct Decision: Sendable, Equatable {
  /// The data that the device shows, plays and counts.
  package var presentation = Presentation()
  /// The requested parts that were removed, in the order badge, sound, alert.
  package var removed: [Removal] = []
  /// True if an alert is presented that counts against the app's ``AlertQuota``.
  package var isAlertCounted = false

  package init() {}

  /// One part that a preference of the user removed.
  package struct Removal: Sendable, Equatable, Codable {
    package var part: Part
    package var rule: Rule
    /// The setting that decided, as a path in the user's preferences, such as `apps/com.example.news/alert`.
    package var setting: String

    package init(part: Part, rule: Rule, setting: String) {
      self.part = part
      self.rule = rule
      self.setting = setting
    }

    /// True if a preference of the user removed the part permanently. An alert that a condition removed is in the
    /// notification center, and may be shown later.
    package var isRefusal: Bool { [.n4, .n5, .n6, .a9, .n9].contains(rule) }

    /// Returns the refusal because of which no part of a push can ever be shown; `nil` if a part is shown, or may be
    /// later.
    ///
    /// - Parameter asked: the parts that the push requested.
    package static func refusalOfAll(_ asked: [Part], _ removed: [Decision.Removal]) -> Decision.Removal? {
      guard !asked.isEmpty, asked.allSatisfy({ part in removed.contains { $0.part == part } }) else { return nil }
      // A requested alert decides: a sound that quiet hours suppress is lost, but the alert of the same push is not.
      if asked.contains(.alert) { return removed.first { $0.part == .alert && $0.isRefusal } }
      return removed.allSatisfy(\.isRefusal) ? removed.first : nil
    }

    /// True if the setting is for all notifications, of all apps or of one app, and not for a single part.
    package var isOfAllNotifications: Bool {
      setting == "notifications" || setting.hasPrefix("apps/") && setting.hasSuffix("/notifications")
    }
  }
}

/// The data that a device shows, plays and counts for one push. A part is `nil` if it was not requested or was
/// removed.
package struct Presentation: Sendable, Equatable, Codable {
  /// The count on the app's icon; 0 clears it.
  package var badge: Int?
  /// The file name of the sound, without a folder. A device that lacks this file plays its default sound (S1).
  package var sound: String?
  package var alert: AlertPresentation?
  /// The entry in the notification center for an alert that may not interrupt; `nil` if the alert is shown, was not
  /// requested, or was refused.
  package var center: AlertPresentation?
  /// The summary to which the push is deferred; `nil` if it is not deferred.
  package var held: Deferral?
  /// The maximum number of alerts an hour, if the alert is in the notification center because it exceeds it; else
  /// `nil`.
  package var budget: Int?
  /// The category, if the alert is in the notification center because the category is new: the user has to choose.
  package var newCategory: String?

  package init(
    badge: Int? = nil, sound: String? = nil, alert: AlertPresentation? = nil,
    center: AlertPresentation? = nil, held: Deferral? = nil, budget: Int? = nil
  ) {
    self.budget = budget
    self.badge = badge
    self.sound = sound
    self.alert = alert
    self.center = center
    self.held = held
  }

  /// On the wire, where this format is documented, the key of `center` has the old spelling.
  private enum CodingKeys: String, CodingKey {
    case badge, sound, alert
    case center = "centre"
    case held, budget
    case newCategory = "new_category"
  }

  /// True if nothing is presented.
  package var isEmpty: Bool { badge == nil && sound == nil && alert == nil && center == nil }
}

/// The reason and the time for which a push is deferred in the notification center.
package struct Deferral: Sendable, Equatable, Codable {
  package enum Reason: String, Sendable, Codable {
    /// The user's preference to get this app's pushes in a summary.
    case summary
    /// The app's alert budget was used up when the device reconnected.
    case budget
  }

  package var by: Reason
  /// The due time of the summary, in seconds since 1970; `nil` for the time at which the device has caught up.
  package var until: Int64?
  /// The sender's `relevance-score`, by which a summary is ordered.
  package var relevance: Double

  package init(by: Reason, until: Int64? = nil, relevance: Double = 0) {
    self.by = by
    self.until = until
    self.relevance = relevance
  }
}

/// The texts and buttons of the alert that a device shows, below the name of the app, which is stored on the device.
package struct AlertPresentation: Sendable, Equatable, Codable {
  /// The title, which may be empty.
  package var title: String
  /// The subtitle, which may be empty, as may `body`. At least one of the three texts is not empty.
  package var subtitle: String
  package var body: String
  /// The titles of the buttons: one that only dismisses, or two, of which the left one only dismisses (A3, A4).
  package var buttons: [String]
  /// The actions of the alert's category, if any: a single action is one of the buttons, several are an action sheet
  /// (A6).
  package var actions: [AlertAction]?

  package init(title: String = "", subtitle: String = "", body: String = "", buttons: [String] = ["Close", "View"]) {
    self.title = title
    self.subtitle = subtitle
    self.body = body
    self.buttons = buttons
  }

  /// Offers the actions of a category in place of View.
  ///
  /// The button of a single action is on the right, and on the left if the action is destructive (D1, D2).
  package mutating func offer(_ actions: [AlertAction]) {
    guard let first = actions.first else { return }
    self.actions = actions
    if actions.count > 1 {
      buttons = ["Close", "Options"]
    } else {
      buttons = first.isDestructive ? [first.title, "Close"] : ["Close", first.title]
    }
  }
}

/// One possible answer of a user to an alert of a category.
package struct AlertAction: Sendable, Equatable, Codable {
  /// The identifier that is sent to the sender.
  package var id: String
  /// The title that the user reads.
  package var title: String
  /// True if the user loses something by the action, such as data.
  package var isDestructive: Bool

  package init(id: String, title: String, isDestructive: Bool = false) {
    self.id = id
    self.title = title
    self.isDestructive = isDestructive
  }

  enum CodingKeys: String, CodingKey {
    case id, title
    case isDestructive = "destructive"
  }
}
