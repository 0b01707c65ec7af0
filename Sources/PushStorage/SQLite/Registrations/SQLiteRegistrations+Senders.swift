import Foundation
import GRDB
import PushCore
import PushPolicy
import Synchronization

/// The teams, keys, apps and certificates of senders.
extension SQLiteRegistrations {
  package func addTeam(_ id: String) async throws {
    try SQLiteRegistrations.requireIdentifier(id, "team id")
    try await store.write { [self] db in
      try db.execute(sql: "INSERT OR IGNORE INTO team (id) VALUES (?)", arguments: [id])
      afterCommit(db) { $0.teams.insert(id) }
    }
  }

  package func addKey(_ key: ProviderKey) async throws {
    try SQLiteRegistrations.requireIdentifier(key.id, "key id")
    guard self.key(key.id) == nil else {
      throw Refusal(kind: .conflict, description: "there is a key \(key.id) already: remove it first")
    }
    if let related = key.related, self.key(related)?.team != key.team {
      throw Refusal(kind: .unknown, description: "team \(key.team) has no key \(related): `pushcli keys list`")
    }
    try requireTeam(key.team)
    let topics = try key.topics.map { String(decoding: try JSONEncoder().encode($0.sorted()), as: UTF8.self) }
    try await store.write { [self] db in
      try db.execute(
        sql: "INSERT INTO key (id, team, public_key, environment, topics, related) VALUES (?, ?, ?, ?, ?, ?)",
        arguments: [
          key.id, key.team, Data(key.publicKey.publicDER), key.environment?.rawValue, topics, key.related,
        ])
      db.afterNextTransaction { [self] _ in
        state.withLock { $0.keys[key.id] = key }
        changeGeneration()
      }
    }
  }

  package func removeKey(_ id: String) async throws {
    guard state.withLock({ $0.keys[id] != nil }) else {
      throw Refusal(kind: .unknown, description: "there is no key \(id): `pushcli keys list` shows them")
    }
    try await store.write { [self] db in
      try db.execute(sql: "DELETE FROM key WHERE id = ?", arguments: [id])
      db.afterNextTransaction { [self] _ in
        state.withLock { _ = $0.keys.removeValue(forKey: id) }
        changeGeneration()
      }
    }
  }

  package func putApp(
    topic: String, name: String, icon: String, policyMode: PolicyMode, isStrict: Bool, ads: AdMode, team: String?
  ) async throws -> App {
    guard Topic.isWellFormed(topic.utf8) else {
      throw Refusal(
        kind: .invalid,
        description: "invalid topic \"\(topic)\": expected letters, digits, hyphens and dots, as com.example.app")
    }
    guard ShownName.isValid(name) else {
      throw Refusal(kind: .invalid, description: "invalid name of an app: expected \(ShownName.expected)")
    }
    guard ShownName.isValid(icon), icon.count <= 2 else {
      throw Refusal(
        kind: .invalid,
        description: "invalid icon: expected one emoji or two letters, at most \(ShownName.maximumSize) bytes")
    }
    if let team { try requireTeam(team) }
    return try await store.write { [self] db in
      try db.execute(
        sql: """
          INSERT INTO app (id, topic, name, icon, policy_mode, strict, ads, team)
            VALUES (\(SQLiteRegistrations.nextApp), ?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT (topic)
          DO UPDATE SET name = excluded.name, icon = excluded.icon, policy_mode = excluded.policy_mode,
            strict = excluded.strict, ads = excluded.ads, team = excluded.team
          """, arguments: [topic, name, icon, policyMode.rawValue, isStrict, ads.rawValue, team])
      let row = try Int64.fetchOne(db, sql: "SELECT id FROM app WHERE topic = ?", arguments: [topic]) ?? 0
      let sendsMarketing = try Bool.fetchOne(db, sql: "SELECT marketing FROM app WHERE id = ?", arguments: [row])
      let known = try String.fetchOne(db, sql: "SELECT known_categories FROM app WHERE id = ?", arguments: [row])
      let measure = SummaryMeasure(
        summaryFrom: try Int64.fetchOne(db, sql: "SELECT summary_from FROM app WHERE id = ?", arguments: [row]),
        countedFrom: try Int64.fetchOne(db, sql: "SELECT counted_from FROM app WHERE id = ?", arguments: [row]) ?? 0)
      let app = App(
        id: AppID(row: row), topic: topic, name: name, icon: icon, policyMode: policyMode,
        isStrict: isStrict, ads: ads, team: team, sendsMarketing: sendsMarketing ?? false,
        knownCategories: try known.map { try decodeJSON(Set<String>.self, from: Array($0.utf8)) }, measure: measure)
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          state.apps[app.id] = app
          state.appsByTopic[topic] = app.id
        }
        changeGeneration()
      }
      return app
    }
  }

  /// The number of a new app, as SQL. A former number is never assigned again, since mailboxes and the delivery log
  /// may refer to it.
  private static let nextApp = """
    (SELECT 1 + max(ifnull((SELECT max(id) FROM app), 0), ifnull((SELECT max(id) FROM former_app), 0)))
    """

  package var certificates: [ProviderCertificate] { state.withLock { $0.certificates }.values.sorted { $0.id < $1.id } }

  package func isRevoked(certificate fingerprint: [UInt8]) -> Bool {
    state.withLock { $0.certificates[fingerprint]?.revoked != nil }
  }

  package func putCertificate(_ certificate: ProviderCertificate) async throws {
    let topics = String(decoding: try JSONEncoder().encode(certificate.topics.sorted()), as: UTF8.self)
    let environments = String(
      decoding: try JSONEncoder().encode(certificate.environments.map(\.rawValue).sorted()), as: UTF8.self)
    try await store.write { [self] db in
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO certificate (fingerprint, topic, topics, environments, expires, revoked)
          VALUES (?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          Data(certificate.fingerprint), certificate.topic, topics, environments, certificate.expires,
          certificate.revoked,
        ])
      afterCommit(db) { $0.certificates[certificate.fingerprint] = certificate }
    }
    guard certificate.revoked != nil else { return }
    for listener in listeners.withLock({ $0 }) { listener(.revokedCertificate(certificate.fingerprint)) }
  }

  private func requireTeam(_ id: String) throws(Refusal) {
    try SQLiteRegistrations.requireIdentifier(id, "team")
    guard state.withLock({ $0.teams.contains(id) }) else {
      throw Refusal(kind: .unknown, description: "there is no team \(id): add it with `pushcli teams add \(id)`")
    }
  }

  private static func requireIdentifier(_ id: String, _ what: String) throws(Refusal) {
    guard id.utf8.count == 10, id.utf8.allSatisfy({ $0.isUpperOrDigit }) else {
      throw Refusal(kind: .invalid, description: "invalid \(what) \"\(id)\": expected 10 characters, A to Z and 0 to 9")
    }
  }
}
