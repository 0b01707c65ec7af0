/// The exact form of a user's preferences as JSON, as clients may write it.
///
/// Stored preferences are decoded leniently by `Codable`, so that older and newer versions can read each other's
/// data. JSON from clients is checked here first, so that a misspelled preference is not silently ignored. The table
/// of preferences defines the keys and their values.
extension Preference.Scope {
  /// Finds the first key that is unknown, or the first value with a wrong type or out of its range.
  ///
  /// - Returns: one line with the position and the expected value; `nil` if everything is valid.
  package func error(in root: JSONElement) -> String? {
    switch self {
    case .everything: Shape.everything.error(in: root, at: "")
    case .app: Shape.app.error(in: root, at: "")
    case .category: Shape.category.error(in: root, at: "")
    }
  }
}

extension Shape {
  fileprivate static let category = object(CategoryPreferences.members)
  fileprivate static let app = object(AppPreferences.members + [("categories", .named(category, maximum: 1000))])
  fileprivate static let everything = object(Preferences.members + [("apps", .named(app, maximum: 10_000))])
}

extension PreferenceHolder {
  /// The keys of its preferences in JSON.
  fileprivate static var members: [(key: String, shape: Shape)] { slots.map { ($0.choice.key, $0.slot.shape) } }
}
