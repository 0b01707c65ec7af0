import Foundation
import GRDB
package import PushCore

/// The subjects of webhooks, such as a group of alerts. The gateway remembers the last push about each, because the end of
/// the subject retracts this push.
///
/// The last ``Limits/maximumHookSubjects`` of each sender are kept, for as long as a push can be pending.
extension MessageSenders {
  /// Returns the id of the last push about a subject; nil for none.
  @inline(never)
  package func push(about subject: String, of name: String) async throws(StoreError) -> APNSID? {
    try await store.read { db in try MessageSenders.push(db, subject, name) }
  }

  /// Records a push about a subject. It is on disk when this returns.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Returns: the id of the previous push; nil for none.
  @inline(never)
  package func record(
    _ id: APNSID, about subject: String, of name: String, at now: Int64
  ) async throws(StoreError) -> APNSID? {
    let end = now - Int64(Limits.maximumLifetime) * 1000
    return try await store.change { db in
      let previous = try MessageSenders.push(db, subject, name)
      try db.execute(
        sql: "INSERT OR REPLACE INTO hook_push (sender, subject, apns_id, at) VALUES (?, ?, ?, ?)",
        arguments: [name, subject, Data(id.stored), now])
      try db.execute(
        sql: """
          DELETE FROM hook_push WHERE sender = ? AND (at < ? OR subject IN
            (SELECT subject FROM hook_push WHERE sender = ? ORDER BY at DESC, subject LIMIT -1 OFFSET ?))
          """, arguments: [name, end, name, Limits.maximumHookSubjects])
      return previous
    }
  }

  /// Removes the record of a push about a subject, unless a later push was recorded since.
  @inline(never)
  package func forget(_ id: APNSID, about subject: String, of name: String) async throws(StoreError) {
    try await store.change { db in
      try db.execute(
        sql: "DELETE FROM hook_push WHERE sender = ? AND subject = ? AND apns_id = ?",
        arguments: [name, subject, Data(id.stored)])
    }
  }

  private static func push(_ db: Database, _ subject: String, _ name: String) throws -> APNSID? {
    let stored = try Data.fetchOne(
      db, sql: "SELECT apns_id FROM hook_push WHERE sender = ? AND subject = ?", arguments: [name, subject])
    return stored.flatMap { APNSID(stored: [UInt8]($0)) }
  }

  /// Reads every row to check it, and discards the result.
  static func checkSubjects(_ db: Database) throws {
    let rows = try PreparedStatement(db, "SELECT apns_id, at FROM hook_push")
    while try rows.next() {
      guard rows.id(0) != nil else { throw rows.damage(0, "expected 20 bytes") }
      _ = try rows.integer(1, in: ColumnBounds.milliseconds)
    }
  }
}
