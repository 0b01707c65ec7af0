import Foundation
import GRDB
package import PushCore
package import PushPolicy
import Synchronization

/// The subscription of a device's browser at its push service (RFC 8030): the address of the service, and the keys for
/// messages to the browser.
package struct PushSubscription: Sendable, Equatable {
  package var device: DeviceID
  /// The address to which messages are posted. It authorizes the sender.
  package var endpoint: String
  /// The public key of the browser as a point, and the secret that authenticates messages to it (RFC 8291 §3.2).
  package var key: [UInt8]
  package var secret: [UInt8]
  /// The origin of the page that subscribed.
  package var origin: String
  /// True if the browser permits messages that show nothing.
  package var allowsQuiet: Bool
  /// The state of the device when its page was last open.
  package var state: Policy.DeviceState
  /// The time of creation in milliseconds since 1970.
  package var created: Int64
  /// The status with which the push service refused a message; nil while the subscription is in use.
  package var refused: Int?

  package init(
    device: DeviceID, endpoint: String, key: [UInt8], secret: [UInt8], origin: String, allowsQuiet: Bool = false,
    state: Policy.DeviceState = .init(), created: Int64
  ) {
    (self.device, self.endpoint, self.key, self.secret) = (device, endpoint, key, secret)
    (self.origin, self.allowsQuiet, self.state, self.created) = (origin, allowsQuiet, state, created)
  }

  /// Returns true if `other` differs at most in its time of creation. A refused subscription differs from a new one.
  fileprivate func isSame(as other: PushSubscription) -> Bool {
    var other = other
    other.created = created
    return self == other
  }
}

