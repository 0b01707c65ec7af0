import Foundation
import GRDB
import PushCore

/// The record of administrative requests: the changes made to a gateway and the administrators who made them. A
/// record is as durable as the mailbox and is written before the request is executed, so that each executed request
/// has one.
///
/// The last ``Limits/maximumAuditRecords`` are kept.
package final class AuditTrail: Sendable {
  /// The record of one request.
  package struct Record: Sendable, Equatable {
    /// The number of the record; numbers increase.
    package var number: Int64
    /// The time of the request in milliseconds since 1970.
    package var at: Int64
    package var method: String
    package var path: String
    /// The beginning of the request body.
    package var body: String
    /// The identity that the gateway determined for the administrator; nil for a record of an earlier version.
    package var who: String?
    /// The status of the response; nil if the gateway ended before it responded.
    package var status: Int?
  }

  private let store: SQLiteStore

  package init(store: SQLiteStore) { self.store = store }

  /// Writes a record of a request. Returns when the record is on disk.
  ///
  /// - Parameters:
  ///   - body: the request body, of which ``Limits/maximumAuditedBody`` bytes are kept.
  ///   - who: the identity that the gateway determined for the administrator.
  ///   - time: milliseconds since 1970.
  ///   - status: the status of the response, if it is already known.
  /// - Returns: the number of the record, for ``note(status:of:)``.
  package func record(
    _ method: String, _ path: String, body: [UInt8], by who: String?, at time: Int64, status: Int? = nil
  ) async throws -> Int64 {
    let body = String(decoding: body.prefix(Limits.maximumAuditedBody), as: UTF8.self)
    return try await store.change { db in
      let insert = try db.cachedStatement(
        sql: "INSERT INTO audit (at, method, path, body, who, status) VALUES (?, ?, ?, ?, ?, ?)")
      try insert.execute(arguments: [time, method, path, body, who, status])
      let number = db.lastInsertedRowID
      let forget = try db.cachedStatement(sql: "DELETE FROM audit WHERE number <= ?")
      try forget.execute(arguments: [number - Int64(Limits.maximumAuditRecords)])
      return number
    }
  }

  /// Adds the status of the response to the record of a request.
  @inline(never)
  package func note(status: Int, of number: Int64) async throws {
    try await store.change { db in
      let update = try db.cachedStatement(sql: "UPDATE audit SET status = ? WHERE number = ?")
      try update.execute(arguments: [status, number])
    }
  }

  /// Returns the newest records, the newest last.
  ///
  /// - Parameter number: only records before this number are returned; nil: the newest ones.
  @inline(never)
  package func records(before number: Int64?, limit: Int) async throws -> [Record] {
    try await store.read { db in
      let rows = try PreparedStatement(
        db, "SELECT \(AuditTrail.columns) FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?")
      rows.bind(number ?? .max)
      rows.bind(Int64(limit))
      let newestFirst = try rows.map { try AuditTrail.record($0) }
      return newestFirst.reversed()
    }
  }

  /// Reads every row to check it, and discards the result.
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
}
