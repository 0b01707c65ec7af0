import Foundation
import GRDB
package import PushCore
import Synchronization

/// A server that gets the events of the delivery log by HTTP (docs/send/delivery-events.md).
package struct EventTarget: Sendable, Equatable {
  package var name: String
  /// The address of the server.
  package var url: String
  /// The apps whose events are sent; nil: all apps.
  package var apps: [AppID]?
  /// The events to send; nil: all events.
  package var events: Set<DeliveryEvent>?
  /// The secret that signs each request (``WebhookSignature``).
  package var secret: String
  /// The previous secret; nil: there was none.
  package var formerSecret: String?
  /// The time at which the secret replaced the previous one, in milliseconds since 1970.
  package var rotated: Int64?
  /// The certificates that are trusted in addition to the system, as PEM; nil: none.
  package var authority: String?
  /// The time of creation in milliseconds since 1970. Earlier events are not sent.
  package var created: Int64
  /// The time at which the server answered 410, in milliseconds since 1970; nil while the target is in use.
  package var disabled: Int64?

  package init(
    name: String, url: String, apps: [AppID]? = nil, events: Set<DeliveryEvent>? = nil, secret: String,
    authority: String? = nil, created: Int64
  ) {
    (self.name, self.url, self.apps, self.events) = (name, url, apps, events)
    (self.secret, self.authority, self.created) = (secret, authority, created)
  }

  /// Returns the secrets that sign a request: also the previous one for ``Limits/formerSecretTime``.
  ///
  /// - Parameter now: seconds since 1970.
  package func secrets(at now: Int64) -> [String] {
    guard let formerSecret, let rotated, now < rotated / 1000 + Limits.formerSecretTime else { return [secret] }
    return [secret, formerSecret]
  }
}

