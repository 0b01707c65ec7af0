/// One of the three things a notification can do (N1).
public enum Part: String, Sendable, Codable, CaseIterable {
  case badge, sound, alert
}

/// What policy lets through of one push for one person now, and the rule behind each removal (N7).
public struct Decision: Sendable, Equatable {
  /// What the device is to show, play and count.
  public var presentation = Presentation()
  /// What was asked for and removed, in the order badge, sound, alert.
  public var removed: [Removal] = []

  public init() {}

  /// One part that a person's choice removed.
  public struct Removal: Sendable, Equatable, Codable {
    public var part: Part
    public var rule: Rule
    /// The setting that decided, as a path in the person's preferences, such as `apps/com.example.news/alert`.
    public var setting: String

    public init(part: Part, rule: Rule, setting: String) {
      self.part = part
      self.rule = rule
      self.setting = setting
    }

    /// Whether the setting is about all notifications, of everything or of an app, and not about a part.
    public var isOfAllNotifications: Bool {
      setting == "notifications" || setting.hasPrefix("apps/") && setting.hasSuffix("/notifications")
    }
  }
}

/// What a device shows, plays and counts for one push. A part that is `nil` was not asked for or was removed.
public struct Presentation: Sendable, Equatable, Codable {
  /// The count for the app's icon; 0 clears it.
  public var badge: Int?
  public var sound: SoundPresentation?
  public var alert: AlertPresentation?
  /// What the notification centre shows of an alert that may not interrupt; `nil` when the alert is shown, was not asked
  /// for, or was refused.
  public var centre: AlertPresentation?
  /// Until when the push waits for a digest; `nil`: it does not.
  public var held: Hold?

  public init(
    badge: Int? = nil, sound: SoundPresentation? = nil, alert: AlertPresentation? = nil,
    centre: AlertPresentation? = nil, held: Hold? = nil
  ) {
    self.badge = badge
    self.sound = sound
    self.alert = alert
    self.centre = centre
    self.held = held
  }

  /// Whether nothing at all is presented.
  public var isEmpty: Bool { badge == nil && sound == nil && alert == nil && centre == nil }
}

/// What a push waits for in the notification centre.
public struct Hold: Sendable, Equatable, Codable {
  public enum Reason: String, Sendable, Codable {
    /// The person's summary of that app.
    case summary
    /// The app's alert budget was used up when the device came back.
    case budget
  }

  public var by: Reason
  /// When the digest is due, in seconds since 1970; `nil`: when the device has caught up.
  public var until: Int64?
  /// The sender's `relevance-score`, by which a digest is ordered.
  public var relevance: Double

  public init(by: Reason, until: Int64? = nil, relevance: Double = 0) {
    self.by = by
    self.until = until
    self.relevance = relevance
  }
}

/// The sound that a device plays. On the wire it is the bare name (`"sound":"default"`).
public struct SoundPresentation: Sendable, Equatable {
  /// A bare file name; one that the device lacks plays the default sound (S1).
  public var name: String

  public init(name: String) {
    self.name = name
  }
}

/// The alert that a device shows: the app's name on top (which the device knows), these texts, these buttons.
public struct AlertPresentation: Sendable, Equatable, Codable {
  /// May be empty.
  public var title: String
  /// May be empty, as may `body`, but never all three.
  public var subtitle: String
  public var body: String
  /// One button that only dismisses, or two of which the left one only dismisses (A3, A4), by title.
  public var buttons: [String]
  /// What the alert's category offers, if it does: one action is one of the buttons, more are an action sheet (A6).
  public var actions: [AlertAction]?

  public init(title: String = "", subtitle: String = "", body: String = "", buttons: [String] = ["Close", "View"]) {
    self.title = title
    self.subtitle = subtitle
    self.body = body
    self.buttons = buttons
  }

  /// Offers the actions of a category, in place of View.
  ///
  /// The button for a single one stands on the right, and on the left when it is destructive (D1, D2).
  public mutating func offer(_ actions: [AlertAction]) {
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
public struct AlertAction: Sendable, Equatable, Codable {
  /// What the sender is told.
  public var id: String
  /// What the person reads.
  public var title: String
  /// Whether something is lost by it.
  public var isDestructive: Bool

  public init(id: String, title: String, isDestructive: Bool = false) {
    self.id = id
    self.title = title
    self.isDestructive = isDestructive
  }

  enum CodingKeys: String, CodingKey {
    case id, title
    case isDestructive = "destructive"
  }
}
