/// As JSON, with keys in snake case. A missing key has its default and an unknown one is ignored, so that older and newer
/// forms read each other:
/// ```json
/// {"notifications": true, "badge": true, "sound": true, "alert": true, "apps": {"com.example.news":
///   {"notifications": true, "badge": true, "sound": true, "alert": true, "categories": {"BREAKING": {"alert": false}},
///    "time_sensitive": true, "critical": true, "advertising": true, "provisional": true, "alert_budget": 5,
///    "delivery": "summary"}},
///  "quiet": ["22:00-07:00 mon-fri Europe/Berlin"], "focus": {"work": ["com.example.mail"]},
///  "summary": "08:00,18:00 Europe/Berlin"}
/// ```
/// What comes after `categories` and `apps` here is only written where it differs from the default.
extension Preferences: Codable {
  /// Decodes a person's choices.
  /// - Throws: `DecodingError` when a known key has a value of another type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    notifications = try container.decodeIfPresent(Bool.self, forKey: .notifications) ?? true
    parts = try PartSwitches(from: decoder)
    apps = try container.decodeIfPresent([String: AppPreferences].self, forKey: .apps) ?? [:]
    quietHours = try container.decodeIfPresent([QuietWindow].self, forKey: .quiet) ?? []
    focuses = try container.decodeIfPresent([String: Set<String>].self, forKey: .focus) ?? [:]
    summary = try container.decodeIfPresent(SummaryTimes.self, forKey: .summary) ?? SummaryTimes()
  }

  /// Encodes the switches, also those that are the default, and the other choices where they are not.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(notifications, forKey: .notifications)
    try parts.encode(to: encoder)
    try container.encode(apps, forKey: .apps)
    if !quietHours.isEmpty { try container.encode(quietHours, forKey: .quiet) }
    if !focuses.isEmpty { try container.encode(focuses.mapValues { $0.sorted() }, forKey: .focus) }
    if summary != SummaryTimes() { try container.encode(summary, forKey: .summary) }
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
    advertising = try container.decodeIfPresent(Bool.self, forKey: .advertising) ?? false
    timeSensitive = try container.decodeIfPresent(Bool.self, forKey: .timeSensitive) ?? false
    critical = try container.decodeIfPresent(Bool.self, forKey: .critical) ?? false
    alertBudget = try container.decodeIfPresent(Int.self, forKey: .alertBudget)
    delivery = try container.decodeIfPresent(Delivery.self, forKey: .delivery) ?? .now
    provisional = try container.decodeIfPresent(Bool.self, forKey: .provisional) ?? false
  }

  /// Encodes the switches, also those that are the default, and the other choices where they are not.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(notifications, forKey: .notifications)
    try parts.encode(to: encoder)
    try container.encode(categories, forKey: .categories)
    if advertising { try container.encode(true, forKey: .advertising) }
    if timeSensitive { try container.encode(true, forKey: .timeSensitive) }
    if critical { try container.encode(true, forKey: .critical) }
    try container.encodeIfPresent(alertBudget, forKey: .alertBudget)
    if delivery != .now { try container.encode(delivery, forKey: .delivery) }
    if provisional { try container.encode(true, forKey: .provisional) }
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
  case quiet, focus, summary
  case advertising, critical, delivery, provisional
  case timeSensitive = "time_sensitive"
  case alertBudget = "alert_budget"
}
