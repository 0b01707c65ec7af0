import GRDB

/// A version of the tables of `pushgateway.sqlite`, as the migrations that lead to it.
package struct StoreSchema: Sendable {
  package static let current = StoreSchema(migrator: Schema.migrator)

  let migrator: DatabaseMigrator

  /// The number of migrations. A later version may write tables and columns that are unknown to this version.
  package var version: Int { migrator.migrations.count }
}
