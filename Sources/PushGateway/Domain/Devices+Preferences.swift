import PushCore
import PushPolicy
import PushStorage

/// The preferences of users.
extension Devices {
  /// Changes some of a user's preferences and leaves the others unchanged, even if other requests change them
  /// concurrently.
  ///
  /// - Returns: all preferences of the user.
  func changePreferences(
    of person: PersonID, _ change: @escaping @Sendable (inout Preferences) -> Void
  ) async throws -> Preferences {
    try await apply(to: person) { preferences in
      change(&preferences)
      try preferences.checkZones()
    }
  }

  /// Makes a change; if the user no longer allows stored texts, the existing ones are erased from the logs.
  private func apply(
    to person: PersonID, _ change: @escaping @Sendable (inout Preferences) throws -> Void
  ) async throws -> Preferences {
    let kept = registrations.devices(of: person).first.map { registrations.preferences(of: $0).logText } ?? .off
    let preferences = try await registrations.changePreferences(of: person) { preferences in
      let before = preferences
      try change(&preferences)
      try preferences.checkNames(since: before)
    }
    if kept != .off, preferences.logText == .off {
      try await logQueries.eraseTexts(of: registrations.allDevices(of: person))
    }
    return preferences
  }

  /// Makes assignments such as `badge=off`, for all apps, one app, or a category of it. Either all take effect or
  /// none.
  ///
  /// - Parameter isByOwner: true if a device of the user asks; no other caller may change who can read the user's
  ///   texts.
  /// - Returns: all preferences of the user.
  /// - Throws: ``RegistrationRefusal`` for an unknown setting, or one that the caller may not change.
  func changePreferences(
    of person: PersonID, assigning settings: [String], app topic: String?, category: String?, isByOwner: Bool
  ) async throws -> Preferences {
    if let topic { _ = try registrations.app(topic: topic) }
    return try await apply(to: person) { preferences in
      let logText = preferences.logText
      for setting in settings {
        do throws(SettingError) {
          try preferences.set(setting, app: topic, category: category)
        } catch {
          throw RegistrationRefusal(kind: .invalid, description: error.description)
        }
      }
      guard isByOwner || preferences.logText == logText else {
        throw RegistrationRefusal(
          kind: .forbidden,
          description: "only a device of the user can change log-text: "
            + "run `pushcli prefs set log-text=…` on the user's machine")
      }
      try preferences.checkZones()
    }
  }

  // MARK: Notices

  /// Notifies the connected devices of a change to their user.
  func announce(_ change: RegistrationChange) {
    switch change {
    case .preferences(let person, let preferences): announce(preferences, of: person)
    case .revokedDevices(let devices):
      for device in devices {
        router.notify(device, .revoked)
        conditions.forget(device)
        histories.forget(device)
      }
    // The owners of the connections end them.
    case .revokedCertificate: break
    }
  }

  /// Notifies a user's devices of changed preferences, and delivers pushes that are no longer deferred.
  private func announce(_ preferences: Preferences, of person: PersonID) {
    let json = controlJSON(preferences)
    for device in registrations.devices(of: person) {
      router.notify(device, .preferences(json))
      summaries.deliver(to: device, isChanged: true)
    }
  }
}

extension Preferences {
  /// Checks the names of apps and categories that a change adds.
  ///
  /// - Throws: a refusal if a name is not a valid topic, or is too long.
  fileprivate func checkNames(since before: Preferences) throws(RegistrationRefusal) {
    for (topic, app) in apps {
      let known = before.apps[topic]
      guard known != nil || Topic.isWellFormed(topic.utf8) else {
        throw RegistrationRefusal(
          kind: .invalid,
          description: "invalid app \(topic.prefix(64)): expected a topic of letters, digits, \".\", \"-\" and \"_\"")
      }
      for category in app.categories.keys
      where known?.categories[category] == nil && category.utf8.count > Limits.maximumCategorySize {
        throw RegistrationRefusal(
          kind: .invalid,
          description: "invalid category \(category.prefix(64)): expected at most \(Limits.maximumCategorySize) bytes")
      }
    }
  }

  /// - Throws: a refusal that names an unknown time zone.
  fileprivate func checkZones() throws(RegistrationRefusal) {
    for name in zones.sorted() where TimeZones.zone(named: name) == nil {
      throw RegistrationRefusal(
        kind: .invalid,
        description: "unknown time zone \(name): write a name such as Europe/Berlin, or omit it")
    }
  }
}
