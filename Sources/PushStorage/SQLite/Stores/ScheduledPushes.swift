import Foundation
import GRDB
package import PushCore
import PushPolicy
import Synchronization

/// A push that was accepted for a later time (`apns-deliver-at`).
package struct ScheduledPush: Sendable {
  /// The time of delivery in milliseconds since 1970.
  package var at: Int64
  package var device: DeviceID
  package var app: AppID
  /// The team whose limit the push counts against; nil for none.
  package var team: String?
  package var id: APNSID
  package var uniqueID: APNSID
  /// The time of acceptance in milliseconds since 1970.
  package var received: Int64
  /// The expiration time that the sender set, in seconds since 1970; 0 for a single attempt; nil if the sender set
  /// none.
  package var expires: Int64?
  package var priority: UInt8
  package var collapseID: String
  /// The JSON as sent, without line breaks between its tokens.
  package var payload: [UInt8]

  package init(_ push: StoredPush, at time: Int64, expires: Int64?, team: String?) {
    (at, device, app, self.team) = (time, push.device, push.app, team)
    (id, uniqueID, received) = (push.id, push.uniqueID, push.received)
    (self.expires, priority, collapseID, payload) = (expires, push.priority, push.collapseID, push.payload)
  }
}

/// Pushes that were accepted for a later time, on disk before their 200 response. The store reports each once at
/// its time, and after a crash again until ``remove(_:)``.
///
/// Pushes that arrive during a commit share the next one. Only their counts are in memory, to enforce the limits.
package final class ScheduledPushes: Sendable {
  package enum Outcome: Sendable {
    case stored
    /// The device already has a push with this id.
    case duplicate
    /// The app, the team or the gateway has reached its limit.
    case full
  }

  /// A push with its number in the store.
  package struct Row: Sendable {
    package var number: Int64
    package var push: ScheduledPush

    package var position: Position { Position(at: push.at, number: number) }
  }

  /// A position in the order in which pushes are delivered.
  package struct Position: Sendable, Equatable {
    /// The time of delivery in milliseconds since 1970.
    package var at: Int64
    package var number: Int64

    package init(at: Int64, number: Int64) { (self.at, self.number) = (at, number) }

    /// The position before all pushes.
    fileprivate static let start = Position(at: -1, number: -1)
  }

  fileprivate struct State {
    var count = 0
    var apps: [AppID: Int] = [:]
    var teams: [String: Int] = [:]
    /// The time of the earliest push or of the earliest heartbeat that becomes late, or an earlier one.
    var next: Int64?
    /// Called when another gateway has scheduled a push.
    var adopted: @Sendable () -> Void = {}
  }

  let store: SQLiteStore
  private let state: Mutex<State>
  private let queue = CommitQueue<ScheduledPush, Outcome>()

  package init(store: SQLiteStore) throws(StoreError) {
    self.store = store
    state = Mutex(try store.load(ScheduledPushes.load))
    store.replica.onChange(of: ["scheduled", "expectation"]) { [weak self] db, changes in
      try self?.adopt(changes, db)
    }
  }

  /// The time in milliseconds since 1970 at which the first push becomes due or the first heartbeat late, or shortly
  /// before; nil if there are no pushes, and no heartbeats are expected.
  package var next: Int64? { state.withLock { $0.next } }

  /// The number of scheduled pushes.
  package var count: Int { state.withLock { $0.count } }

  /// Returns the number of scheduled pushes of an app.
  package func count(of app: AppID) -> Int { state.withLock { $0.apps[app] ?? 0 } }

  /// Stores a push. Calls `completion` when it is on disk, or with a ``StoreError`` if the disk refuses it.
  package func add(_ push: ScheduledPush, completion: @escaping @Sendable (Result<Outcome, StoreError>) -> Void) {
    let isCounted = state.withLock { state in
      guard state.hasSpace(for: push) else { return false }
      state.count(push.app, push.team, by: 1)
      return true
    }
    guard isCounted else { return completion(.success(.full)) }
    queue.append([push], commit: commit, completion: completion)
  }

  /// Returns when all pushes given so far are on disk or have failed.
  package func settle() async { await queue.settle() }

  /// Stores pushes, which are counted already. The counts are correct again when this returns.
  private func commit(_ pushes: [ScheduledPush]) async throws(StoreError) -> [Outcome] {
    do throws(StoreError) {
      let isNew = try await store.change { [self] db in
        let isNew = try pushes.map { try ScheduledPushes.insert($0, db) }
        db.afterNextTransaction { [self] _ in
          state.withLock { state in
            for (push, isNew) in zip(pushes, isNew) where isNew { state.next = min(state.next ?? .max, push.at) }
          }
        }
        return isNew
      }
      state.withLock { state in
        for (push, isNew) in zip(pushes, isNew) where !isNew { state.count(push.app, push.team, by: -1) }
      }
      return isNew.map { $0 ? .stored : .duplicate }
    } catch {
      state.withLock { state in for push in pushes { state.count(push.app, push.team, by: -1) } }
      throw error
    }
  }

  private static func insert(_ push: ScheduledPush, _ db: Database) throws -> Bool {
    let insert = try db.cachedStatement(
      sql: """
        INSERT OR IGNORE INTO scheduled (at, device, app, team, apns_id, unique_id, received, expires, priority,
          collapse_id, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    try insert.execute(
      arguments: [
        push.at, push.device.row, push.app.row, push.team, Data(push.id.stored), Data(push.uniqueID.stored),
        push.received, push.expires, Int64(push.priority), push.collapseID, Data(push.payload),
      ])
    return db.changesCount > 0
  }

  /// Takes over pushes that another gateway has scheduled, and heartbeats that it expects. That gateway delivers them; in case it has failed, this
  /// one checks them ``takeoverTime`` later.
  private func adopt(_ changes: [RowChange], _ db: Database) throws {
    let isExpected = changes.contains { $0.table == "expectation" }
    let due = try isExpected ? Expectations.next(db) : nil
    let late = due.map { $0 + ScheduledPushes.takeoverTime }
    db.afterNextTransaction { [weak self] _ in
      let listener = self?.state.withLock { state in
        if let late { state.next = min(state.next ?? .max, late) }
        for change in changes where change.table == "scheduled" && change.kind != .update {
          guard let app = change.values["app"]?.integer else { continue }
          state.count(AppID(row: app), change.values["team"]?.text, by: change.kind == .insert ? 1 : -1)
          guard change.kind == .insert, let time = change.values["at"]?.integer else { continue }
          let (due, isBeyond) = time.addingReportingOverflow(ScheduledPushes.takeoverTime)
          state.next = min(state.next ?? .max, isBeyond ? .max : due)
        }
        return state.adopted
      }
      listener?()
    }
  }

  /// The delay in milliseconds before this gateway checks pushes of another one.
  private static let takeoverTime: Int64 = 5_000

  /// Sets the callback for pushes that another gateway has scheduled.
  package func onAdoption(_ adopted: @escaping @Sendable () -> Void) { state.withLock { $0.adopted = adopted } }

  /// Runs a change that may schedule pushes, in one transaction with them. The limits do not apply to these pushes.
  ///
  /// - Throws: an error of `change`, and ``StoreError``.
  @inline(never)
  func change<Value: Sendable>(
    _ change: @escaping @Sendable (Database) throws -> (Value, [ScheduledPush])
  ) async throws -> Value {
    do {
      return try await store.write { [self] db in
        let (value, pushes) = try change(db)
        let stored = try pushes.filter { try ScheduledPushes.insert($0, db) }
        let next = try ScheduledPushes.next(db)
        db.afterNextTransaction { [self] _ in
          state.withLock { state in
            for push in stored { state.count(push.app, push.team, by: 1) }
            state.next = next
          }
        }
        return value
      }
    } catch let error as StoreError {
      // The commit may have happened, as in ``remove(_:)``.
      state.withLock { $0.next = $0.next ?? 0 }
      throw error
    }
  }

  // MARK: Reading

  /// Returns the time of the first push or of the first heartbeat that becomes late; nil if there is none.
  private static func next(_ db: Database) throws -> Int64? {
    let push = try Int64.fetchOne(db, sql: "SELECT min(at) FROM scheduled")
    let heartbeat = try Expectations.next(db)
    return [push, heartbeat].compactMap(\.self).min()
  }

  /// Returns the due pushes after `position`, in the order of their times, without the pushes of `apps`.
  ///
  /// - Parameter now: milliseconds since 1970.
  @inline(never)
  package func due(
    at now: Int64, after position: Position? = nil, limit: Int, without apps: Set<AppID> = []
  ) async throws -> [Row] {
    let position = position ?? .start
    let others = apps.isEmpty ? "" : "AND app NOT IN (\(apps.map { "\($0.row)" }.joined(separator: ",")))"
    return try await rows(
      "WHERE (at, number) > (?, ?) AND at <= ? \(others) ORDER BY at, number LIMIT \(limit)",
      [position.at, position.number, now])
  }

  /// Reads the time of the first push again. Needed if no due push was found, because a push that is counted in
  /// ``next`` may not have been stored.
  package func refresh() async throws {
    try await store.change { [self] db in
      let next = try ScheduledPushes.next(db)
      state.withLock { $0.next = next }
    }
  }

  /// Returns the pushes after `position`, in the order of their times; nil: from the first one.
  @inline(never)
  package func list(after position: Position?, limit: Int) async throws -> [Row] {
    let position = position ?? .start
    return try await rows(
      "WHERE (at, number) > (?, ?) ORDER BY at, number LIMIT \(limit)", [position.at, position.number])
  }

  private func rows(_ condition: String, _ values: [Int64]) async throws -> [Row] {
    try await store.read { db in
      let rows = try PreparedStatement(db, "SELECT \(ScheduledPushes.columns) FROM scheduled " + condition)
      for value in values { rows.bind(value) }
      return try rows.map(ScheduledPushes.row)
    }
  }

  // MARK: Removing

  /// A push that is no longer scheduled.
  package struct Removed: Sendable {
    package var number: Int64
    package var device: DeviceID
    package var app: AppID
    package var id: APNSID
    fileprivate var team: String?
  }

  /// Removes pushes that were delivered or have expired.
  ///
  /// - Returns: the numbers of the pushes that no other gateway of a cluster has removed before.
  @inline(never)
  @discardableResult
  package func remove(_ numbers: [Int64]) async throws -> Set<Int64> {
    if numbers.isEmpty { return [] }
    return Set(try await remove(numbers.map { ("number = ?", [$0.databaseValue]) }).map(\.number))
  }

  @inline(never)
  package func cancel(_ id: APNSID) async throws -> [Removed] {
    try await remove([("substr(apns_id, 1, 16) = ?", [Data(id.stored.prefix(16)).databaseValue])])
  }

  /// Cancels the pushes with an id that are scheduled for devices, of one app or of all.
  @inline(never)
  package func cancel(_ id: APNSID, of app: AppID?, for devices: [DeviceID]) async throws -> [Removed] {
    if count == 0 { return [] }
    let id = Data(id.stored.prefix(16)).databaseValue
    return try await remove(
      devices.map { device in
        (
          "device = ?1 AND substr(apns_id, 1, 16) = ?2 AND (?3 IS NULL OR app = ?3)",
          [device.row.databaseValue, id, app?.row.databaseValue ?? .null]
        )
      })
  }

  /// Cancels the pushes that are scheduled for devices, of one app or of all.
  @inline(never)
  package func purge(_ devices: [DeviceID], app: AppID? = nil) async throws -> [Removed] {
    if count == 0 { return [] }
    return try await remove(
      devices.map { device in
        guard let app else { return ("device = ?", [device.row.databaseValue]) }
        return ("device = ? AND app = ?", [device.row.databaseValue, app.row.databaseValue])
      })
  }

  /// Cancels the scheduled pushes of an app.
  package func purge(_ app: AppID) async throws -> [Removed] {
    try await remove([("app = ?", [app.row.databaseValue])])
  }

  private func remove(_ conditions: [(String, [DatabaseValue])]) async throws -> [Removed] {
    do {
      return try await store.change { [self] db in
        var removed: [Removed] = []
        for (condition, values) in conditions {
          let rows = try GRDB.Row.fetchAll(
            db, sql: "DELETE FROM scheduled WHERE \(condition) RETURNING number, device, app, apns_id, team",
            arguments: StatementArguments(values))
          for row in rows {
            guard let id = APNSID(stored: Array(row["apns_id"] as Data)) else { continue }
            removed.append(
              Removed(
                number: row["number"], device: DeviceID(row: row["device"]), app: AppID(row: row["app"]), id: id,
                team: row["team"]))
          }
        }
        let next = try ScheduledPushes.next(db)
        // Writes run one at a time: later additions are counted after this.
        let gone = removed
        db.afterNextTransaction { [self] _ in
          state.withLock { state in
            for push in gone { state.count(push.app, push.team, by: -1) }
            state.next = next
          }
        }
        return gone
      }
    } catch {
      // The commit may have happened. An early time is harmless; if there is none, zero makes the schedule read it
      // again.
      state.withLock { $0.next = $0.next ?? 0 }
      throw error
    }
  }

  // MARK: Rows

  private static let columns =
    "number, at, device, app, team, apns_id, unique_id, received, expires, priority, collapse_id, payload"

  /// Reads every row to check it, as a start does, and discards the result.
  static func checkRows(_ db: Database) throws {
    let rows = try PreparedStatement(db, "SELECT \(columns) FROM scheduled")
    while try rows.next() { _ = try row(rows) }
  }

  private static func load(_ db: Database) throws -> State {
    var state = State()
    let rows = try PreparedStatement(db, "SELECT app, team, at FROM scheduled")
    while try rows.next() {
      state.count(AppID(row: try rows.integer(0, in: ColumnBounds.app)), try rows.optionalText(1), by: 1)
      state.next = min(state.next ?? .max, try rows.integer(2, in: ColumnBounds.milliseconds))
    }
    if let heartbeat = try Expectations.next(db) { state.next = min(state.next ?? .max, heartbeat) }
    return state
  }

  private static func row(_ row: PreparedStatement) throws -> Row {
    guard let id = row.id(5) else { throw row.damage(5, "expected 20 bytes") }
    guard let uniqueID = row.id(6) else { throw row.damage(6, "expected 20 bytes") }
    let payload = row.blob(11)
    guard (try? JSONParser(maximumDepth: Limits.maximumStoredDepth).payload(payload.span)) != nil else {
      throw row.damage(11, "expected a JSON object")
    }
    let push = StoredPush(
      device: DeviceID(row: try row.integer(2, in: ColumnBounds.recipient)),
      app: AppID(row: try row.integer(3, in: ColumnBounds.app)), id: id,
      isSenderID: true, uniqueID: uniqueID, received: try row.integer(7, in: ColumnBounds.milliseconds), expires: 0,
      priority: try row.priority(9), collapseID: try row.text(10), payload: payload)
    return Row(
      number: try row.integer(0, in: ColumnBounds.number),
      push: ScheduledPush(
        push, at: try row.integer(1, in: ColumnBounds.milliseconds),
        expires: try row.optionalInteger(8, in: ColumnBounds.seconds), team: try row.optionalText(4)))
  }
}

extension ScheduledPushes.State {
  /// Returns true if one more push is within the limits.
  fileprivate func hasSpace(for push: ScheduledPush) -> Bool {
    count < Limits.maximumScheduled && apps[push.app] ?? 0 < Limits.maximumAppScheduled
      && push.team.map { teams[$0] ?? 0 < Limits.maximumTeamScheduled } ?? true
  }

  fileprivate mutating func count(_ app: AppID, _ team: String?, by change: Int) {
    count += change
    func counted(_ number: Int?) -> Int? { (number ?? 0) + change > 0 ? (number ?? 0) + change : nil }
    apps[app] = counted(apps[app])
    if let team { teams[team] = counted(teams[team]) }
  }
}