/// The event targets: all in memory, each change on disk first. The gateways of a cluster share them.
package final class EventTargets: Sendable {
  private let store: SQLiteStore
  private let state: Mutex<[String: EventTarget]>
  /// See ``onChange(_:)``.
  private let changed = Mutex<@Sendable () -> Void>({})

  /// Reads all targets into memory.
  ///
  /// - Throws: ``StoreError`` if a row can't be read.
  package init(store: SQLiteStore) throws(StoreError) {
    self.store = store
    state = Mutex(try store.load(EventTargets.load))
    store.replica.onChange(of: ["event_target"]) { [weak self] db, _ in
      let fresh = try EventTargets.load(db)
      db.afterNextTransaction { [weak self] _ in self?.update { $0 = fresh } }
    }
  }

  /// All targets, sorted by name.
  package var list: [EventTarget] { state.withLock { $0 }.values.sorted { $0.name < $1.name } }

  /// Sets the callback after each change, also by another gateway of a cluster. It may be called on any thread.
  package func onChange(_ changed: @escaping @Sendable () -> Void) { self.changed.withLock { $0 = changed } }

  /// Returns the target with a name.
  ///
  /// - Throws: ``RegistrationRefusal`` for an unknown name.
  package func target(named name: String) throws -> EventTarget {
    guard let target = state.withLock({ $0[name] }) else { throw EventTargets.unknown(name) }
    return target
  }

  /// Adds a target.
  ///
  /// - Throws: ``RegistrationRefusal`` if the name is invalid or taken, or at the maximum number of targets, and
  ///   ``StoreError``.
  @inline(never)
  package func add(_ target: EventTarget) async throws {
    guard MessageSender.isValid(name: target.name) else {
      throw RegistrationRefusal(
        kind: .invalid, description: "invalid name of an event target: expected \(MessageSender.expectedName)")
    }
    try await store.write { [self] db in
      let known = try EventTargets.load(db)
      guard known[target.name] == nil else {
        throw RegistrationRefusal(
          kind: .conflict,
          description: "there is an event target \(target.name) already: choose another name, or "
            + "`pushcli event-targets remove` it first")
      }
      guard known.count < Limits.maximumEventTargets else {
        throw RegistrationRefusal(
          kind: .conflict, description: "a gateway has at most \(Limits.maximumEventTargets) event targets: remove one")
      }
      try put(target, db)
    }
  }

  /// Replaces the secret of a target; the previous one also signs for ``Limits/formerSecretTime`` seconds.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Throws: ``RegistrationRefusal`` if there is no target of this name, and ``StoreError``.
  @inline(never)
  package func rotate(_ name: String, secret: String, at now: Int64) async throws {
    try await change(name) { target in
      (target.formerSecret, target.rotated, target.secret) = (target.secret, now, secret)
    }
  }

  /// Stops the requests to a target that has answered 410.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Throws: ``RegistrationRefusal`` if there is no target of this name, and ``StoreError``.
  @inline(never)
  package func disable(_ name: String, at now: Int64) async throws { try await change(name) { $0.disabled = now } }

  /// Resumes the requests to a target that has answered 410.
  ///
  /// - Throws: ``RegistrationRefusal`` if there is no target of this name, and ``StoreError``.
  @inline(never)
  package func resume(_ name: String) async throws { try await change(name) { $0.disabled = nil } }

  /// Removes a target.
  ///
  /// - Throws: ``RegistrationRefusal`` if there is no target of this name, and ``StoreError``.
  @inline(never)
  package func remove(_ name: String) async throws {
    try await store.write { [self] db in
      try db.execute(sql: "DELETE FROM event_target WHERE name = ?", arguments: [name])
      guard db.changesCount > 0 else { throw EventTargets.unknown(name) }
      db.afterNextTransaction { [self] _ in update { $0[name] = nil } }
    }
  }

  @inline(never)
  private func change(_ name: String, _ change: @escaping @Sendable (inout EventTarget) -> Void) async throws {
    try await store.write { [self] db in
      guard var target = try EventTargets.load(db)[name] else { throw EventTargets.unknown(name) }
      change(&target)
      try put(target, db)
    }
  }

  private func update(_ change: (inout [String: EventTarget]) -> Void) {
    state.withLock { change(&$0) }
    changed.withLock { $0 }()
  }

  private static func unknown(_ name: String) -> RegistrationRefusal {
    RegistrationRefusal(
      kind: .unknown, description: "there is no event target \(name): `pushcli event-targets` shows them")
  }

  // MARK: Rows

  private func put(_ target: EventTarget, _ db: Database) throws {
    try db.execute(
      sql: """
        INSERT OR REPLACE INTO event_target
          (name, url, apps, events, secret, former_secret, rotated, authority, created, disabled)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        target.name, target.url, target.apps.map { "\($0.map(\.row))" }, try target.events.map(EventTargets.text),
        target.secret, target.formerSecret, target.rotated, target.authority, target.created, target.disabled,
      ])
    db.afterNextTransaction { [self] _ in update { $0[target.name] = target } }
  }

  private static func text(_ events: Set<DeliveryEvent>) throws -> String {
    String(decoding: try JSONEncoder().encode(events.map(\.rawValue).sorted()), as: UTF8.self)
  }

  static func load(_ db: Database) throws -> [String: EventTarget] {
    let rows = try PreparedStatement(
      db,
      """
      SELECT name, url, apps, events, secret, former_secret, rotated, authority, created, disabled FROM event_target
      """)
    var targets: [String: EventTarget] = [:]
    while try rows.next() {
      let apps: [Int64]? = rows.isNull(2) ? nil : try rows.json(2, as: [Int64].self)
      let events: [String]? = rows.isNull(3) ? nil : try rows.json(3, as: [String].self)
      var target = EventTarget(
        name: try rows.text(0), url: try rows.text(1),
        apps: apps?.filter { ColumnBounds.app.contains($0) }.map { AppID(row: $0) },
        // An event of a later version is skipped.
        events: events.map { Set($0.compactMap(DeliveryEvent.init(rawValue:))) }, secret: try rows.text(4),
        authority: try rows.optionalText(7), created: try rows.integer(8, in: ColumnBounds.milliseconds))
      target.formerSecret = try rows.optionalText(5)
      target.rotated = try rows.optionalInteger(6, in: ColumnBounds.milliseconds)
      target.disabled = try rows.optionalInteger(9, in: ColumnBounds.milliseconds)
      targets[target.name] = target
    }
    return targets
  }
}
