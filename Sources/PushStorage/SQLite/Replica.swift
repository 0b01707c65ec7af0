import Foundation
import GRDB
import PushCore
import Synchronization

/// The order in which changes count, the same for every gateway of a cell.
package protocol ReplicationLog: Sendable {
  /// Adds a change set right behind the entry at `position`, or nothing at all. It blocks, for up to some seconds.
  ///
  /// - Returns: the position of the new entry, when it is as durable as the log promises.
  /// - Throws: ``ReplicationConflict`` when other entries come first; ``StoreError`` when it was not added, or nobody knows.
  func append(_ changes: ChangeSet, after position: UInt64) throws -> UInt64
  /// Returns when the replica has all that was in the log when this was called.
  ///
  /// - Throws: ``StoreError`` when the log does not answer.
  func catchUp() async throws
}

/// Somebody else's changes come first: what was to be changed is to be looked at again.
package struct ReplicationConflict: Error {
  package init() {}
}

/// This gateway's copy of what the gateways of a cell share.
///
/// A change runs in a transaction on the copy, which commits when its rows are in the log behind everything that the copy
/// has; where others were faster it is undone, their changes are taken over, and it runs again. So each change sees what all
/// changes before it have made, whichever gateway they came through.
package final class Replica: Sendable {
  /// Takes over into memory what others have changed, in the transaction that stores it; what is to follow the commit it
  /// does in `afterNextTransaction`.
  typealias Adopt = @Sendable (Database, [RowChange]) throws -> Void

  private struct State {
    var log: (any ReplicationLog)?
    var listeners: [(tables: Set<String>, adopt: Adopt)] = []
  }

  private let state = Mutex(State())
  private let schema: StoreSchema

  init(_ schema: StoreSchema) { self.schema = schema }

  /// How often a change is tried while others are faster.
  private static let attempts = 1000

  /// From now on changes go into a log.
  package func join(_ log: any ReplicationLog) { state.withLock { $0.log = log } }

  /// Whether other gateways have the same.
  package var isShared: Bool { state.withLock { $0.log != nil } }

  /// Has `adopt` called for what others change in some tables.
  func onChange(of tables: Set<String>, _ adopt: @escaping Adopt) {
    state.withLock { $0.listeners.append((tables, adopt)) }
  }

  /// Makes a change, also on the other gateways where there are any.
  func write<Value: Sendable>(
    _ pool: DatabasePool, _ change: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    guard let log = state.withLock({ $0.log }) else { return try await pool.write(change) }
    let schema = schema.version
    for _ in 0..<Replica.attempts {
      do {
        return try await pool.write { db in
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

  /// Takes over what another gateway has changed; what is here already changes nothing.
  ///
  /// - Throws: ``ReplicaDiverged``, or an error of the database.
  func apply(_ entry: ChangeSet, at position: UInt64, _ pool: DatabasePool) async throws {
    let listeners = state.withLock { $0.listeners }
    try await pool.write { db in
      guard try position > Replica.position(db) else { return }
      try ChangeApplier.apply(entry.changes, db)
      try Replica.set(position, schema: entry.schema, db)
      for listener in listeners {
        let changes = entry.changes.filter { listener.tables.contains($0.table) }
        if !changes.isEmpty { try listener.adopt(db, changes) }
      }
    }
  }

  // MARK: Where it is

  static func position(_ db: Database) throws -> UInt64 {
    UInt64(try Int64.fetchOne(db, sql: "SELECT position FROM replica") ?? 0)
  }

  /// - Parameter schema: in which the entry was written.
  private static func set(_ position: UInt64, schema: Int, _ db: Database) throws {
    try db.execute(
      sql: "UPDATE replica SET position = ?, latest_schema = max(latest_schema, ?)",
      arguments: [Int64(position), schema])
  }
}

extension SQLiteStore {
  /// Whether gateways of a later version have shared what has no place in the schema of this one, which left it out.
  package func isPartialReplica() async throws -> Bool {
    try await pool.read { db in
      try Int.fetchOne(db, sql: "SELECT latest_schema FROM replica") ?? 0
    } > schema.version
  }

  /// Makes this database, in which nothing is, a replica of a cell's.
  ///
  /// - Throws: ``StoreError`` when it has something of a gateway that was alone.
  package func becomeReplica(of cell: String) async throws {
    try await pool.write { db in
      for table in try Schema.tables(db) where table != "replica" {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \"\(table)\")") == false else {
          throw StoreError(
            "\(path) belongs to a gateway without a cluster: start with an empty --state, or move it into a new cluster with "
              + "`pushcli admin backup --stopped` and `pushcli admin restore --backend`")
        }
      }
      try db.execute(sql: "INSERT INTO replica (id, cell, position) VALUES (1, ?, 0)", arguments: [cell])
    }
  }

  /// Takes over an entry of the cell's log.
  package func apply(_ entry: ChangeSet, at position: UInt64) async throws {
    try await replica.apply(entry, at: position, pool)
  }

  /// The last entry of the cell's log that this replica has.
  package func replicaPosition() async throws -> UInt64 { try await pool.read(Replica.position) }

  /// Says that the replica is not to be used any longer: the next start takes over another.
  package func giveUpReplica() async throws {
    try await pool.write { try $0.execute(sql: "UPDATE replica SET cell = ''") }
  }

  /// Writes the replica to a file, which is not there, while everything goes on.
  ///
  /// - Returns: the last entry of the cell's log that it has.
  package func copyReplica(to path: String) async throws -> UInt64 {
    try? FileManager.default.removeItem(atPath: path)
    try await copy(to: path)
    return try await SQLiteStore.reader(path).read(Replica.position)
  }

  /// Writes the database to a file, which is empty or not there, while everything goes on.
  func copy(to path: String) async throws {
    let source = try SQLiteStore.reader(self.path)
    try await source.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
  }
}
