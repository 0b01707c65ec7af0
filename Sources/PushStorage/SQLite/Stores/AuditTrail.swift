import Foundation
import GRDB
package import Logging
import PushCore
import Synchronization

/// The record of administrative requests: the changes made to a gateway and the administrators who made them. A
/// record is as durable as the mailbox and is written before the request is executed, so that each executed request
/// has one.
///
/// The status of a request and the record of an enrollment follow the execution. If their write fails, they stay in
/// memory, and each later write of the trail and ``settle()`` repeat it.
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
    /// The status of the response; nil if the gateway ended before the status was on disk.
    package var status: Int?
  }

  /// A change of the trail after the execution of a request.
  private enum Addition: Sendable {
    case status(Int, of: Int64)
    /// The record of a request that was executed before; its number is unused.
    case executed(Record)
  }

  private struct State {
    /// The additions that are not on disk, because their write has failed.
    var late: [Addition] = []
    /// True if the last write of additions has failed.
    var isFailing = false
    /// True if an addition was dropped since the last successful write.
    var hasDropped = false
  }

  private let store: SQLiteStore
  private let logger: Logger
  private let state = Mutex(State())

  package init(store: SQLiteStore, logger: Logger) { (self.store, self.logger) = (store, logger) }

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
    let record = Record(method, path, body, who, time, status)
    return try await store.change { try AuditTrail.insert(record, $0) }
  }

  /// Adds the status of the response to the record of a request. A failed write is logged and repeated.
  @inline(never)
  package func note(status: Int, of number: Int64) async { await write([.status(status, of: number)]) }

  /// Writes a record of a request that was executed before. A failed write is logged and repeated.
  @inline(never)
  package func note(
    executed method: String, _ path: String, body: [UInt8], by who: String?, at time: Int64, status: Int
  ) async {
    await write([.executed(Record(method, path, body, who, time, status))])
  }

  /// Repeats the writes that have failed.
  @inline(never)
  package func settle() async {
    if state.withLock({ !$0.late.isEmpty }) { await write([]) }
  }

  /// Writes the late additions and further ones, as one transaction.
  @inline(never)
  private func write(_ additions: [Addition]) async {
    let all = state.withLock { state in
      defer { state.late = [] }
      return state.late + additions
    }
    do {
      try await store.change { db in for addition in all { try AuditTrail.apply(addition, db) } }
      state.withLock { ($0.isFailing, $0.hasDropped) = (false, false) }
    } catch {
      let (isFirst, isFirstDropped) = state.withLock { state in
        let before = state
        state.late = all + state.late
        let excess = state.late.count - Limits.maximumLateAuditAdditions
        if excess > 0 { state.late.removeFirst(excess) }
        (state.isFailing, state.hasDropped) = (true, state.hasDropped || excess > 0)
        return (!before.isFailing, state.hasDropped && !before.hasDropped)
      }
      if isFirst { logger.log(.auditNotStored, "a part of the audit trail is written later: \(error)") }
      if isFirstDropped { logger.log(.auditNotStored, "a part of the audit trail is lost: \(error)") }
    }
  }

  private static func apply(_ addition: Addition, _ db: Database) throws {
    switch addition {
    case .status(let status, let number):
      let update = try db.cachedStatement(sql: "UPDATE audit SET status = ? WHERE number = ?")
      try update.execute(arguments: [status, number])
    case .executed(let record): _ = try insert(record, db)
    }
  }

  /// Inserts a record under the next number, and deletes the oldest ones.
  private static func insert(_ record: Record, _ db: Database) throws -> Int64 {
    let insert = try db.cachedStatement(
      sql: "INSERT INTO audit (at, method, path, body, who, status) VALUES (?, ?, ?, ?, ?, ?)")
    try insert.execute(
      arguments: [record.at, record.method, record.path, record.body, record.who, record.status])
    let number = db.lastInsertedRowID
    let forget = try db.cachedStatement(sql: "DELETE FROM audit WHERE number <= ?")
    try forget.execute(arguments: [number - Int64(Limits.maximumAuditRecords)])
    return number
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

extension AuditTrail.Record {
  fileprivate init(
    _ method: String, _ path: String, _ body: [UInt8], _ who: String?, _ time: Int64, _ status: Int?
  ) {
    let body = String(decoding: body.prefix(Limits.maximumAuditedBody), as: UTF8.self)
    self.init(number: 0, at: time, method: method, path: path, body: body, who: who, status: status)
  }
}
