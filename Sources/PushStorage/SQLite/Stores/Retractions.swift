import Foundation
import GRDB
package import PushCore
import Synchronization

/// The pushes that senders have retracted, with their recipients. They are on disk before anything is reported, so
/// that a crash does not restore a push; and in memory, because each pending push is checked before delivery.
///
/// The last ``Limits/maximumRetractions`` of each app are kept, for ``Limits/retractionRetention`` at most. A push
/// whose retraction is no longer kept stays on the screen of a device that was offline for that time.
package final class Retractions: Sendable {
  /// A push that must no longer be shown to a user.
  package struct Retraction: Sendable, Equatable {
    package var id: APNSID
    package var person: PersonID
    /// The app of the push; nil for any app.
    package var app: AppID?
    /// The time of the retraction in milliseconds since 1970.
    package var at: Int64
  }

  private struct Key: Hashable {
    var person: PersonID
    var id: APNSID
  }

  private struct State {
    var byPerson: [PersonID: [Retraction]] = [:]
    /// The apps of each retracted push of a user; few.
    var apps: [Key: [AppID?]] = [:]
    var counts: [AppID?: Int] = [:]

    func contains(_ id: APNSID, of person: PersonID, app: AppID?) -> Bool {
      apps[Key(person: person, id: id)]?.contains { $0 == nil || $0 == app } ?? false
    }

    mutating func add(_ one: Retraction) {
      byPerson[one.person, default: []].append(one)
      apps[Key(person: one.person, id: one.id), default: []].append(one.app)
      counts[one.app, default: 0] += 1
    }
  }

  private let store: SQLiteStore
  private let state: Mutex<State>
  private let count: Atomic<Int>

  package init(store: SQLiteStore) throws(StoreError) {
    self.store = store
    let all = try store.load { try Retractions.rows($0) }
    var state = State()
    for one in all { state.add(one) }
    self.state = Mutex(state)
    count = Atomic(all.count)
    store.replica.onChange(of: ["retraction"]) { [weak self] db, changes in try self?.adopt(changes, db) }
  }

  /// True if nothing is retracted.
  package var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

  /// Returns true if a push of an app is retracted for a user.
  package func contains(_ id: APNSID, of person: PersonID, app: AppID) -> Bool {
    state.withLock { $0.contains(id, of: person, app: app) }
  }

  /// Returns the retractions for a user, the oldest first.
  package func retractions(of person: PersonID) -> [Retraction] { state.withLock { $0.byPerson[person] ?? [] } }

  /// Retracts a push from users. The retraction is on disk when this returns.
  ///
  /// - Parameter app: the app of the push; nil: any app.
  /// - Returns: true if this is new for any of them.
  package func add(_ id: APNSID, app: AppID?, from persons: [PersonID], at now: Int64) async throws -> Bool {
    try await store.change { [self] db in
      let (new, excess) = state.withLock { state in
        let new = Set(persons).filter { !state.contains(id, of: $0, app: app) }
        return (new, (state.counts[app] ?? 0) + new.count - Limits.maximumRetractions)
      }
      guard !new.isEmpty else { return false }
      let insert = try db.cachedStatement(sql: "INSERT INTO retraction (person, app, apns_id, at) VALUES (?, ?, ?, ?)")
      for person in new { try insert.execute(arguments: [person.row, app?.row, Data(id.stored), now]) }
      if excess > 0 {
        try db.execute(
          sql: """
            DELETE FROM retraction WHERE number IN
              (SELECT number FROM retraction WHERE app IS ? ORDER BY number LIMIT ?)
            """, arguments: [app?.row, excess])
        try adopt(db)
      } else {
        db.afterNextTransaction { [self] _ in
          state.withLock { state in
            for person in new { state.add(Retraction(id: id, person: person, app: app, at: now)) }
          }
          count.add(new.count, ordering: .relaxed)
        }
      }
      return true
    }
  }

  /// Deletes the retractions for a user.
  @inline(never)
  package func forget(_ person: PersonID) async throws {
    if isEmpty { return }
    try await store.change { [self] db in
      try db.execute(sql: "DELETE FROM retraction WHERE person = ?", arguments: [person.row])
      if db.changesCount > 0 { try adopt(db) }
    }
  }

  /// Deletes the retractions of an app.
  @inline(never)
  package func forget(_ app: AppID) async throws {
    try await store.change { [self] db in
      try db.execute(sql: "DELETE FROM retraction WHERE app = ?", arguments: [app.row])
      if db.changesCount > 0 { try adopt(db) }
    }
  }

  /// Deletes the retractions that are older than ``Limits/retractionRetention`` at `now`, in milliseconds since 1970,
  /// and those for users that no longer exist.
  @inline(never)
  package func trim(now: Int64, isPerson: @escaping @Sendable (PersonID) -> Bool) async throws {
    let end = now - Limits.retractionRetention * 1000
    let gone = state.withLock { state in
      state.byPerson.filter { person, all in all.contains { $0.at < end } || !isPerson(person) }.keys
    }
    guard !gone.isEmpty else { return }
    try await store.change { [self] db in
      try db.execute(sql: "DELETE FROM retraction WHERE at < ?", arguments: [end])
      for person in gone where !isPerson(person) {
        try db.execute(sql: "DELETE FROM retraction WHERE person = ?", arguments: [person.row])
      }
      try adopt(db)
    }
  }

  /// Takes over changes of another gateway.
  private func adopt(_ changes: [RowChange], _ db: Database) throws {
    guard changes.allSatisfy({ $0.kind == .insert }) else { return try adopt(db) }
    let new = try changes.compactMap { change in
      try change.key["number"]?.integer.flatMap { try Retractions.rows(db, "WHERE number = \($0)").first }
    }
    db.afterNextTransaction { [weak self] _ in
      self?.state.withLock { state in for one in new { state.add(one) } }
      self?.count.add(new.count, ordering: .relaxed)
    }
  }

  /// Reloads the retractions into memory when this transaction is committed.
  private func adopt(_ db: Database) throws {
    let all = try Retractions.rows(db)
    db.afterNextTransaction { [self] _ in
      var fresh = State()
      for one in all { fresh.add(one) }
      let made = fresh
      state.withLock { $0 = made }
      count.store(all.count, ordering: .relaxed)
    }
  }

  /// Reads every row to check it, and discards the result.
  static func checkRows(_ db: Database) throws { _ = try rows(db) }

  private static func rows(_ db: Database, _ condition: String = "") throws -> [Retraction] {
    let rows = try PreparedStatement(
      db, "SELECT person, app, apns_id, at FROM retraction \(condition) ORDER BY number")
    return try rows.map { row in
      guard let id = row.id(2) else { throw row.damage(2, "expected 20 bytes") }
      return Retraction(
        id: id, person: PersonID(row: try row.integer(0)),
        app: try row.optionalInteger(1, in: ColumnBounds.app).map { AppID(row: $0) },
        at: try row.integer(3, in: ColumnBounds.milliseconds))
    }
  }
}
