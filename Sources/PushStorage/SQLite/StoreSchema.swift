import GRDB

/// A version of the tables of `pushgateway.sqlite`, as the migrations that lead to it.
package struct StoreSchema: Sendable {
  package static let current = StoreSchema(migrator: Schema.migrator, tables: Schema.current)

  let migrator: DatabaseMigrator

  /// The SQL that makes the same tables in an empty database.
  var tables: String?

  /// The number of migrations. A later version may write tables and columns that are unknown to this version.
  package var version: Int { migrator.migrations.count }

  /// Makes the tables in a new database and migrates those of an earlier version.
  func migrate(_ pool: DatabasePool) throws {
    if let tables {
      try pool.write { db in
        guard try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0 else { return }
        try db.execute(sql: tables)
        for migration in migrator.migrations {
          try db.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [migration])
        }
      }
    }
    try migrator.migrate(pool)
  }
}
