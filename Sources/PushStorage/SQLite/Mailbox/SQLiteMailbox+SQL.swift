import GRDB
import PushCore

extension SQLiteMailbox {
  /// The statements of the mailbox writer, on the writing connection.
  package final class Writer {
    typealias Row = (push: StoredPush, entry: MailboxIndex.Entry)

    private let pool: DatabasePool
    private let commits: CommitCount
    private let insert, insertGroup, delete, blank, renumber, upsert, number: PreparedStatement
    private let insertPayload, findPayloads, deletePayload: PreparedStatement
    private var deleted: [Int64] = []
    private var blanked: [Int64] = []
    /// The last row that can be a copy of a push with a shared payload; 0 if there are no copies.
    private var lastCopy: Int64

    /// The number of rows that one statement inserts while there are enough: each row then costs a fifth less.
    package static let groupSize = 16

    /// Prepares the statements.
    ///
    /// - Parameter commits: counts the commits.
    init(_ pool: DatabasePool, _ commits: CommitCount) throws {
      (self.pool, self.commits) = (pool, commits)
      (insertPayload, findPayloads, deletePayload, lastCopy) = try pool.writeWithoutTransaction { db in
        (
          try PreparedStatement(db, "INSERT OR REPLACE INTO mailbox_payload (id, last, payload) VALUES (?, ?, ?)"),
          try PreparedStatement(db, "SELECT id, last >= ? FROM mailbox_payload WHERE id <= ? ORDER BY id DESC"),
          try PreparedStatement(
            db,
            """
            DELETE FROM mailbox_payload WHERE id = ?1 AND NOT EXISTS (
              SELECT 1 FROM mailbox WHERE mailbox.id BETWEEN ?1 AND mailbox_payload.last AND mailbox.payload = ?1)
            """),
          try Int64.fetchOne(db, sql: "SELECT last FROM mailbox_payload ORDER BY id DESC LIMIT 1") ?? 0
        )
      }
      func insertion(of count: Int) -> String {
        let row = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        return """
          INSERT INTO mailbox (id, device, seq, app, apns_id, is_sender_id, unique_id, received, expires, priority,
            collapse_id, payload, checksum) VALUES \(repeatElement(row, count: count).joined(separator: ", "))
          """
      }
      (insert, insertGroup, delete, blank, renumber, upsert, number) = try pool.writeWithoutTransaction { db in
        (
          try PreparedStatement(db, insertion(of: 1)), try PreparedStatement(db, insertion(of: Writer.groupSize)),
          try PreparedStatement(db, "DELETE FROM mailbox WHERE id BETWEEN ? AND ?"),
          try PreparedStatement(db, "UPDATE mailbox SET payload = NULL WHERE id = ?"),
          try PreparedStatement(db, "UPDATE mailbox SET seq = ? WHERE id = ?"),
          try PreparedStatement(
            db,
            """
            INSERT INTO mailbox_state (device, acknowledged, last_seq, gap_from, gap_to, gap_dropped)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (device) DO UPDATE SET acknowledged = excluded.acknowledged,
              last_seq = excluded.last_seq, gap_from = excluded.gap_from, gap_to = excluded.gap_to,
              gap_dropped = excluded.gap_dropped
            """),
          try PreparedStatement(
            db,
            """
            INSERT INTO mailbox_commit (id, number) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET number = excluded.number
            """)
        )
      }
    }

    /// Runs one transaction. It is on disk when this returns.
    package func commit(_ transaction: MailboxTransaction) throws {
      try pool.writeWithoutTransaction { db in
        try db.inTransaction(.immediate) {
          // Deletions come first, because new rows reuse the pages that they free: these pages are written once
          // instead of twice.
          for change in transaction.changes { try apply(change) }
          try deleteRows()
          try deletePayloads()
          for part in Writer.parts(of: transaction.appended) { try add(part.rows, payload: part.payload) }
          for state in transaction.states { try save(state) }
          number.bind(Int64(clamping: commits.next))
          try number.run()
          return .commit
        }
        commits.advance()
      }
    }

    /// Divides rows into parts: the copies of one push, whose payload is stored once for all of them, and the rows
    /// between them.
    ///
    /// - Returns: the parts in their order. The number of a shared payload is the row of the first copy.
    static func parts(of rows: [Row]) -> [(rows: ArraySlice<Row>, payload: Int64?)] {
      var parts: [(rows: ArraySlice<Row>, payload: Int64?)] = []
      var (start, index) = (0, 0)
      while index < rows.count {
        let push = rows[index].push
        var end = index + 1
        while end < rows.count, rows[end].push.isCopy(of: push) { end += 1 }
        if end > index + 1 {
          if start < index { parts.append((rows[start..<index], nil)) }
          parts.append((rows[index..<end], rows[index].entry.row))
          start = end
        }
        index = end
      }
      if start < rows.count { parts.append((rows[start...], nil)) }
      return parts
    }

    /// Adds rows.
    ///
    /// - Parameter payload: the number under which the payload of all rows is stored; nil: each row has its own.
    private func add(_ rows: ArraySlice<Row>, payload: Int64?) throws {
      if let payload, let first = rows.first, let last = rows.last {
        lastCopy = last.entry.row
        try unsafe first.push.payload.withUnsafeBytes { bytes in
          insertPayload.bind(payload)
          insertPayload.bind(lastCopy)
          unsafe insertPayload.bind(borrowed: bytes)
          try insertPayload.run()
        }
      }
      var rows = rows
      while rows.count >= Writer.groupSize {
        try add(rows.prefix(Writer.groupSize), payload, with: insertGroup)
        rows = rows.dropFirst(Writer.groupSize)
      }
      for index in rows.indices { try add(rows[index...index], payload, with: insert) }
    }

    /// Binds the rows recursively and then runs the statement, so that the borrowed bytes stay in memory until it has
    /// run.
    private func add(_ rows: ArraySlice<Row>, _ copied: Int64?, with statement: PreparedStatement) throws {
      guard let (push, entry) = rows.first else { return try statement.run() }
      let size = APNSID.storedSize
      try unsafe withUnsafeTemporaryAllocation(byteCount: 2 * size, alignment: 8) { ids in
        unsafe push.id.store(in: UnsafeMutableRawBufferPointer(rebasing: ids[..<size]))
        unsafe push.uniqueID.store(in: UnsafeMutableRawBufferPointer(rebasing: ids[size...]))
        try unsafe push.payload.withUnsafeBytes { payload in
          statement.bind(entry.row)
          statement.bind(push.device.row)
          statement.bind(Int64(entry.seq))
          statement.bind(push.app.row)
          unsafe statement.bind(borrowed: UnsafeRawBufferPointer(rebasing: ids[..<size]))
          statement.bind(push.isSenderID ? 1 : 0)
          unsafe statement.bind(borrowed: UnsafeRawBufferPointer(rebasing: ids[size...]))
          statement.bind(push.received)
          statement.bind(push.expires)
          statement.bind(Int64(push.priority))
          statement.bind(text: push.collapseID)
          if let copied { statement.bind(copied) } else { unsafe statement.bind(borrowed: payload) }
          statement.bind(
            unsafe RowChecksum.value(of: push, in: entry.row, ids: UnsafeRawBufferPointer(ids), payload))
          try add(rows.dropFirst(), copied, with: statement)
        }
      }
    }

    private func apply(_ change: MailboxIndex.RowChange) throws {
      switch change {
      case .delete(let row): deleted.append(row)
      case .blank(let row):
        blank.bind(row)
        try blank.run()
        blanked.append(row)
      case .renumber(let row, let seq):
        renumber.bind(Int64(seq))
        renumber.bind(row)
        try renumber.run()
      }
    }

    /// Deletes the rows that the changes named. Rows that arrived together are usually deleted together: one
    /// statement deletes consecutive rows, for less than half of the cost of single deletions.
    private func deleteRows() throws {
      deleted.sort()
      try Writer.forEachRun(of: deleted) { first, last in
        delete.bind(first)
        delete.bind(last)
        try delete.run()
      }
    }

    /// Deletes the payloads whose last copy was deleted or has lost its payload.
    ///
    /// For copies that are removed together, the payload is checked only once.
    private func deletePayloads() throws {
      defer {
        deleted.removeAll(keepingCapacity: true)
        blanked.removeAll(keepingCapacity: true)
      }
      guard lastCopy > 0 else { return }
      blanked.sort()
      var payloads: Set<Int64> = []
      for rows in [deleted, blanked] {
        try Writer.forEachRun(of: rows) { first, last in
          guard first <= lastCopy else { return }
          findPayloads.bind(first)
          findPayloads.bind(last)
          defer { findPayloads.reset() }
          while try findPayloads.next() {
            let payload = try findPayloads.integer(0)
            if try findPayloads.integer(1) == 1 { payloads.insert(payload) }
            if payload <= first { return }
          }
        }
      }
      for payload in payloads {
        deletePayload.bind(payload)
        try deletePayload.run()
      }
    }

    /// Calls `body` with the first and the last row of each run of consecutive rows.
    private static func forEachRun(of rows: [Int64], _ body: (Int64, Int64) throws -> Void) rethrows {
      var start = 0
      while start < rows.count {
        var end = start
        while end + 1 < rows.count, rows[end + 1] <= rows[end] + 1 { end += 1 }
        try body(rows[start], rows[end])
        start = end + 1
      }
    }

    private func save(_ state: MailboxTransaction.State) throws {
      upsert.bind(state.device.row)
      upsert.bind(Int64(state.acknowledged))
      upsert.bind(Int64(state.lastSeq))
      upsert.bind(state.gap.map { Int64($0.from) })
      upsert.bind(state.gap.map { Int64($0.to) })
      upsert.bind(state.gap.map { Int64($0.dropped) })
      try upsert.run()
    }
  }

