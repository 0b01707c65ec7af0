import PushStorage

/// Adds an app or changes its properties; omitted properties stay unchanged.
struct PutApp: Sendable {
  let registrations: any Registrations

  /// Adds or changes an app.
  ///
  /// - Parameters:
  ///   - icon: one emoji or two letters; nil for a new app: the initials of its name.
  ///   - team: the team whose keys may push to it; nil for a new app: the only team that exists.
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
  /// The apps without a team although several teams exist, which date from an earlier version: keys of every team may
  /// push to them.
  var appsOfNoTeam: [App] { teams.count < 2 ? [] : apps.filter { $0.team == nil } }
}
