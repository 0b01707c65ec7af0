import PushCore
import PushPolicy
import PushStorage

/// Operations on apps and on the keys of their senders.
struct Apps: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let held: DeferredPushes
  let schedule: Schedule
  let channels: Channels
  let broadcasts: Broadcasts
  let groups: Groups
  let answers: Answers
  let retractions: Retractions
  let senders: MessageSenders
  let endpoints: WebPushEndpoints
  let attachments: Attachments
  let log: DeliveryLog
  let clock: WallClock

  /// Adds an app or changes its properties; omitted properties stay unchanged.
  ///
  /// - Parameters:
  ///   - icon: one emoji or two letters; nil for a new app: the initials of its name.
  ///   - team: the team whose keys may push to it; nil for a new app: the only team that exists.
  ///   - startsQuiet: true if new categories start quiet. Categories that are known by then do not.
  func put(
    topic: String, name: String, icon: String?, policyMode: PolicyMode?, isStrict: Bool?, ads: AdMode?,
    team: String?, startsQuiet: Bool? = nil
  ) async throws -> App {
    let known = try? registrations.app(topic: topic)
    let teams = registrations.teams
    guard team != nil || known != nil || teams.count < 2 else {
      throw RegistrationRefusal(
        kind: .invalid,
        description: "missing team of \(topic): add --team TEAMID (known teams: \(teams.joined(separator: ", ")))")
    }
    let initials = String(name.split(separator: " ").prefix(2).compactMap(\.first)).uppercased()
    let app = try await registrations.putApp(
      topic: topic, name: name, icon: icon ?? known?.icon ?? initials,
      policyMode: policyMode ?? known?.policyMode ?? .enforce, isStrict: isStrict ?? known?.isStrict ?? false,
      ads: ads ?? known?.ads ?? .standard, team: team ?? (known == nil ? teams.first : known?.team))
    guard let startsQuiet, startsQuiet != (app.knownCategories != nil) else { return app }
    let categories = try await startsQuiet ? usedCategories(of: app) : nil
    try await registrations.setKnownCategories(categories, of: app.id)
    return app.with(knownCategories: categories)
  }

  /// Returns the categories of an app that exist, that users have preferences for, or that pushes in the delivery log of
  /// this gateway have.
  private func usedCategories(of app: App) async throws -> Set<String> {
    var names = Set(registrations.categories(of: app.id).keys)
    for person in registrations.persons {
      if let choices = person.preferences.apps[app.topic] { names.formUnion(choices.categories.keys) }
    }
    let query = DeliveryLog.Query(app: app.id, events: [.transmitted], limit: Apps.examinedPushes)
    for record in try await log.rows(query) {
      if case .asked(let asked) = record.row.detail, let category = asked.category { names.insert(category) }
    }
    return Set(names.sorted().prefix(Apps.maximumKnownCategories))
  }

  /// The number of the newest pushes of an app whose categories are known.
  private static let examinedPushes = 100_000
  /// The maximum number of known categories: more than any app has, and small in memory.
  private static let maximumKnownCategories = 1_000

  /// - Throws: a refusal that lists the data of an app that would be removed with it, if there is any.
  func requireUnused(_ app: App) async throws {
    let tokens = try await registrations.registrationCount(of: app.id, now: clock.milliseconds())
    let environments = [Environment.development, .production]
    let channelCount = environments.reduce(0) { $0 + channels.channels(of: app.id, environment: $1).count }
    let counts = [
      ("registration", tokens + groups.registrationCount(of: app.id)), ("channel", channelCount),
      ("scheduled push", schedule.pushes.count(of: app.id)),
    ].filter { $0.1 > 0 }
    if counts.isEmpty { return }
    let words = counts.map { name, count in
      "\(count) \(name)\(count == 1 ? "" : name.hasSuffix("h") ? "es" : "s")"
    }
    throw RegistrationRefusal(
      kind: .conflict,
      description:
        "\(app.topic) has \(words.joined(separator: ", ")): `pushcli apps remove \(app.topic) --yes` removes them, too")
  }

  /// Removes an app with everything that refers to it: registrations, pending pushes, channels, categories, answers,
  /// preferences, senders, endpoints, attachments. Rows of the delivery log stay until they expire.
  ///
  /// The app itself is removed last, so that the same request completes an operation that a crash interrupted.
  func remove(_ app: App) async throws {
    try await groups.forget(app.id)
    let devices = try await registrations.endRegistrations(for: app.id, now: clock.milliseconds())
    try await schedule.purge(app.id)
    try await mailbox.purge(devices, app: app.id)
    held.purge(app.id)
    await held.settle()
    try await broadcasts.setOn(false, app: app.id)
    try await channels.forget(app.id)
    try await answers.forget(app.id)
    try await retractions.forget(app.id)
    try await senders.forget(app.id)
    try await endpoints.forget(app.id, at: clock.milliseconds())
    try await attachments.forget(app.id)
    for person in registrations.persons where person.preferences.apps[app.topic] != nil {
      _ = try await registrations.changePreferences(of: person.id) { $0.apps[app.topic] = nil }
    }
    try await registrations.remove(app.id)
  }

  // MARK: Keys

  /// Adds a signing key to a team: a generated one or an existing one.
  ///
  /// - Parameters:
  ///   - id: 10 characters; nil: generated.
  ///   - key: at least the public half; nil: generated.
  ///   - topics: the topics it may push to; empty: every topic.
  ///   - related: the key it is rotated with.
  /// - Returns: the key, and the PEM of a generated private half, which is not stored.
  func addKey(
    id: String?, team: String, key given: ES256Key?, environment: Environment?, topics: [String], related: String?
  ) async throws -> (key: ProviderKey, privatePEM: [UInt8]?) {
    let key = try given ?? ES256Key.generate()
    let record = ProviderKey(
      id: id ?? Apps.randomKeyID(), team: team, publicKey: key, environment: environment,
      topics: topics.isEmpty ? nil : Set(topics), related: related)
    try await registrations.addKey(record)
    return (record, given == nil ? key.privatePEM : nil)
  }

  private static func randomKeyID() -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
    return String(decoding: randomBytes(count: 10).map { alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
  }
}

extension Registrations {
  /// The apps without a team although several teams exist, which date from an earlier version: keys of every team may
  /// push to them.
  var appsOfNoTeam: [App] { teams.count < 2 ? [] : apps.filter { $0.team == nil } }
}