  // MARK: Checksums

  /// Returns the checksum of a push as it is stored in a row.
  static func checksum(of push: StoredPush, in row: Int64) -> Int64 {
    let ids = push.id.stored + push.uniqueID.stored
    return unsafe ids.withUnsafeBytes { ids in
      unsafe push.payload.withUnsafeBytes { unsafe RowChecksum.value(of: push, in: row, ids: ids, $0) }
    }
  }

  /// Returns true if a row matches its checksum, or has none because an earlier version wrote it.
  static func isSound(_ push: StoredPush, _ row: PreparedStatement) throws -> Bool {
    guard let stored = try row.optionalInteger(11, in: Int64.min...Int64.max) else { return true }
    let size = APNSID.storedSize
    let number = try row.integer(10)
    return unsafe withUnsafeTemporaryAllocation(byteCount: 2 * size, alignment: 8) { ids in
      unsafe push.id.store(in: UnsafeMutableRawBufferPointer(rebasing: ids[..<size]))
      unsafe push.uniqueID.store(in: UnsafeMutableRawBufferPointer(rebasing: ids[size...]))
      return unsafe push.payload.withUnsafeBytes { payload in
        unsafe RowChecksum.value(of: push, in: number, ids: UnsafeRawBufferPointer(ids), payload) == stored
      }
    }
  }

