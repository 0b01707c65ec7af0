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

  struct Category: Sendable {
    var actions: [AlertAction]
    /// The expiration time in seconds since 1970; nil if the category does not expire.
    var expires: Int64?
  }

  let categoriesByApp: Mutex<[AppID: [String: Category]]>
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
    categoriesByApp = Mutex(try store.load(SQLiteRegistrations.loadCategories))
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
    store.replica.onChange(of: ["category"]) { [weak self] db, _ in
      let fresh = try SQLiteRegistrations.loadCategories(db)
      db.afterNextTransaction { [weak self] _ in self?.categoriesByApp.withLock { $0 = fresh } }
    }
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

  /// The number of a new device, as SQL. A former number is never assigned again: the log, mailboxes and channels
  /// refer to it, and the new device would inherit their data.
  static let nextDevice = """
    (SELECT 1 + max(ifnull((SELECT max(id) FROM device), 0), ifnull((SELECT max(id) FROM former_device), 0)))
    """

  /// Changes the state in memory when the transaction is committed.
  func afterCommit(_ db: Database, _ change: @escaping @Sendable (inout State) -> Void) {
    db.afterNextTransaction { [self] _ in state.withLock { change(&$0) } }
  }

  static func requirePersonName(_ name: String) throws(Refusal) {
    guard ShownName.isValid(name) else {
      throw Refusal(kind: .invalid, description: "invalid name of a user: expected \(ShownName.expected)")
    }
  }

  static func newSecret() -> String { Digest.hex(randomBytes(count: 32)) }

  static func hash(of secret: String) -> [UInt8] { Digest.sha256(Array(secret.utf8)) }

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
}