/// The subscriptions of all devices, at most one for each: all in memory, each change on disk first. The gateways of a
/// cluster share them, and the key that identifies the gateway to push services.
package final class PushSubscriptions: Sendable {
  struct State {
    var subscriptions: [DeviceID: PushSubscription] = [:]
    /// The private key; nil until the first subscription needs it.
    var key: ES256Key?
  }

  private let store: SQLiteStore
  private let state: Mutex<State>
  private let size: Atomic<Int>

  /// Reads all subscriptions into memory.
  ///
  /// - Throws: ``StoreError`` if a row can't be read.
  package init(store: SQLiteStore) throws(StoreError) {
    self.store = store
    let loaded = try store.load(PushSubscriptions.load)
    size = Atomic(loaded.subscriptions.count)
    state = Mutex(loaded)
    store.replica.onChange(of: ["push_subscription", "push_service_key"]) { [weak self] db, _ in
      let fresh = try PushSubscriptions.load(db)
      db.afterNextTransaction { [weak self] _ in self?.update { $0 = fresh } }
    }
  }

  /// The number of subscriptions. Each push reads it, without a lock.
  package var count: Int { size.load(ordering: .relaxed) }

  /// Returns the subscription of a device; nil if it has none.
  package func find(_ device: DeviceID) -> PushSubscription? { state.withLock { $0.subscriptions[device] } }

  /// Returns the elements whose device has a subscription that is in use.
  package func filter<Element: Sendable>(_ elements: [Element], device: (Element) -> DeviceID) -> [Element] {
    state.withLock { state in
      elements.filter { element in state.subscriptions[device(element)].map { $0.refused == nil } ?? false }
    }
  }

  /// The subscriptions with a message that their push service refused, in the order of their devices.
  package var refused: [PushSubscription] {
    state.withLock { $0.subscriptions.values.filter { $0.refused != nil } }.sorted { $0.device.row < $1.device.row }
  }

  /// Returns the key that identifies the gateway to push services. The first call makes it.
  @inline(never)
  package func key() async throws -> ES256Key {
    if let known = state.withLock({ $0.key }) { return known }
    return try await store.write { [self] db in
      if let stored = try PushSubscriptions.load(db).key {
        db.afterNextTransaction { [self] _ in update { $0.key = stored } }
        return stored
      }
      let made = try ES256Key.generate()
      try db.execute(
        sql: "INSERT INTO push_service_key (number, key) VALUES (1, ?)",
        arguments: [String(decoding: made.privatePEM, as: UTF8.self)])
      db.afterNextTransaction { [self] _ in update { $0.key = made } }
      return made
    }
  }

  /// Stores the subscription of a device in place of an earlier one. Another device with the same endpoint loses it: the
  /// browser has become this device. An unchanged subscription is not written.
  @inline(never)
  package func put(_ subscription: PushSubscription) async throws {
    if let known = find(subscription.device), subscription.isSame(as: known) { return }
    try await store.write { [self] db in
      try db.execute(
        sql: "DELETE FROM push_subscription WHERE endpoint = ? AND device <> ?",
        arguments: [subscription.endpoint, subscription.device.row])
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO push_subscription
            (device, endpoint, key, secret, origin, quiet, silent, focus, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          subscription.device.row, subscription.endpoint, Data(subscription.key), Data(subscription.secret),
          subscription.origin, subscription.allowsQuiet, subscription.state.isSilent, subscription.state.focus,
          subscription.created,
        ])
      db.afterNextTransaction { [self] _ in
        update { state in
          state.subscriptions = state.subscriptions.filter { $0.value.endpoint != subscription.endpoint }
          state.subscriptions[subscription.device] = subscription
        }
      }
    }
  }

  /// Removes the subscription of a device.
  ///
  /// - Parameter endpoint: the address that the subscription must have; nil: any.
  @inline(never)
  package func remove(_ device: DeviceID, endpoint: String? = nil) async throws {
    guard let known = find(device), endpoint == nil || known.endpoint == endpoint else { return }
    try await store.write { [self] db in
      try db.execute(
        sql: "DELETE FROM push_subscription WHERE device = ? AND endpoint = ?", arguments: [device.row, known.endpoint])
      db.afterNextTransaction { [self] _ in
        update { if $0.subscriptions[device]?.endpoint == known.endpoint { $0.subscriptions[device] = nil } }
      }
    }
  }

  /// Stops the messages to a subscription that its push service refused, until the page subscribes again.
  ///
  /// - Parameter status: the status of the refusal.
  @inline(never)
  package func refuse(_ subscription: PushSubscription, status: Int) async throws {
    try await store.write { [self] db in
      try db.execute(
        sql: "UPDATE push_subscription SET refused = ? WHERE device = ? AND endpoint = ?",
        arguments: [status, subscription.device.row, subscription.endpoint])
      db.afterNextTransaction { [self] _ in
        update { state in
          guard state.subscriptions[subscription.device]?.endpoint == subscription.endpoint else { return }
          state.subscriptions[subscription.device]?.refused = status
        }
      }
    }
  }

  /// Removes the subscriptions of devices with a revoked secret from memory. The transaction that revoked the secret has
  /// deleted their rows.
  package func forget(_ devices: [DeviceID]) {
    guard count > 0 else { return }
    update { state in for device in devices { state.subscriptions[device] = nil } }
  }

  private func update(_ change: (inout State) -> Void) {
    state.withLock { state in
      change(&state)
      size.store(state.subscriptions.count, ordering: .relaxed)
    }
  }

  // MARK: Rows

  static func load(_ db: Database) throws -> State {
    var state = State()
    let keys = try PreparedStatement(db, "SELECT number, key FROM push_service_key ORDER BY number DESC")
    while try keys.next() {
      _ = try keys.integer(0)
      guard let key = try? ES256Key(privatePEM: Array(try keys.text(1).utf8)) else {
        throw keys.damage(1, "expected a private key of P-256")
      }
      state.key = key
    }
    let rows = try PreparedStatement(
      db,
      """
      SELECT device, endpoint, key, secret, origin, quiet, silent, focus, created, refused FROM push_subscription
      """)
    while try rows.next() {
      let (key, secret) = (rows.blob(2), rows.blob(3))
      guard (try? ES256Key(publicPoint: key)) != nil else { throw rows.damage(2, "expected a P-256 point") }
      guard secret.count == WebPushEncryption.secretSize else { throw rows.damage(3, "expected 16 bytes") }
      var subscription = PushSubscription(
        device: DeviceID(row: try rows.integer(0)), endpoint: try rows.text(1), key: key, secret: secret,
        origin: try rows.text(4), allowsQuiet: try rows.integer(5) != 0,
        created: try rows.integer(8, in: ColumnBounds.milliseconds))
      subscription.state.isSilent = try rows.integer(6) != 0
      subscription.state.focus = try rows.optionalText(7)
      subscription.refused = try rows.optionalInteger(9).map { Int($0) }
      state.subscriptions[subscription.device] = subscription
    }
    return state
  }
}
