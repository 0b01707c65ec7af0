import Foundation
import GRDB

/// What the database in a state folder says of the cell whose replica it is, before it is opened and brought to a schema.
package struct ReplicaFile: Sendable {
  /// Empty: nothing may begin with it any longer.
  package var cell: String
  /// The last entry of the cell's log that is in it.
  package var position: UInt64
  /// The migrations that it has.
  private var migrations: Set<String>
  /// How many migrations the latest schema had in which an entry in it was written.
  private var latestSchema: Int

  /// - Returns: nil when there is no file, or it is of a gateway that was alone.
  /// - Throws: ``StoreError`` when it can't be read.
  package init?(_ path: String) throws(StoreError) {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    do {
      let found = try SQLiteStore.reader(path).read { db in
        try ReplicaFile(db)
      }
      guard let found else { return nil }
      self = found
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  private init?(_ db: Database) throws {
    guard try db.tableExists("replica"), let row = try Row.fetchOne(db, sql: "SELECT * FROM replica") else {
      return nil
    }
    (cell, position) = (row["cell"], UInt64(row["position"] as Int64))
    latestSchema = row["latest_schema"] ?? 0
    migrations = try Schema.migrator.appliedIdentifiers(db)
  }

  /// Whether a gateway with a schema begins with it: not with a later version's, and not with one that leaves out what this
  /// schema has a place for.
  package func suits(_ schema: StoreSchema) -> Bool {
    let all = Set(schema.migrator.migrations)
    return migrations.isSubset(of: all) && (migrations == all || latestSchema <= migrations.count)
  }
}
