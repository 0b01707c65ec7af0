import DequeModule
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

    /// The push, by which the retractions of a user differ.
    fileprivate var push: Push { Push(id: id, app: app) }
  }

  fileprivate struct Push: Hashable {
    var id: APNSID
    var app: AppID?
  }

  private struct Key: Hashable {
    var person: PersonID
    var id: APNSID
  }

  private struct State {
    /// The retractions of each user, the oldest first.
    var byPerson: [PersonID: Deque<Retraction>] = [:]
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

    /// A number of removed retractions of a user up to which each is searched, beginning with the oldest.
    private static let fewRemovals = 16

    /// Removes retractions. The cost is in proportion to their number, if they are the oldest of their users.
    ///
    /// - Returns: the number of known ones.
    mutating func remove(_ gone: [Retraction]) -> Int {
      var count = 0
      for (person, gone) in Dictionary(grouping: gone, by: \.person) {
        var known: [Retraction] = []
        for one in gone { if forget(one) { known.append(one) } }
        count += known.count
        guard var left = byPerson.removeValue(forKey: person) else { continue }
        if known.count > State.fewRemovals {
          let pushes = Set(known.map(\.push))
          left.removeAll { pushes.contains($0.push) }
        } else {
          for one in known {
            if let index = left.firstIndex(where: { $0.push == one.push }) { left.remove(at: index) }
          }
        }
        byPerson[person] = left.isEmpty ? nil : left
      }
      return count
    }

    /// Removes a retraction from ``apps`` and ``counts``; false if it is not known.
    private mutating func forget(_ one: Retraction) -> Bool {
      let key = Key(person: one.person, id: one.id)
      guard var left = apps[key], let index = left.firstIndex(of: one.app) else { return false }
      left.remove(at: index)
      apps[key] = left.isEmpty ? nil : left
      counts[one.app, default: 0] -= 1
      return true
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
  package func retractions(of person: PersonID) -> [Retraction] {
    Array(state.withLock { $0.byPerson[person] } ?? [])
  }

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
      let oldest = "number IN (SELECT number FROM retraction WHERE app IS ? ORDER BY number LIMIT ?)"
      let gone = try excess > 0 ? Retractions.delete(db, oldest, [app?.row, Int64(excess)]) : []
      note(db, new: new.map { Retraction(id: id, person: $0, app: app, at: now) }, gone: gone)
      return true
    }
  }

  /// Changes the memory when this transaction is committed. At the limit of an app each retraction deletes another
  /// one: a reload would cost the time of all rows each time.
  private func note(_ db: Database, new: [Retraction], gone: [Retraction]) {
    db.afterNextTransaction { [weak self] _ in
      guard let self else { return }
      let removed = state.withLock { state in
        for one in new { state.add(one) }
        return state.remove(gone)
      }
      count.add(new.count - removed, ordering: .relaxed)
    }
  }

  /// Deletes the rows of a condition, and returns them.
  private static func delete(_ db: Database, _ condition: String, _ values: [Int64?]) throws -> [Retraction] {
    let rows = try PreparedStatement(
      db, "DELETE FROM retraction WHERE \(condition) RETURNING person, app, apns_id, at")
    for value in values { rows.bind(value) }
    return try rows.map(Retractions.row)
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
      var old = try Retractions.delete(db, "at < ?", [end])
      for person in gone where !isPerson(person) { old += try Retractions.delete(db, "person = ?", [person.row]) }
      note(db, new: [], gone: old)
    }
  }

  /// Takes over changes of another gateway.
  private func adopt(_ changes: [RowChange], _ db: Database) throws {
    var (new, gone): ([Retraction], [Retraction]) = ([], [])
    for change in changes {
      switch change.kind {
      case .insert:
        guard let number = change.key["number"]?.integer else { return try adopt(db) }
        new += try Retractions.rows(db, "WHERE number = \(number)")
      case .delete:
        guard let one = Retraction(former: change.values) else { return try adopt(db) }
        gone.append(one)
      case .update: return try adopt(db)
      }
    }
    note(db, new: new, gone: gone)
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

  static func rows(_ db: Database, _ condition: String = "") throws -> [Retraction] {
    let rows = try PreparedStatement(
      db, "SELECT person, app, apns_id, at FROM retraction \(condition) ORDER BY number")
    return try rows.map(Retractions.row)
  }

  /// Reads a retraction from the columns in which ``rows(_:_:)`` selects it.
  private static func row(_ row: PreparedStatement) throws -> Retraction {
    guard let id = row.id(2) else { throw row.damage(2, "expected 20 bytes") }
    return Retraction(
      id: id, person: PersonID(row: try row.integer(0)),
      app: try row.optionalInteger(1, in: ColumnBounds.app).map { AppID(row: $0) },
      at: try row.integer(3, in: ColumnBounds.milliseconds))
  }
}

extension Retractions.Retraction {
  /// Creates the retraction of a deleted row from its former values; nil if they are incomplete.
  fileprivate init?(former values: [String: RowValue]) {
    guard let person = values["person"]?.integer, let at = values["at"]?.integer,
      let id = values["apns_id"]?.blob.flatMap({ APNSID(stored: $0) })
    else { return nil }
    self.init(id: id, person: PersonID(row: person), app: values["app"]?.integer.map { AppID(row: $0) }, at: at)
  }
}
