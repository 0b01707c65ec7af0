import GRDB

/// The check of all rows that a start reads.
package enum StoredRows {
  /// Checks the rows of a file without changing it. The rows of an older version are not checked: the start that
  /// migrates them does that.
  ///
  /// - Throws: ``StoreError`` if a row is damaged.
  package static func check(path: String) throws(StoreError) {
    try SQLiteStore.read(path: path) { db in
      if try Schema.migrator.hasCompletedMigrations(db) { try check(db) }
    }
  }

  /// Reads every row to check it, and discards the result.
  ///
  /// - Throws: `SQLITE_CORRUPT` if a row has a value that no gateway writes.
  static func check(_ db: Database) throws {
    var (changes, removals): ([MailboxIndex.RowChange], [MailboxRemoval]) = ([], [])
    _ = try MailboxRows.rebuild(db, now: 0, changes: &changes, removals: &removals)
    try SQLiteMailbox.checkSums(db)
    try SQLiteMailbox.checkPayloads(db)
    _ = try Attachments.load(db)
    try checkShared(db)
  }

  /// Checks the tables that the gateways of a cluster share in the same way.
  static func checkShared(_ db: Database) throws {
    try SQLiteRegistrations.checkRows(db)
    try AppDays.checkRows(db)
    _ = try DeferredPushes.load(db)
    _ = try Channels.load(db)
    try Answers.checkRows(db)
    try AuditTrail.checkRows(db)
    _ = try AdministratorTokens.load(db)
    try MessageSenders.checkRows(db)
    _ = try Expectations.rows(db)
    _ = try WebPushEndpoints.load(db)
    _ = try EventTargets.load(db)
    _ = try PushSubscriptions.load(db)
    try ScheduledPushes.checkRows(db)
    _ = try Retractions.rows(db)
    try Groups.checkRows(db)
    try SharedFiles.checkRows(db)
  }
}
