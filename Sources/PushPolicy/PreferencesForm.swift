/// The exact form of a person's choices as JSON: what a client may write.
///
/// What is stored is read leniently, by `Codable`, so that older and newer versions read each other; what somebody sends
/// is checked here first, so that no misspelled choice is taken for none. The keys and their values are in the table of
/// choices.
package enum PreferencesForm: Sendable {
  case everything, app, category

  /// Finds the first key that is unknown, and the first value of a wrong type or out of its range.
  ///
  /// - Returns: one line that says where it is and what was expected there; `nil` when all is well.
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

extension ChoiceHolder {
  /// The keys that JSON may have for its choices.
  fileprivate static var members: [(key: String, shape: Shape)] { slots.map { ($0.choice.key, $0.slot.shape) } }
}
