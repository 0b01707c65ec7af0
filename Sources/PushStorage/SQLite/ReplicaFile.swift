import Foundation
import GRDB

/// The replica state of the database in a state folder, read before the database is opened and migrated.
package struct ReplicaFile: Sendable {
  /// The cluster of the replica; empty if the replica must not be used any more.
  package var cluster: String
  /// The position of the last entry of the cluster's log that the replica has.
  package var position: UInt64
  /// The migrations of the database.
  private var migrations: Set<String>
  /// The highest schema version of the entries in the replica, as a number of migrations.
  private var latestSchema: Int

  /// Reads the state of a replica.
  ///
  /// - Returns: nil if there is no file, or it belongs to a standalone gateway.
  /// - Throws: ``StoreError`` if it can't be read.
  package init?(_ path: String) throws(StoreError) {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    guard let found = try SQLiteStore.read(path: path, { db in try ReplicaFile(db) }) else { return nil }
    self = found
  }

  private init?(_ db: Database) throws {
    guard try db.tableExists("replica"), let row = try Row.fetchOne(db, sql: "SELECT * FROM replica") else {
      return nil
    }
    (cluster, position) = (row["cell"], UInt64(row["position"] as Int64))
    latestSchema = row["latest_schema"] ?? 0
    migrations = try Schema.migrator.appliedIdentifiers(db)
  }

  /// Returns true if a gateway with a schema can start with the replica. It can't if the replica has migrations of a
  /// later version, or if it lacks data that this schema can store.
  package func suits(_ schema: StoreSchema) -> Bool {
    let all = Set(schema.migrator.migrations)
    return migrations.isSubset(of: all) && (migrations == all || latestSchema <= migrations.count)
  }
}
