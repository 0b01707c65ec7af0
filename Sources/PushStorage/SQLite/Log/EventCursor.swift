import GRDB
import PushCore

/// The position of an event target in the delivery log of this gateway. It is stored in the file of the log: a new file
/// has neither the rows nor the position, and after a power loss both belong together.
package struct EventCursor: Sendable, Equatable {
  package var target: String
  /// A random text for the ids of requests: another one in each file.
  package var series: String
  /// The number of the last row that was sent or passed over.
  package var position: Int64
  /// The number of the last row of the request that was begun; nil if there is none. It is stored before the request, so
  /// that a repetition has the same events and the same id, also after a restart.
  package var pending: Int64?
  /// The number of rows that the retention of the log removed before they were sent.
  package var skipped: Int64
  /// The number of erasures that renumbered rows.
  var changes: Int64

  /// The number of random bytes of a series.
  private static let seriesSize = 8

  // MARK: Rows

  /// Returns the cursor of a target; nil if there is none yet.
  static func find(_ target: String, _ db: Database) throws -> EventCursor? {
    try rows(db, " WHERE target = ?") { $0.bind(text: target) }.first
  }

  /// Returns the cursor of a target, and makes it if there is none yet: before the first row that is not older than a
  /// time, in milliseconds since 1970.
  static func make(_ target: String, since: Int64, _ db: Database) throws -> EventCursor {
    if let known = try find(target, db) { return known }
    let first = try Int64.fetchOne(db, sql: "SELECT min(number) FROM batch WHERE last >= ?", arguments: [since])
    let newest = try Int64.fetchOne(db, sql: "SELECT max(number) FROM batch") ?? 0
    let batch = min(max(0, first ?? newest &+ 1), Int64.max >> LogBatch.numberBits)
    try db.execute(
      sql: "INSERT INTO event_cursor (target, series, position, skipped, changes) VALUES (?, ?, ?, 0, 0)",
      arguments: [target, Digest.hex(randomBytes(count: seriesSize)), max(0, batch << LogBatch.numberBits - 1)])
    guard let made = try find(target, db) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a row of event_cursor is missing")
    }
    return made
  }

  private static func rows(
    _ db: Database, _ condition: String = "", _ bind: (PreparedStatement) -> Void = { _ in }
  ) throws -> [EventCursor] {
    let rows = try PreparedStatement(
      db, "SELECT target, series, position, pending, skipped, changes FROM event_cursor" + condition)
    bind(rows)
    return try rows.map { row in
      EventCursor(
        target: try row.text(0), series: try row.text(1), position: try row.integer(2),
        pending: try row.optionalInteger(3), skipped: try row.integer(4, in: ColumnBounds.progress),
        changes: try row.integer(5, in: ColumnBounds.progress))
    }
  }

  // MARK: Changes of the log

  /// Moves the cursors behind batches that are removed, and counts the rows that were not sent.
  ///
  /// - Parameter last: the number of the last removed batch.
  static func skip(through last: Int64, in db: Database) throws {
    let end = last << LogBatch.numberBits | (1 << LogBatch.numberBits - 1)
    var behind = try rows(db, " WHERE position < ?") { $0.bind(end) }
    guard let first = behind.map(\.position).min() else { return }
    let batches = try PreparedStatement(db, "SELECT number, rows FROM batch WHERE number >= ? AND number <= ?")
    defer { batches.reset() }
    batches.bind(first >> LogBatch.numberBits)
    batches.bind(last)
    while try batches.next() {
      let start = try batches.integer(0) << LogBatch.numberBits
      _ = LogBatch.rows(batches.blob(1)) { index, _ in
        let number = start &+ Int64(index)
        for place in behind.indices where number > behind[place].position { behind[place].skipped += 1 }
        return false
      }
    }
    for cursor in behind {
      try db.execute(
        sql: """
          UPDATE event_cursor SET position = ?, skipped = ?, pending = CASE WHEN pending > ? THEN pending END
            WHERE target = ?
          """,
        arguments: [end, cursor.skipped, end, cursor.target])
    }
  }

  /// Begins the cursors again if the log is empty, because the numbers of its batches begin again, too.
  static func restart(in db: Database) throws {
    guard try Int64.fetchOne(db, sql: "SELECT 1 FROM batch LIMIT 1") == nil else { return }
    for cursor in try rows(db) {
      try db.execute(
        sql: "UPDATE event_cursor SET series = ?, position = 0, pending = NULL WHERE target = ?",
        arguments: [Digest.hex(randomBytes(count: seriesSize)), cursor.target])
    }
  }

  /// Corrects the cursors after rows of devices were removed from a batch, whose later rows got lower numbers.
  ///
  /// - Parameter bytes: the rows before the removal.
  static func renumber(
    _ batch: Int64, _ bytes: [UInt8], without devices: Set<DeviceID>, in db: Database
  ) throws {
    let cursors = try rows(db)
    guard !cursors.isEmpty else { return }
    let start = batch << LogBatch.numberBits
    var removed: [Int64] = []
    _ = LogBatch.rows(bytes) { index, row in
      if let device = row.device, devices.contains(device) { removed.append(start &+ Int64(index)) }
      return false
    }
    func corrected(_ number: Int64) -> Int64 {
      guard number >> LogBatch.numberBits == batch else { return number }
      return number - Int64(removed.count { $0 <= number })
    }
    for cursor in cursors {
      try db.execute(
        sql: "UPDATE event_cursor SET position = ?, pending = ?, changes = changes + 1 WHERE target = ?",
        arguments: [corrected(cursor.position), cursor.pending.map(corrected), cursor.target])
    }
  }
}
