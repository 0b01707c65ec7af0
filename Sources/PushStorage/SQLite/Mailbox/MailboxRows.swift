import GRDB
import PushCore

/// The tables of a mailbox as they are read at the start, without the payloads.
enum MailboxRows {
  /// Builds an index with one scan over both tables, without the payloads.
  ///
  /// - Throws: `SQLITE_CORRUPT` if a row has a value that no gateway writes, also in a column that the index does not
  ///   need.
  static func rebuild(
    _ db: Database, now: Int64, changes: inout [MailboxIndex.RowChange], removals: inout [MailboxRemoval]
  ) throws -> MailboxIndex {
    var index = MailboxIndex()
    try readStates(db, into: &index)
    try readRows(db, in: Int64.min...Int64.max) { device, entry in
      try restore(entry, of: device, in: &index, now: now, changes: &changes, removals: &removals)
    }
    return index
  }

  static func readStates(_ db: Database, into index: inout MailboxIndex) throws {
    let states = try PreparedStatement(
      db, "SELECT device, acknowledged, last_seq, gap_from, gap_to, gap_dropped FROM mailbox_state")
    defer { states.reset() }
    while try states.next() {
      var gap: MailboxGap?
      if !states.isNull(3) {
        gap = MailboxGap(
          from: UInt64(try states.integer(3, in: ColumnBounds.number)),
          to: UInt64(try states.integer(4, in: ColumnBounds.number)),
          dropped: Int(try states.integer(5, in: ColumnBounds.number)))
      }
      index.restore(
        DeviceID(row: try states.integer(0)),
        acknowledged: UInt64(try states.integer(1, in: ColumnBounds.progress)),
        lastSeq: UInt64(try states.integer(2, in: ColumnBounds.progress)), gap: gap)
    }
  }

  /// Reads a range of rows in their order, without the payloads.
  static func readRows(
    _ db: Database, in range: ClosedRange<Int64>, _ body: (DeviceID, MailboxIndex.Entry) throws -> Void
  ) throws {
    let rows = try PreparedStatement(
      db,
      """
      SELECT id, device, seq, app, apns_id, is_sender_id, received, expires, collapse_id, payload IS NULL, unique_id,
        priority FROM mailbox WHERE id BETWEEN ? AND ? ORDER BY id
      """, isKept: true)
    defer { rows.reset() }
    rows.bind(range.lowerBound)
    rows.bind(range.upperBound)
    while try rows.next() {
      guard let id = rows.id(4) else { throw rows.damage(4, "expected 20 bytes") }
      guard rows.id(10) != nil else { throw rows.damage(10, "expected 20 bytes") }
      _ = try rows.priority(11)
      let entry = MailboxIndex.Entry(
        row: try rows.integer(0, in: ColumnBounds.number), seq: UInt64(try rows.integer(2, in: ColumnBounds.number)),
        app: AppID(row: try rows.integer(3, in: ColumnBounds.app)), id: id, isSenderID: try rows.integer(5) != 0,
        received: try rows.integer(6, in: ColumnBounds.milliseconds),
        expires: try rows.integer(7, in: ColumnBounds.seconds), collapseID: try rows.text(8),
        isRemoved: try rows.integer(9) != 0)
      try body(DeviceID(row: try rows.integer(1)), entry)
    }
  }

  /// Adds a row to an index.
  static func restore(
    _ entry: MailboxIndex.Entry, of device: DeviceID, in index: inout MailboxIndex, now: Int64,
    changes: inout [MailboxIndex.RowChange], removals: inout [MailboxRemoval]
  ) throws {
    guard index.restore(entry, of: device, now: now, changes: &changes, removals: &removals) else {
      throw DatabaseError(
        resultCode: .SQLITE_CORRUPT, message: "the seq of a row: \(entry.seq) is not above those before it")
    }
  }
}
