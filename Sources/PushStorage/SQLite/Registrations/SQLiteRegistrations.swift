import Foundation
import GRDB
package import PushCore
package import PushPolicy
import Synchronization

/// Registrations in SQLite: all of them in memory for the hot path, each change on disk first.
package final class SQLiteRegistrations: Sendable {
  package typealias Refusal = RegistrationRefusal

  /// The registrations in memory.
  struct State {
    var teams: Set<String> = []
    var keys: [String: ProviderKey] = [:]
    var apps: [AppID: App] = [:]
    var appsByTopic: [String: AppID] = [:]
    var tables = RegistrationTables()
    var certificates: [[UInt8]: ProviderCertificate] = [:]
  }

  let categories: Categories
  package let store: SQLiteStore
  let state: Mutex<State>
  /// See ``keyGeneration``.
  private let generation = Atomic<UInt64>(0)
  let listeners = Mutex<[@Sendable (RegistrationChange) -> Void]>([])

  /// Reads the registrations, which takes a second if there are a million.
  ///
  /// - Throws: ``StoreError`` if a row can't be read.
  package init(store: SQLiteStore) throws(StoreError) {
    self.store = store
    categories = try Categories(store: store)
    do {
      state = Mutex(try store.pool.read(SQLiteRegistrations.loadSmall))
      let tables = try SQLiteRegistrations.loadTables(store)
      state.withLock { $0.tables = tables }
    } catch {
      throw SQLiteStore.explain(error, path: store.path)
    }
    followReplica()
  }

  package func onChange(_ listener: @escaping @Sendable (RegistrationChange) -> Void) {
    listeners.withLock { $0.append(listener) }
  }

  // MARK: Changes by other gateways

  private func followReplica() {
    store.replica.onChange(of: ["team", "key", "app", "certificate"]) { [weak self] db, _ in
      let fresh = try SQLiteRegistrations.loadSmall(db)
      db.afterNextTransaction { [weak self] _ in self?.adopt(fresh) }
    }
    store.replica.onChange(of: ReplicatedChanges.tables) { [weak self] db, changes in
      let adopted = try ReplicatedChanges(changes, db)
      db.afterNextTransaction { [weak self] _ in self?.adopt(adopted) }
    }
  }

  /// Takes over the current teams, keys, apps and certificates, which are few.
  private func adopt(_ fresh: State) {
    let revoked = state.withLock { state in
      let revoked = fresh.certificates.values.filter {
        $0.revoked != nil && state.certificates[$0.fingerprint]?.revoked == nil
      }
      (state.teams, state.keys, state.apps) = (fresh.teams, fresh.keys, fresh.apps)
      (state.appsByTopic, state.certificates) = (fresh.appsByTopic, fresh.certificates)
      return revoked
    }
    changeGeneration()
    for listener in listeners.withLock({ $0 }) {
      for certificate in revoked { listener(.revokedCertificate(certificate.fingerprint)) }
    }
  }

  private func adopt(_ adopted: ReplicatedChanges) {
    state.withLock { state in for step in adopted.steps { step(&state.tables) } }
    for listener in listeners.withLock({ $0 }) { for change in adopted.news { listener(change) } }
  }

  // MARK: The hot path

  package func registration(_ token: DeviceToken) -> (Registration, App)? {
    state.withLock { state in
      guard let registration = state.tables.registration(token), let app = state.apps[registration.app] else {
        return nil
      }
      return (registration, app)
    }
  }

  private func withApp(_ registration: Registration) -> (Registration, App)? {
    app(registration.app).map { (registration, $0) }
  }

  package var keyGeneration: UInt64 { generation.load(ordering: .acquiring) }

  func changeGeneration() { generation.add(1, ordering: .releasing) }

  package func key(_ id: String) -> ProviderKey? { state.withLock { $0.keys[id] } }

  package func app(_ id: AppID) -> App? { state.withLock { $0.apps[id] } }

  package func preferences(of device: DeviceID) -> Preferences {
    state.withLock { state in state.tables.owner(of: device).flatMap { state.tables.preferences(of: $0) } }
      ?? Preferences()
  }

  package func device(secret: String) -> Device? {
    let hash = SQLiteRegistrations.hash(of: secret)
    return state.withLock { $0.tables.device(secretHash: hash) }
  }

  // MARK: Lists

  package var teams: [String] { state.withLock { $0.teams.sorted() } }
  // The results are sorted without the lock, because pushes need it.
  package var keys: [ProviderKey] { state.withLock { $0.keys }.values.sorted { $0.id < $1.id } }
  package var apps: [App] { state.withLock { $0.apps }.values.sorted { $0.topic < $1.topic } }
  package var devices: [Device] {
    var (devices, next, isComplete): ([Device], Int, Bool) = ([], 0, false)
    while !isComplete {
      isComplete = state.withLock { state in
        devices += state.tables.devices(from: &next, limit: SQLiteRegistrations.listSlice)
        return next >= state.tables.deviceEnd
      }
    }
    return devices.sorted { $0.name < $1.name }
  }

  /// The number of rows that a list reads at a time, because pushes need the lock.
  static let listSlice = 500

  package func hasApp(topic: String) -> Bool { state.withLock { $0.appsByTopic[topic] != nil } }

  package func app(topic: String) throws(Refusal) -> App {
    guard let app = state.withLock({ state in state.appsByTopic[topic].flatMap { state.apps[$0] } }) else {
      throw Refusal(
        kind: .unknown, description: "there is no app \(topic): add it with `pushcli apps add \(topic) --name NAME`")
    }
    return app
  }

  package func device(named name: String) throws(Refusal) -> Device {
    guard let device = state.withLock({ $0.tables.device(named: name) }) else {
      throw Refusal(
        kind: .unknown,
        description: "there is no device \(name): `pushcli devices` shows them, `pushcli devices enroll NAME` adds one")
    }
    return device
  }

  package func device(_ id: DeviceID) -> Device? { state.withLock { $0.tables.device(id) } }

  package func person(_ id: PersonID) -> Person? { state.withLock { $0.tables.person(id) } }

  package func registrations(of device: DeviceID) -> [(Registration, App)] {
    state.withLock { $0.tables.registrations(of: device) }
      .filter { $0.unregistered == nil }.compactMap(withApp)
  }

  // MARK: Changes

  package func addTeam(_ id: String) async throws {
    try SQLiteRegistrations.requireIdentifier(id, "team id")
    try await store.write { [self] db in
      try db.execute(sql: "INSERT OR IGNORE INTO team (id) VALUES (?)", arguments: [id])
      db.afterNextTransaction { [self] _ in state.withLock { _ = $0.teams.insert(id) } }
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
      let app = App(
        id: AppID(row: row), topic: topic, name: name, icon: icon, policyMode: policyMode, isStrict: isStrict, ads: ads,
        team: team)
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

  /// The number of a new device, as SQL. A former number is never assigned again: the log, mailboxes and channels
  /// refer to it, and the new device would inherit their data.
  static let nextDevice = """
    (SELECT 1 + max(ifnull((SELECT max(id) FROM device), 0), ifnull((SELECT max(id) FROM former_device), 0)))
    """

  /// The number of a new app, as SQL. A former number is never assigned again, since mailboxes and the delivery log
  /// may refer to it.
  private static let nextApp = """
    (SELECT 1 + max(ifnull((SELECT max(id) FROM app), 0), ifnull((SELECT max(id) FROM former_app), 0)))
    """

  static func requirePersonName(_ name: String) throws(Refusal) {
    guard ShownName.isValid(name) else {
      throw Refusal(kind: .invalid, description: "invalid name of a user: expected \(ShownName.expected)")
    }
  }

  static func newSecret() -> String {
    String(decoding: randomBytes(count: 32).flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self)
  }

  static func hash(of secret: String) -> [UInt8] { Digest.sha256(Array(secret.utf8)) }

  package func register(
    _ device: DeviceID, topic: String, environment: Environment, expires: Int64?, now: Int64
  ) async throws -> Registration {
    let app = try app(topic: topic)
    @Sendable func known() -> Registration? {
      registrations(of: device).map(\.0).first { registration in
        registration.app == app.id && registration.environment == environment && !registration.isExpired(at: now)
      }
    }
    if let known = known() { return known }
    return try await store.write { [self] db in
      // Checked again within the write, since another caller may have registered the device in between.
      if let known = known() { return known }
      let ended = try tokenToForget(of: device, now: now)
      if let ended { try db.execute(sql: "DELETE FROM token WHERE token = ?", arguments: [Data(ended.bytes)]) }
      let registration = Registration(
        token: .random(), device: device, app: app.id, environment: environment, expires: expires)
      try db.execute(
        sql: "INSERT INTO token (token, device, app, environment, expires) VALUES (?, ?, ?, ?, ?)",
        arguments: [
          Data(registration.token.bytes), device.row, app.id.row, environment.rawValue, registration.expires,
        ])
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          if let ended { state.tables.remove(ended) }
          state.tables.add(registration)
        }
      }
      return registration
    }
  }

  /// Returns the token that a device's next one replaces: the one that ended first, if there are
  /// ``Limits/maximumDeviceTokens``.
  ///
  /// - Throws: ``Refusal`` if all of them are in use.
  private func tokenToForget(of device: DeviceID, now: Int64) throws(Refusal) -> DeviceToken? {
    let known = state.withLock { $0.tables.registrations(of: device) }
    guard known.count >= Limits.maximumDeviceTokens else { return nil }
    let ended = known.compactMap { registration -> (token: DeviceToken, at: Int64)? in
      guard let end = registration.unregistered ?? registration.expires, end <= now else { return nil }
      return (registration.token, end)
    }
    guard let first = ended.min(by: { $0.at < $1.at }) else {
      throw Refusal(
        kind: .conflict,
        description: "a device has at most \(Limits.maximumDeviceTokens) registrations: unregister one first")
    }
    return first.token
  }

  package func unregister(_ device: DeviceID, topic: String, now: Int64) async throws {
    let app = try app(topic: topic)
    let tokens = registrations(of: device).filter { $0.0.app == app.id }.map(\.0.token)
    guard !tokens.isEmpty else {
      throw Refusal(kind: .unknown, description: "this device is not registered for \(topic)")
    }
    try await store.write { [self] db in
      try db.execute(
        sql: "UPDATE token SET unregistered = ? WHERE device = ? AND app = ? AND unregistered IS NULL",
        arguments: [now, device.row, app.id.row])
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          for token in tokens { state.tables.set(unregistered: now, of: token) }
        }
      }
    }
  }

  package func changePreferences(
    of person: PersonID, _ change: @escaping @Sendable (inout Preferences) throws -> Void
  ) async throws -> Preferences {
    @Sendable func current() -> Preferences { state.withLock { $0.tables.preferences(of: person) } ?? Preferences() }
    while true {
      // The preferences are changed and encoded before the write, because pushes wait for the writer.
      let before = current()
      var changed = before
      try change(&changed)
      let text = try changed.stored()
      let isDone = try await store.write { [self, changed] db in
        // Another change was faster: it is kept, and this change is applied to its result.
        guard current() == before else { return false }
        try db.execute(sql: "UPDATE person SET preferences = ? WHERE id = ?", arguments: [text, person.row])
        db.afterNextTransaction { [self] _ in
          state.withLock { $0.tables.set(changed, of: person) }
          for listener in listeners.withLock({ $0 }) { listener(.preferences(person, changed)) }
        }
        return true
      }
      if isDone { return changed }
    }
  }

  package func devices(of person: PersonID) -> [DeviceID] {
    state.withLock { $0.tables.devices(of: person) }
  }

  // MARK: Categories

  package func actions(of app: AppID, _ category: String) -> [AlertAction] { categories.actions(of: app, category) }

  package func categories(of app: AppID) -> [String: [AlertAction]] { categories.all(of: app) }

  package func isQuestion(_ app: AppID, _ category: String) -> Bool { categories.isQuestion(app, category) }

  package func putCategory(
    _ app: AppID, _ category: String, _ actions: [AlertAction], expires: Int64?
  ) async throws {
    try await categories.put(app, category, actions, expires: expires)
  }

  package func removeCategory(_ app: AppID, _ category: String) async throws {
    try await categories.remove(app, category)
  }

  package func expireCategories(now: Int64) async throws { try await categories.expire(now: now) }

  // MARK: Certificates of providers

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
      db.afterNextTransaction { [self] _ in
        state.withLock { $0.certificates[certificate.fingerprint] = certificate }
      }
    }
    guard certificate.revoked != nil else { return }
    for listener in listeners.withLock({ $0 }) { listener(.revokedCertificate(certificate.fingerprint)) }
  }

  // MARK: Batches

  /// Adds devices that are on disk to memory, with the preferences that their owners share.
  func add(
    _ records: [(device: Device, secretHash: [UInt8], registration: Registration)],
    choices: RegistrationTables.SharedPreferences
  ) {
    for (device, secretHash, registration) in records {
      state.withLock { state in
        state.tables.add(device.person, name: device.name, choices: choices)
        state.tables.add(device, secretHash: secretHash)
        state.tables.add(registration)
      }
    }
  }

  /// Removes devices that are no longer on disk from memory, and their owners that have no other device.
  package func forget(_ removed: [(device: DeviceID, person: PersonID)]) {
    for (device, person) in removed {
      state.withLock { state in
        for token in state.tables.remove(device) { state.tables.remove(token) }
        if state.tables.devices(of: person).isEmpty { state.tables.remove(person) }
      }
    }
  }

  // MARK: Implementation

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
