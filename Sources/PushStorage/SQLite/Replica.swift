import Foundation
import GRDB
import Synchronization

/// The log that defines the order of changes, the same for all gateways of a cluster.
package protocol ReplicationLog: Sendable {
  /// Adds a change set directly after the entry at `position`, or nothing at all. Blocks for up to some seconds.
  ///
  /// - Returns: the position of the new entry, when it is as durable as the log guarantees.
  /// - Throws: ``ReplicationConflict`` if other entries come first; ``StoreError`` if the change set was not added,
  ///   or the result is unknown.
  func append(_ changes: ChangeSet, after position: UInt64) throws -> UInt64
  /// Returns when the replica has all entries that were in the log at the time of the call.
  ///
  /// - Throws: ``StoreError`` if the log does not answer.
  func catchUp() async throws
}

/// An error: changes of another gateway come first, so that the change has to be computed again.
package struct ReplicationConflict: Error {
  package init() {}
}

/// This gateway's copy of the data that the gateways of a cluster share.
///
/// A change runs in a transaction on the copy. It commits when its rows are in the log directly after all entries
/// that the copy has. If other gateways were faster, the change is rolled back, their changes are applied, and it
/// runs again. So each change sees the result of all changes before it, of any gateway.
package final class Replica: Sendable {
  /// Takes over changes of other gateways into memory, within the transaction that stores them. Effects that must
  /// follow the commit go into `afterNextTransaction`.
  typealias Adopt = @Sendable (Database, [RowChange]) throws -> Void

  private struct State {
    var log: (any ReplicationLog)?
    var listeners: [(tables: Set<String>, adopt: Adopt)] = []
  }

  private let state = Mutex(State())
  private let schema: StoreSchema

  init(_ schema: StoreSchema) { self.schema = schema }

  /// The maximum number of attempts of a change while other gateways are faster.
  private static let attempts = 1000

  /// Sets the log that changes go into from now on.
  package func join(_ log: any ReplicationLog) { state.withLock { $0.log = log } }

  /// Registers a callback for changes of other gateways to some tables.
  func onChange(of tables: Set<String>, _ adopt: @escaping Adopt) {
    state.withLock { $0.listeners.append((tables, adopt)) }
  }

  /// Runs a change, and appends it to the log if there is one.
  func write<Value: Sendable>(
    _ pool: DatabasePool, _ change: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    guard let log = state.withLock({ $0.log }) else { return try await pool.change(change) }
    let schema = schema.version
    for _ in 0..<Replica.attempts {
      do {
        return try await pool.change { db in
          let (value, changes) = try ChangeRecorder.record(db, change)
          if changes.isEmpty { return value }
          let position = try log.append(
            ChangeSet(schema: schema, changes: changes), after: Replica.position(db))
          try Replica.set(position, schema: schema, db)
          return value
        }
      } catch is ReplicationConflict {
        try await log.catchUp()
      }
    }
    throw StoreError("other gateways keep changing the same data: try again")
  }

  /// Applies changes of another gateway. An entry that the replica already has is ignored.
  ///
  /// - Throws: ``ReplicaDiverged``, or an error of the database.
  func apply(_ entry: ChangeSet, at position: UInt64, _ pool: DatabasePool) async throws {
    let listeners = state.withLock { $0.listeners }
    try await pool.change { db in
      guard try position > Replica.position(db) else { return }
      try RowChange.apply(entry.changes, db)
      try Replica.set(position, schema: entry.schema, db)
      for listener in listeners {
        let changes = entry.changes.filter { listener.tables.contains($0.table) }
        if !changes.isEmpty { try listener.adopt(db, changes) }
      }
    }
  }

  // MARK: Position

  static func position(_ db: Database) throws -> UInt64 {
    UInt64(try Int64.fetchOne(db, sql: "SELECT position FROM replica") ?? 0)
  }

  /// Stores the position of the replica.
  ///
  /// - Parameter schema: the schema version of the entry.
  private static func set(_ position: UInt64, schema: Int, _ db: Database) throws {
    try db.execute(
      sql: "UPDATE replica SET position = ?, latest_schema = max(latest_schema, ?)",
      arguments: [Int64(position), schema])
  }
}

extension SQLiteStore {
  /// Returns true if gateways of a later version have shared data that the schema of this version can't store and has
  /// left out.
  package func isPartialReplica() async throws -> Bool {
    try await pool.read { db in
      try Int.fetchOne(db, sql: "SELECT latest_schema FROM replica") ?? 0
    } > schema.version
  }

  /// Makes this empty database a replica of a cluster's data.
  ///
  /// - Throws: ``StoreError`` if it contains data of a standalone gateway.
  package func becomeReplica(of cluster: String) async throws {
    try await pool.change { db in
      for table in try Schema.tables(db) where table != "replica" {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \"\(table)\")") == false else {
          throw StoreError(
            "\(path) belongs to a gateway without a cluster: start with an empty --state, or move it into a new cluster with "
              + "`pushcli admin backup --stopped` and `pushcli admin restore --backend`")
        }
      }
      try db.execute(sql: "INSERT INTO replica (id, cell, position) VALUES (1, ?, 0)", arguments: [cluster])
    }
  }

  /// Applies an entry of the cluster's log.
  package func apply(_ entry: ChangeSet, at position: UInt64) async throws {
    try await replica.apply(entry, at: position, pool)
  }

  /// Returns the position of the last entry of the cluster's log that this replica has.
  package func replicaPosition() async throws -> UInt64 { try await pool.read(Replica.position) }

  /// Marks the replica as unusable: the next start fetches another one.
  package func giveUpReplica() async throws {
    try await pool.write { try $0.execute(sql: "UPDATE replica SET cell = ''") }
  }

  /// Writes the replica to a new file without interrupting other accesses. A file at the path is removed first.
  ///
  /// - Returns: the position of the last entry of the cluster's log that the file has.
  @inline(never)
  package func copyReplica(to path: String) async throws -> UInt64 {
    try? FileManager.default.removeItem(atPath: path)
    try await copy(to: path)
    return try await SQLiteStore.reader(path).read(Replica.position)
  }

  /// Writes the database to a file, which must be empty or missing, without interrupting other accesses.
  func copy(to path: String) async throws {
    let source = try SQLiteStore.reader(self.path)
    try await source.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
  }
}
