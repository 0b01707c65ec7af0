/// The preferences as JSON, with keys in snake case. A missing key has its default, and an unknown one is ignored, so
/// that older and newer versions can read each other's data:
///
/// ```json
/// {"notifications": true, "badge": true, "sound": true, "alert": true, "apps": {"com.example.news":
///   {"notifications": true, "badge": true, "sound": true, "alert": true, "categories": {"BREAKING": {"alert": false}},
///    "time_sensitive": true, "critical": true, "advertising": true, "provisional": true, "alert_budget": 5,
///    "delivery": "summary"}},
///  "quiet": ["22:00-07:00 mon-fri Europe/Berlin"], "focus": {"work": ["com.example.mail"]},
///  "summary": "08:00,18:00 Europe/Berlin"}
/// ```
///
/// The keys after `categories` and `apps` here are only written for values other than the default. The table of
/// preferences defines all keys, and which are always written.
extension Preferences: Codable {
  /// Decodes the preferences of a user.
  ///
  /// - Throws: `DecodingError` if a known key has a value of another type.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: PreferenceKey.self)
    self.init()
    try decodeChoices(from: container)
    apps = try container.decodeIfPresent([String: AppPreferences].self, forKey: "apps") ?? [:]
  }

  /// Encodes all switches, also those with their defaults, and the other preferences that differ from their defaults.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: PreferenceKey.self)
    try encodeChoices(into: &container)
    try container.encode(apps, forKey: "apps")
  }
}

extension AppPreferences: Codable {
  /// Decodes the preferences of a user for one app.
  ///
  /// - Throws: `DecodingError` if a known key has a value of another type.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: PreferenceKey.self)
    self.init()
    try decodeChoices(from: container)
    categories = try container.decodeIfPresent([String: CategoryPreferences].self, forKey: "categories") ?? [:]
  }

  /// Encodes all switches, also those with their defaults, and the other preferences that differ from their defaults.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: PreferenceKey.self)
    try encodeChoices(into: &container)
    try container.encode(categories, forKey: "categories")
  }
}

extension CategoryPreferences: Codable {
  /// Decodes the preferences of a user for one category of an app.
  ///
  /// - Throws: `DecodingError` if a known key has a value of another type.
  package init(from decoder: any Decoder) throws {
    self.init()
    try decodeChoices(from: decoder.container(keyedBy: PreferenceKey.self))
  }

  /// Encodes the values that are not inherited.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: PreferenceKey.self)
    try encodeChoices(into: &container)
  }
}

extension PreferenceHolder {
  fileprivate mutating func decodeChoices(from container: KeyedDecodingContainer<PreferenceKey>) throws {
    for (choice, slot) in Self.slots { try slot.decode(&self, container, PreferenceKey(choice.key)) }
  }

  fileprivate func encodeChoices(into container: inout KeyedEncodingContainer<PreferenceKey>) throws {
    for (choice, slot) in Self.slots { try slot.encode(self, &container, PreferenceKey(choice.key)) }
  }
}
