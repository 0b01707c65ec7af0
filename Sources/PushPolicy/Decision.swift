/// One of the three things a notification can do (N1).
package enum Part: String, Sendable, Codable, CaseIterable {
  case badge, sound, alert
}

/// What policy lets through of one push for one person now, and the rule behind each removal (N7).
package struct Decision: Sendable, Equatable {
  /// What the device is to show, play and count.
  package var presentation = Presentation()
  /// What was asked for and removed, in the order badge, sound, alert.
  package var removed: [Removal] = []
  /// Whether an alert is presented that counts against the app's ``AlertQuota``.
  package var isAlertCounted = false

  package init() {}

  /// One part that a person's choice removed.
  package struct Removal: Sendable, Equatable, Codable {
    package var part: Part
    package var rule: Rule
    /// The setting that decided, as a path in the person's preferences, such as `apps/com.example.news/alert`.
    package var setting: String

    package init(part: Part, rule: Rule, setting: String) {
      self.part = part
      self.rule = rule
      self.setting = setting
    }

    /// Whether the person's choice removed it for good: what a circumstance removes of an alert is in the center, and may
    /// be shown later.
    package var isRefusal: Bool { [.n4, .n5, .n6, .a9].contains(rule) }

    /// The refusal for which nothing of a push can ever be shown; `nil` where something is, or may be later.
    ///
    /// - Parameter asked: what the push asked for.
    package static func refusalOfAll(_ asked: [Part], _ removed: [Decision.Removal]) -> Decision.Removal? {
      guard !asked.isEmpty, asked.allSatisfy({ part in removed.contains { $0.part == part } }) else { return nil }
      // Whether an alert is asked for decides: a sound that quiet hours keep back is gone, and the alert beside it is not.
      if asked.contains(.alert) { return removed.first { $0.part == .alert && $0.isRefusal } }
      return removed.allSatisfy(\.isRefusal) ? removed.first : nil
    }

    /// Whether the setting is about all notifications, of everything or of an app, and not about a part.
    package var isOfAllNotifications: Bool {
      setting == "notifications" || setting.hasPrefix("apps/") && setting.hasSuffix("/notifications")
    }
  }
}

/// What a device shows, plays and counts for one push. A part that is `nil` was not asked for or was removed.
package struct Presentation: Sendable, Equatable, Codable {
  /// The count for the app's icon; 0 clears it.
  package var badge: Int?
  package var sound: SoundPresentation?
  package var alert: AlertPresentation?
  /// What the notification center shows of an alert that may not interrupt; `nil` when the alert is shown, was not asked
  /// for, or was refused.
  package var center: AlertPresentation?
  /// Until when the push waits for a digest; `nil`: it does not.
  package var held: Deferral?
  /// The alerts an hour beyond which the alert is, if that is why it is in the center; `nil`: it is not.
  package var budget: Int?

  package init(
    badge: Int? = nil, sound: SoundPresentation? = nil, alert: AlertPresentation? = nil,
    center: AlertPresentation? = nil, held: Deferral? = nil, budget: Int? = nil
  ) {
    self.budget = budget
    self.badge = badge
    self.sound = sound
    self.alert = alert
    self.center = center
    self.held = held
  }

  /// The wire, where this is documented, has the old spelling of center.
  private enum CodingKeys: String, CodingKey {
    case badge, sound, alert
    case center = "centre"
    case held, budget
  }

  /// Whether nothing at all is presented.
  package var isEmpty: Bool { badge == nil && sound == nil && alert == nil && center == nil }
}

/// What a push waits for in the notification center.
package struct Deferral: Sendable, Equatable, Codable {
  package enum Reason: String, Sendable, Codable {
    /// The person's summary of that app.
    case summary
    /// The app's alert budget was used up when the device came back.
    case budget
  }

  package var by: Reason
  /// When the digest is due, in seconds since 1970; `nil`: when the device has caught up.
  package var until: Int64?
  /// The sender's `relevance-score`, by which a digest is ordered.
  package var relevance: Double

  package init(by: Reason, until: Int64? = nil, relevance: Double = 0) {
    self.by = by
    self.until = until
    self.relevance = relevance
  }
}

/// The sound that a device plays. On the wire it is the bare name (`"sound":"default"`).
package struct SoundPresentation: Sendable, Equatable {
  /// A bare file name; one that the device lacks plays the default sound (S1).
  package var name: String

  package init(name: String) {
    self.name = name
  }
}

/// The alert that a device shows: the app's name on top (which the device knows), these texts, these buttons.
package struct AlertPresentation: Sendable, Equatable, Codable {
  /// May be empty.
  package var title: String
  /// May be empty, as may `body`, but never all three.
  package var subtitle: String
  package var body: String
  /// One button that only dismisses, or two of which the left one only dismisses (A3, A4), by title.
  package var buttons: [String]
  /// What the alert's category offers, if it does: one action is one of the buttons, more are an action sheet (A6).
  package var actions: [AlertAction]?

  package init(title: String = "", subtitle: String = "", body: String = "", buttons: [String] = ["Close", "View"]) {
    self.title = title
    self.subtitle = subtitle
    self.body = body
    self.buttons = buttons
  }

  /// Offers the actions of a category, in place of View.
  ///
  /// The button for a single one stands on the right, and on the left when it is destructive (D1, D2).
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

/// One thing that a person can answer to an alert of a category.
package struct AlertAction: Sendable, Equatable, Codable {
  /// What the sender is told.
  package var id: String
  /// What the person reads.
  package var title: String
  /// Whether something is lost by it.
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
