import GRDB

extension DatabasePool {
  /// Runs a change as one transaction. Its `afterNextTransaction` actions run if this transaction is committed, and never
  /// otherwise.
  ///
  /// When COMMIT fails, as on a full disk, SQLite ends the transaction. GRDB then keeps the actions for the
  /// next transaction, which would perform the effects of a change that is not on disk.
  @inline(never)
  func change<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
    try await writeWithoutTransaction { db in
      do {
        var value: Value?
        try db.inTransaction {
          value = try body(db)
          return .commit
        }
        return value!
      } catch {
        // The end of an empty transaction drops the actions.
        if !db.isInsideTransaction { try? db.execute(sql: "BEGIN; ROLLBACK") }
        throw error
      }
    }
  }
}
