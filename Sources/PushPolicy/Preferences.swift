/// A person's choices: what may reach them, for everything, per app, and per category of an app.
///
/// The defaults suit most people with no set-up (N8): everything is allowed until the person says otherwise.
public struct Preferences: Sendable, Equatable {
  /// The one switch for everything (N4).
  public var notifications = true
  /// What any app may use; off here is off everywhere.
  public var parts = PartSwitches()
  /// The choices per app, by topic. An app that is not listed has the defaults.
  public var apps: [String: AppPreferences] = [:]

  public init() {}
}

/// On or off for each of the three parts of a notification (N5).
public struct PartSwitches: Sendable, Equatable, Codable {
  public var badge = true
  public var sound = true
  public var alert = true

  public init() {}

  /// The switch of `part`.
  public subscript(part: Part) -> Bool {
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
public struct AppPreferences: Sendable, Equatable {
  /// Whether the app may notify at all.
  public var notifications = true
  /// Which of the three parts the app may use.
  public var parts = PartSwitches()
  /// The choices per category. A category that is not listed inherits all three from the app.
  public var categories: [String: CategoryPreferences] = [:]

  public init() {}
}

/// A person's choices for one category of an app; `nil` inherits from the app (N6).
public struct CategoryPreferences: Sendable, Equatable, Codable {
  public var badge: Bool?
  public var sound: Bool?
  public var alert: Bool?

  public init() {}

  /// The choice for `part`.
  public subscript(part: Part) -> Bool? {
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
