import Foundation
import GRDB
import PushCore

/// Who administers a gateway changes what it does, and this says what was changed: as durable as the mailbox, and
/// who has, written before it is done, so that nothing was done that is not here.
///
/// The last ``Limits/maximumAuditRecords`` are kept.
package final class AuditTrail: Sendable {
  /// One request.
  package struct Record: Sendable, Equatable {
    /// Increasing.
    package var number: Int64
    /// Milliseconds since 1970.
    package var at: Int64
    package var method: String
    package var path: String
    /// Its beginning.
    package var body: String
    /// Whom the gateway knew who asked as; nil where an earlier version wrote it down.
    package var who: String?
    /// That of the answer; nil when the gateway ended before it answered.
    package var status: Int?
  }

  private let store: SQLiteStore

  package init(store: SQLiteStore) { self.store = store }

  /// Writes down what was asked; returns when that is on disk.
  ///
  /// - Parameters:
  ///   - body: of which ``Limits/maximumAuditedBody`` bytes are kept.
  ///   - who: whom the gateway knows who asks as.
  ///   - time: milliseconds since 1970.
  ///   - status: that of the answer, where it is known already.
  /// - Returns: the number of the record, for ``note(status:of:)``.
  package func record(
    _ method: String, _ path: String, body: [UInt8], by who: String?, at time: Int64, status: Int? = nil
  ) async throws -> Int64 {
    let body = String(decoding: body.prefix(Limits.maximumAuditedBody), as: UTF8.self)
    return try await write { db in
      let insert = try db.cachedStatement(
        sql: "INSERT INTO audit (at, method, path, body, who, status) VALUES (?, ?, ?, ?, ?, ?)")
      try insert.execute(arguments: [time, method, path, body, who, status])
      let number = db.lastInsertedRowID
      let forget = try db.cachedStatement(sql: "DELETE FROM audit WHERE number <= ?")
      try forget.execute(arguments: [number - Int64(Limits.maximumAuditRecords)])
      return number
    }
  }

  /// Writes down how a request was answered.
  package func note(status: Int, of number: Int64) async throws {
    try await write { db in
      let update = try db.cachedStatement(sql: "UPDATE audit SET status = ? WHERE number = ?")
      try update.execute(arguments: [status, number])
    }
  }

  /// The newest records, the newest last.
  ///
  /// - Parameter number: only those before it; nil: from the newest on.
  package func records(before number: Int64?, limit: Int) async throws -> [Record] {
    do {
      return try await store.pool.read { db in
        let rows = try PreparedStatement(
          db, "SELECT \(AuditTrail.columns) FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?")
        rows.bind(number ?? .max)
        rows.bind(Int64(limit))
        var newestFirst: [Record] = []
        while try rows.next() { newestFirst.append(try AuditTrail.record(rows)) }
        return newestFirst.reversed()
      }
    } catch {
      throw SQLiteStore.explain(error, path: store.path)
    }
  }

  /// Reads all of it, and keeps nothing.
  static func checkRows(_ db: Database) throws {
    let rows = try PreparedStatement(db, "SELECT \(columns) FROM audit")
    while try rows.next() { _ = try record(rows) }
  }

  private static let columns = "number, at, method, path, body, status, who"

  private static func record(_ row: PreparedStatement) throws -> Record {
    Record(
      number: try row.integer(0), at: try row.integer(1, in: ColumnBounds.milliseconds), method: try row.text(2),
      path: try row.text(3), body: try row.text(4), who: try row.optionalText(6),
      status: try row.optionalInteger(5).map { Int($0) })
  }

  private func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    do { return try await store.write(body) } catch { throw SQLiteStore.explain(error, path: store.path) }
  }
}
