extension Preferences {
  /// Changes one preference: `badge=off`, `quiet=22:00-07:00`, `focus.work=com.example.mail`; for an app also
  /// `budget=5`, and for a category also `alert=inherit`.
  ///
  /// It changes the preference for all apps, for the app with the topic `app`, or for the `category` of that app.
  ///
  /// - Throws: ``SettingError``; nothing has changed then.
  package mutating func set(_ assignment: String, app: String?, category: String?) throws(SettingError) {
    ReadingSteps.add(assignment.utf8.count)
    guard let equals = assignment.firstIndex(of: "=") else {
      throw SettingError("invalid assignment \"\(assignment)\": write <setting>=<value>, such as badge=off")
    }
    let name = String(assignment[..<equals])
    let value = String(assignment[assignment.index(after: equals)...])
    let scope: Preference.Scope = category != nil ? .category : app != nil ? .app : .everything
    if let category, app == nil {
      throw SettingError("the category \"\(category)\" needs the app that it belongs to")
    }
    guard let choice = Preference.named(name) else {
      throw SettingError("unknown setting \"\(name)\": write \(Preference.names(of: scope))")
    }
    /// The name in error messages.
    let shown = choice.isNamed ? name : choice.name
    switch (app, category) {
    case (let app?, let category?):
      guard let slot = choice.category else { throw choice.misplaced(in: scope, category: category) }
      var choices = apps[app]?.categories[category] ?? CategoryPreferences()
      try slot.assign(&choices, shown, value)
      apps[app, default: .init()].categories[category] = choices == .init() ? nil : choices
    case (let app?, nil):
      guard let slot = choice.app else { throw choice.misplaced(in: scope, category: nil) }
      var choices = apps[app] ?? AppPreferences()
      try slot.assign(&choices, shown, value)
      apps[app] = choices
    default:
      guard let slot = choice.everything else { throw choice.misplaced(in: scope, category: nil) }
      var choices = self
      try slot.assign(&choices, shown, value)
      self = choices
    }
  }
}

extension Preference {
  /// Returns the error for a preference that this scope does not have.
  fileprivate func misplaced(in scope: Scope, category: String?) -> SettingError {
    switch scope {
    case .category:
      SettingError(
        "the category \"\(category ?? "")\" has no preference \(name): write \(Preference.names(of: .category))")
    case .app: SettingError("\(name) is a preference for all apps: omit the app")
    case .everything: SettingError("\(name) is a preference for each app: name one")
    }
  }
}

extension Preferences {
  /// The names of all time zones in the preferences.
  package var zones: Set<String> { Set(quietHours.compactMap(\.zone) + [summary.zone].compactMap(\.self)) }
}
