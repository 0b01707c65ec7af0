import GRDB

/// Every row that a start reads.
package enum StoredRows {
  /// Reads them from a file and changes nothing. An older version's are left for the start that brings them over.
  ///
  /// - Throws: ``StoreError`` when one is damaged.
  package static func check(path: String) throws(StoreError) {
    try read(path) { db in
      if try Schema.migrator.hasCompletedMigrations(db) { try check(db) }
    }
  }

  /// Reads the mailbox of a file that has the newest schema, and compares each row with its checksum.
  ///
  /// - Throws: ``StoreError`` when one is damaged.
  static func checkSums(path: String) throws(StoreError) { try read(path, SQLiteMailbox.checkSums) }

  private static func read(_ path: String, _ body: (Database) throws -> Void) throws(StoreError) {
    do {
      try SQLiteStore.reader(path).read(body)
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
    try SQLiteRegistrations.checkRows(db)
    try Categories.checkRows(db)
    try HeldPushes.checkRows(db)
    try Channels.checkRows(db)
    try Answers.checkRows(db)
    try AuditTrail.checkRows(db)
  }
}
