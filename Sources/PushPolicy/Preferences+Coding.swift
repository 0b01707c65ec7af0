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
/// What comes after `categories` and `apps` here is only written where it differs from the default. Which keys there are,
/// and which are always written, is in the table of choices.
extension Preferences: Codable {
  /// Decodes a person's choices.
  /// - Throws: `DecodingError` when a known key has a value of another type.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: ChoiceKey.self)
    self.init()
    try decodeChoices(from: container)
    apps = try container.decodeIfPresent([String: AppPreferences].self, forKey: "apps") ?? [:]
  }

  /// Encodes the switches, also those that are the default, and the other choices where they are not.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: ChoiceKey.self)
    try encodeChoices(into: &container)
    try container.encode(apps, forKey: "apps")
  }
}

extension AppPreferences: Codable {
  /// Decodes a person's choices for one app.
  /// - Throws: `DecodingError` when a known key has a value of another type.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: ChoiceKey.self)
    self.init()
    try decodeChoices(from: container)
    categories = try container.decodeIfPresent([String: CategoryPreferences].self, forKey: "categories") ?? [:]
  }

  /// Encodes the switches, also those that are the default, and the other choices where they are not.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: ChoiceKey.self)
    try encodeChoices(into: &container)
    try container.encode(categories, forKey: "categories")
  }
}

extension CategoryPreferences: Codable {
  /// Decodes a person's choices for one category of an app.
  /// - Throws: `DecodingError` when a known key has a value of another type.
  package init(from decoder: any Decoder) throws {
    self.init()
    try decodeChoices(from: decoder.container(keyedBy: ChoiceKey.self))
  }

  /// Encodes what is not inherited.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: ChoiceKey.self)
    try encodeChoices(into: &container)
  }
}

extension ChoiceHolder {
  fileprivate mutating func decodeChoices(from container: KeyedDecodingContainer<ChoiceKey>) throws {
    for (choice, slot) in Self.slots { try slot.decode(&self, container, ChoiceKey(choice.key)) }
  }

  fileprivate func encodeChoices(into container: inout KeyedEncodingContainer<ChoiceKey>) throws {
    for (choice, slot) in Self.slots { try slot.encode(self, &container, ChoiceKey(choice.key)) }
  }
}
