/// As JSON, with keys in snake case. A missing key has its default and an unknown one is ignored, so that older and newer
/// forms read each other:
/// ```json
/// {"notifications": true, "badge": true, "sound": true, "alert": true, "apps": {"com.example.news":
///   {"notifications": true, "badge": true, "sound": true, "alert": true, "categories": {"BREAKING": {"alert": false}}}}}
/// ```
extension Preferences: Codable {
  /// Decodes a person's choices.
  /// - Throws: `DecodingError` when a known key has a value of another type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    notifications = try container.decodeIfPresent(Bool.self, forKey: .notifications) ?? true
    parts = try PartSwitches(from: decoder)
    apps = try container.decodeIfPresent([String: AppPreferences].self, forKey: .apps) ?? [:]
  }

  /// Encodes every choice, also those that are the default.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(notifications, forKey: .notifications)
    try parts.encode(to: encoder)
    try container.encode(apps, forKey: .apps)
  }
}

extension AppPreferences: Codable {
  /// Decodes a person's choices for one app.
  /// - Throws: `DecodingError` when a known key has a value of another type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    notifications = try container.decodeIfPresent(Bool.self, forKey: .notifications) ?? true
    parts = try PartSwitches(from: decoder)
    categories = try container.decodeIfPresent([String: CategoryPreferences].self, forKey: .categories) ?? [:]
  }

  /// Encodes every choice, also those that are the default.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(notifications, forKey: .notifications)
    try parts.encode(to: encoder)
    try container.encode(categories, forKey: .categories)
  }
}

extension PartSwitches {
  /// Decodes three switches; one that is missing is on.
  /// - Throws: `DecodingError` when a switch has a value of another type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    badge = try container.decodeIfPresent(Bool.self, forKey: .badge) ?? true
    sound = try container.decodeIfPresent(Bool.self, forKey: .sound) ?? true
    alert = try container.decodeIfPresent(Bool.self, forKey: .alert) ?? true
  }
}

private enum Key: String, CodingKey {
  case notifications, badge, sound, alert, apps, categories
}