  /// Returns the first rows with a payload that fail their checksums.
  static func changedRows(_ db: Database, limit: Int = .max) throws -> [Int64] {
    let select = try PreparedStatement(
      db, "SELECT \(columns), device FROM mailbox WHERE payload IS NOT NULL AND checksum IS NOT NULL")
    defer { select.reset() }
    var rows: [Int64] = []
    while rows.count < limit, try select.next() {
      let push = try push(select, of: DeviceID(row: try select.integer(12)))
      if try !isSound(push, select) { rows.append(try select.integer(10)) }
    }
    return rows
  }

  /// Compares each row that has a payload with its checksum.
  ///
  /// - Throws: `SQLITE_CORRUPT` if a row fails its checksum.
  static func checkSums(_ db: Database) throws {
    guard let row = try changedRows(db, limit: 1).first else { return }
    throw DatabaseError(
      resultCode: .SQLITE_CORRUPT, message: "the checksum of a row: row \(row) of the mailbox fails its checksum")
  }

  /// Compares each row of a file, which has the newest schema, with its checksum.
  ///
  /// - Throws: ``StoreError`` if a row fails its checksum.
  static func checkSums(path: String) throws(StoreError) { try SQLiteStore.read(path: path) { try checkSums($0) } }

  /// Checks the payloads that copies share.
  ///
  /// - Throws: `SQLITE_CORRUPT` if a copy has no payload, or is beyond the last copy of its payload.
  static func checkPayloads(_ db: Database) throws {
    let payloads = try PreparedStatement(
      db, "SELECT id, last, typeof(payload) = 'blob' AS payload FROM mailbox_payload")
    defer { payloads.reset() }
    while try payloads.next() {
      for column: Int32 in 0...1 { _ = try payloads.integer(column, in: ColumnBounds.number) }
      guard try payloads.integer(2) == 1 else { throw payloads.damage(2, "expected bytes") }
    }
    let copies = try PreparedStatement(
      db,
      """
      SELECT payload FROM mailbox WHERE typeof(payload) = 'integer' AND NOT EXISTS (
        SELECT 1 FROM mailbox_payload AS shared
        WHERE shared.id = mailbox.payload AND mailbox.id BETWEEN shared.id AND shared.last)
      """)
    defer { copies.reset() }
    if try copies.next() { throw copies.damage(0, "expected the number of a payload") }
  }

