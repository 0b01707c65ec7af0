import GRDB

/// Every row that a start reads.
package enum StoredRows {
  /// Reads them from a file and changes nothing. An older version's are left for the start that brings them over.
  ///
  /// - Throws: ``StoreError`` when one is damaged.
  package static func check(path: String) throws(StoreError) {
    do {
      try SQLiteStore.reader(path).read { db in
        if try Schema.migrator.hasCompletedMigrations(db) { try check(db) }
      }
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Reads them and keeps nothing.
  ///
  /// - Throws: `SQLITE_CORRUPT` when one holds what no gateway writes.
  static func check(_ db: Database) throws {
    var (changes, removals): ([MailboxIndex.RowChange], [MailboxRemoval]) = ([], [])
    _ = try MailboxRows.rebuild(db, now: 0, changes: &changes, removals: &removals)
    try SQLiteMailbox.checkSums(db)
    try SQLiteMailbox.checkPayloads(db)
    try checkShared(db)
  }

  /// The same for the tables that the gateways of a cell share.
  static func checkShared(_ db: Database) throws {
    try SQLiteRegistrations.checkRows(db)
    try Categories.checkRows(db)
    try DeferredPushes.checkRows(db)
    try Channels.checkRows(db)
    try Answers.checkRows(db)
    try AuditTrail.checkRows(db)
    try AdministratorTokens.checkRows(db)
    try ScheduledPushes.checkRows(db)
    try Retractions.checkRows(db)
    try Groups.checkRows(db)
    try SharedFiles.checkRows(db)
  }
}
