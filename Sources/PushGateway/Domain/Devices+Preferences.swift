import PushCore
import PushPolicy
import PushStorage

/// The preferences of users.
extension Devices {
  /// Changes some of a user's preferences and leaves the others unchanged, even if other requests change them
  /// concurrently.
  ///
  /// - Returns: all preferences of the user.
  ///
  /// - Parameter device: the device that makes the request; nil: another client.
  func changePreferences(
    of person: PersonID, by device: DeviceID? = nil, _ change: @escaping @Sendable (inout Preferences) -> Void
  ) async throws -> Preferences {
    try await apply(to: person, by: device) { preferences in
      change(&preferences)
      try preferences.checkZones()
    }
  }

  /// Makes a change; if the user no longer allows stored texts, the existing ones are erased from the logs. If the user
  /// unsubscribes from an app, a row of the delivery log reports it to the sender.
  private func apply(
    to person: PersonID, by device: DeviceID?, push: APNSID? = nil,
    _ change: @escaping @Sendable (inout Preferences) throws -> Void
  ) async throws -> Preferences {
    let devices = registrations.devices(of: person)
    let known = devices.first.map { registrations.preferences(of: $0) } ?? Preferences()
    let kept = devices.isEmpty ? .off : known.logText
    let preferences = try await registrations.changePreferences(of: person) { preferences in
      let before = preferences
      try change(&preferences)
      try preferences.checkNames(since: before)
    }
    noteUnsubscriptions(since: known, preferences, of: devices, by: device, push: push)
    if kept != .off, preferences.logText == .off {
      try await logQueries.eraseTexts(of: registrations.allDevices(of: person))
    }
    return preferences
  }

  /// Logs the apps from whose marketing a change has unsubscribed the user.
  private func noteUnsubscriptions(
    since before: Preferences, _ after: Preferences, of devices: [DeviceID], by device: DeviceID?, push: APNSID?
  ) {
    guard before != after else { return }
    var topics = Set(after.apps.keys)
    if before.marketing != after.marketing {
      topics.formUnion(devices.flatMap { registrations.registrations(of: $0).map { $0.1.topic } })
    }
    let now = clock.milliseconds()
    var random = SystemRandomNumberGenerator()
    let ended = Preferences.unsubscribed(topics.sorted(), from: before, to: after)
    for topic in ended {
      guard let app = try? registrations.app(topic: topic) else { continue }
      logQueries.log.append([
        DeliveryLog.Row(
          at: now, event: .unsubscribed, id: push ?? APNSID(using: &random), device: device ?? devices.first,
          app: app.id)
      ])
    }
  }

  /// Makes assignments such as `badge=off`, for all apps, one app, or a category of it. Either all take effect or
  /// none.
  ///
  /// - Parameters:
  ///   - isByOwner: true for the request of a device of the user; no other caller may change who can read the user's texts.
  ///   - device: the device that makes the request, or the device that an administrator names for its user.
  ///   - push: the push on whose alert the user made the change; nil for none.
  /// - Returns: all preferences of the user.
  /// - Throws: ``RegistrationRefusal`` for an unknown setting, or one that the caller may not change.
  func changePreferences(
    of person: PersonID, assigning settings: [String], app topic: String?, category: String?, isByOwner: Bool,
    by device: DeviceID? = nil, push: APNSID? = nil
  ) async throws -> Preferences {
    if let topic { _ = try registrations.app(topic: topic) }
    return try await apply(to: person, by: device, push: push) { preferences in
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
      pages.forget(devices)
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