  // MARK: Reading

  /// The columns of a push. The payload of a copy is read from the row that all copies share.
  static let columns = """
    seq, app, apns_id, is_sender_id, unique_id, received, expires, priority, collapse_id,
    CASE typeof(payload) WHEN 'integer'
      THEN (SELECT payload FROM mailbox_payload WHERE id = mailbox.payload) ELSE payload END,
    id, checksum
    """

  /// Reads pending rows with their payloads. Rows that were removed since are left out.
  ///
  /// If the rows are close together, one scan also passes over the rows between them. A row that fails its checksum
  /// is returned without a payload, so that nothing of it is shown.
  static func read(_ rows: [Int64], of device: DeviceID, from db: Database) throws -> [MailboxEntry] {
    guard let first = rows.first, let last = rows.last else { return [] }
    var entries: [MailboxEntry] = []
    entries.reserveCapacity(rows.count)
    let isNear = last - first < 2 * rows.count && zip(rows, rows.dropFirst()).allSatisfy { $0 < $1 }
    if isNear {
      let select = try PreparedStatement(
        db, "SELECT \(columns) FROM mailbox WHERE id BETWEEN ? AND ? AND payload IS NOT NULL ORDER BY id", isKept: true)
      defer { select.reset() }
      select.bind(first)
      select.bind(last)
      var rest = rows[...]
      while try select.next() {
        let row = try select.integer(10)
        rest = rest.drop { $0 < row }
        if rest.first == row { entries.append(try entry(select, of: device)) }
      }
      return entries
    }
    let select = try PreparedStatement(
      db, "SELECT \(columns) FROM mailbox WHERE id = ? AND payload IS NOT NULL", isKept: true)
    defer { select.reset() }
    for row in rows {
      select.bind(row)
      guard try select.next() else { continue }
      entries.append(try entry(select, of: device))
      select.reset()
    }
    return entries
  }

  private static func entry(_ row: PreparedStatement, of device: DeviceID) throws -> MailboxEntry {
    let push = try push(row, of: device)
    let seq = UInt64(try row.integer(0, in: ColumnBounds.number))
    return MailboxEntry(seq: seq, push: try isSound(push, row) ? push : push.withoutPayload)
  }

  static func push(_ row: PreparedStatement, of device: DeviceID) throws -> StoredPush {
    guard let id = row.id(2), let uniqueID = row.id(4) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT)
    }
    return StoredPush(
      device: device, app: AppID(row: try row.integer(1)), id: id, isSenderID: try row.integer(3) != 0,
      uniqueID: uniqueID, received: try row.integer(5, in: ColumnBounds.milliseconds),
      expires: try row.integer(6, in: ColumnBounds.seconds), priority: try row.priority(7),
      collapseID: try row.text(8), payload: row.blob(9))
  }
}

extension StoredPush {
  /// Returns true if this is the same push for another device. Copies in one process share the memory of the payload,
  /// which makes the comparison cheap.
  fileprivate func isCopy(of push: StoredPush) -> Bool { id == push.id && payload == push.payload }

  /// The push without its payload, which failed its checksum.
  fileprivate var withoutPayload: StoredPush {
    StoredPush(
      device: device, app: app, id: id, isSenderID: isSenderID, uniqueID: uniqueID, received: received,
      expires: expires, priority: priority, collapseID: collapseID, payload: [])
  }
}
