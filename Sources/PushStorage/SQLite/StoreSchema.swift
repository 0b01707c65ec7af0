import GRDB

/// A version of the tables of `pushgateway.sqlite`, as the migrations that lead to it.
package struct StoreSchema: Sendable {
  /// This program's.
  package static let current = StoreSchema(migrator: Schema.migrator)

  let migrator: DatabaseMigrator

  /// How many migrations there are: what a later version writes may have tables and columns that this one does not know.
  package var version: Int { migrator.migrations.count }
}
