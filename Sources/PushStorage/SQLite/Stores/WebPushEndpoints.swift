import Foundation
import GRDB
package import PushCore
import Synchronization

/// A Web Push endpoint of a device (RFC 8030): an address to which any sender can post. The id in the address is not part
/// of it.
package struct WebPushEndpoint: Sendable, Equatable {
  /// The name, unique for the device.
  package var name: String
  package var device: DeviceID
  package var app: AppID
  /// The scheme, host and port of the address, which a sender's VAPID token must name.
  package var origin: String
  /// The public key of the only sender that may post, as a point; nil: any sender.
  package var vapid: [UInt8]?
  /// The time of creation in milliseconds since 1970.
  package var created: Int64
  /// The time of removal in milliseconds since 1970; nil while the endpoint is in use.
  package var removed: Int64?

  package init(
    name: String, device: DeviceID, app: AppID, origin: String, vapid: [UInt8]?, created: Int64, removed: Int64? = nil
  ) {
    (self.name, self.device, self.app, self.origin) = (name, device, app, origin)
    (self.vapid, self.created, self.removed) = (vapid, created, removed)
  }
}

/// The Web Push endpoints of all devices: all of them in memory, each change on disk first. The gateway keeps only the
/// hashes of their ids. A removed endpoint stays for ``Limits/endpointRetention``, so that its senders get 410.
package final class WebPushEndpoints: Sendable {
  struct State {
    /// The endpoints by the SHA-256 hash of their id: with a lookup by hash, the response time reveals nothing about an id.
    var endpoints: [[UInt8]: WebPushEndpoint] = [:]
    /// The hashes of a device's endpoints.
    var hashes: [DeviceID: Set<[UInt8]>] = [:]

    mutating func put(_ endpoint: WebPushEndpoint, _ hash: [UInt8]) {
      endpoints[hash] = endpoint
      hashes[endpoint.device, default: []].insert(hash)
    }

    mutating func remove(_ hash: [UInt8]) {
      guard let endpoint = endpoints.removeValue(forKey: hash) else { return }
      hashes[endpoint.device]?.remove(hash)
      if hashes[endpoint.device]?.isEmpty == true { hashes[endpoint.device] = nil }
    }

    func all(of device: DeviceID) -> [(hash: [UInt8], endpoint: WebPushEndpoint)] {
      (hashes[device] ?? []).compactMap { hash in endpoints[hash].map { (hash: hash, endpoint: $0) } }
    }
  }

  private let store: SQLiteStore
  private let state: Mutex<State>

  /// Reads all endpoints into memory.
  ///
  /// - Throws: ``StoreError`` if a row can't be read.
  package init(store: SQLiteStore) throws(StoreError) {
    self.store = store
    state = Mutex(try store.load(WebPushEndpoints.load))
    store.replica.onChange(of: ["web_push_endpoint"]) { [weak self] db, _ in
      let fresh = try WebPushEndpoints.load(db)
      db.afterNextTransaction { [weak self] _ in self?.state.withLock { $0 = fresh } }
    }
  }

  /// Returns the endpoint of an id, which may be removed; nil for an unknown id.
  package func find(_ id: String) -> WebPushEndpoint? {
    let hash = Digest.sha256(Array(id.utf8))
    return state.withLock { $0.endpoints[hash] }
  }

  /// Returns the endpoints of a device that are in use, sorted by name.
  package func list(of device: DeviceID) -> [WebPushEndpoint] {
    let all = state.withLock { $0.all(of: device) }
    return all.map(\.endpoint).filter { $0.removed == nil }.sorted { $0.name < $1.name }
  }

  /// Adds an endpoint. Only the hash of its id is stored.
  ///
  /// - Throws: ``RegistrationRefusal`` if the name is invalid or taken, or the device has too many, and ``StoreError``.
  @inline(never)
  package func add(_ endpoint: WebPushEndpoint, id: String) async throws {
    guard ShownName.isValid(endpoint.name) else {
      throw RegistrationRefusal(
        kind: .invalid, description: "invalid name of an endpoint: expected \(ShownName.expected)")
    }
    let hash = Digest.sha256(Array(id.utf8))
    try await store.write { [self] db in
      let own = state.withLock { $0.all(of: endpoint.device) }.map(\.endpoint).filter { $0.removed == nil }
      guard !own.contains(where: { $0.name == endpoint.name }) else {
        throw RegistrationRefusal(
          kind: .conflict,
          description: "the device has an endpoint \(endpoint.name) already: choose another name, or "
            + "`pushcli endpoints remove` it first")
      }
      guard own.count < Limits.maximumDeviceEndpoints else {
        throw RegistrationRefusal(
          kind: .conflict, description: "a device has at most \(Limits.maximumDeviceEndpoints) endpoints: remove one")
      }
      try db.execute(
        sql: """
          INSERT INTO web_push_endpoint (id_hash, name, device, app, origin, vapid, created)
            VALUES (?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          Data(hash), endpoint.name, endpoint.device.row, endpoint.app.row, endpoint.origin,
          endpoint.vapid.map { Data($0) }, endpoint.created,
        ])
      db.afterNextTransaction { [self] _ in state.withLock { $0.put(endpoint, hash) } }
    }
  }

  /// Removes an endpoint of a device: its senders get 410 from now on.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Throws: ``RegistrationRefusal`` if the device has no endpoint of this name, and ``StoreError``.
  @inline(never)
  package func remove(_ name: String, of device: DeviceID, at now: Int64) async throws {
    guard list(of: device).contains(where: { $0.name == name }) else {
      throw RegistrationRefusal(
        kind: .unknown, description: "the device has no endpoint \(name): `pushcli endpoints` shows them")
    }
    try await end(at: now, where: { $0.name == name }, in: { $0.all(of: device) })
  }

  /// Removes all endpoints of a device that was removed.
  @inline(never)
  package func forget(_ device: DeviceID, at now: Int64) async throws {
    guard !list(of: device).isEmpty else { return }
    try await end(at: now, where: { _ in true }, in: { $0.all(of: device) })
  }

  /// Removes the endpoints of an app.
  @inline(never)
  package func forget(_ app: AppID, at now: Int64) async throws {
    try await end(
      at: now, where: { $0.app == app }, in: { state in state.endpoints.map { (hash: $0.key, endpoint: $0.value) } })
  }

  /// Marks endpoints that are in use as removed, and forgets the oldest removed ones of each device beyond
  /// ``Limits/maximumDeviceEndpoints``.
  @inline(never)
  private func end(
    at now: Int64, where isMeant: @escaping @Sendable (WebPushEndpoint) -> Bool,
    in candidates: @escaping @Sendable (State) -> [(hash: [UInt8], endpoint: WebPushEndpoint)]
  ) async throws {
    try await store.write { [self] db in
      let (ended, forgotten) = state.withLock { state in
        let ended = candidates(state).filter { $0.endpoint.removed == nil && isMeant($0.endpoint) }
        let forgotten = Set(ended.map(\.endpoint.device)).flatMap { device in
          WebPushEndpoints.excess(of: state.all(of: device), adding: ended.count { $0.endpoint.device == device })
        }
        return (ended, forgotten)
      }
      for (hash, _) in ended {
        try db.execute(
          sql: "UPDATE web_push_endpoint SET removed = ? WHERE id_hash = ?", arguments: [now, Data(hash)])
      }
      try WebPushEndpoints.delete(forgotten, db)
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          for (hash, endpoint) in ended {
            var endpoint = endpoint
            endpoint.removed = now
            state.put(endpoint, hash)
          }
          for hash in forgotten { state.remove(hash) }
        }
      }
    }
  }

  /// Returns the hashes of the oldest removed endpoints that make no space for further ones.
  private static func excess(
    of endpoints: [(hash: [UInt8], endpoint: WebPushEndpoint)], adding count: Int
  ) -> [[UInt8]] {
    let removed = endpoints.filter { $0.endpoint.removed != nil }
    let oldest = removed.sorted { ($0.endpoint.removed ?? 0) < ($1.endpoint.removed ?? 0) }
    return oldest.prefix(max(0, removed.count + count - Limits.maximumDeviceEndpoints)).map(\.hash)
  }

  private static func delete(_ hashes: [[UInt8]], _ db: Database) throws {
    for hash in hashes {
      try db.execute(sql: "DELETE FROM web_push_endpoint WHERE id_hash = ?", arguments: [Data(hash)])
    }
  }

  /// Forgets endpoints that were removed long ago.
  ///
  /// - Parameter now: milliseconds since 1970.
  @inline(never)
  package func trim(now: Int64) async throws {
    let end = now - Limits.endpointRetention * 1000
    let old = state.withLock { state in state.endpoints.filter { $0.value.removed ?? .max < end }.map(\.key) }
    guard !old.isEmpty else { return }
    try await store.write { [self] db in
      try WebPushEndpoints.delete(old, db)
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          for hash in old { state.remove(hash) }
        }
      }
    }
  }

  static func load(_ db: Database) throws -> State {
    let rows = try PreparedStatement(
      db, "SELECT id_hash, name, device, app, origin, vapid, created, removed FROM web_push_endpoint")
    var state = State()
    while try rows.next() {
      let vapid = rows.isNull(5) ? nil : rows.blob(5)
      if let vapid, (try? ES256Key(publicPoint: vapid)) == nil { throw rows.damage(5, "expected a P-256 point") }
      state.put(
        WebPushEndpoint(
          name: try rows.text(1), device: DeviceID(row: try rows.integer(2)),
          app: AppID(row: try rows.integer(3, in: ColumnBounds.app)), origin: try rows.text(4), vapid: vapid,
          created: try rows.integer(6, in: ColumnBounds.milliseconds),
          removed: try rows.optionalInteger(7, in: ColumnBounds.milliseconds)), rows.blob(0))
    }
    return state
  }
}
