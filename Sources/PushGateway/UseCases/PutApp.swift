import PushStorage

/// Adds an app, or changes what is said of it; what is not said stays as it was.
struct PutApp: Sendable {
  let registrations: any Registrations

  /// - Parameters:
  ///   - icon: one emoji or two letters; nil for a new app: the initials of its name.
  ///   - team: whose keys may push to it; nil for a new app: the only team that there is.
  func callAsFunction(
    topic: String, name: String, icon: String?, policyMode: PolicyMode?, isStrict: Bool?, ads: AdMode?,
    team: String?
  ) async throws -> App {
    let known = try? registrations.app(topic: topic)
    let teams = registrations.teams
    guard team != nil || known != nil || teams.count < 2 else {
      throw RegistrationRefusal(
        kind: .invalid,
        description: "missing team of \(topic): add --team TEAMID (known teams: \(teams.joined(separator: ", ")))")
    }
    let initials = String(name.split(separator: " ").prefix(2).compactMap(\.first)).uppercased()
    return try await registrations.putApp(
      topic: topic, name: name, icon: icon ?? known?.icon ?? initials,
      policyMode: policyMode ?? known?.policyMode ?? .enforce, isStrict: isStrict ?? known?.isStrict ?? false,
      ads: ads ?? known?.ads ?? .standard, team: team ?? (known == nil ? teams.first : known?.team))
  }
}

extension Registrations {
  /// Apps that keys of every team may push to, although there are several: those of an earlier version.
  var appsOfNoTeam: [App] { teams.count < 2 ? [] : apps.filter { $0.team == nil } }
}
