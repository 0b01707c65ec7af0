import GRDB
import PushCore

extension SQLiteMailbox {
  /// The writer's statements, on the writing connection.
  package final class Writer {
    private let pool: DatabasePool
    private let commits: CommitCount
    private let insert, insertGroup, delete, blank, renumber, upsert, number: PreparedStatement
    private var deleted: [Int64] = []

    /// Rows that go into the table with one statement, while there are so many: each row then costs a fifth less.
    package static let groupSize = 16

    /// - Parameter commits: counts what is committed.
    init(_ pool: DatabasePool, _ commits: CommitCount) throws {
      (self.pool, self.commits) = (pool, commits)
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

    /// One transaction; returns when it is on disk.
    package func commit(_ transaction: MailboxTransaction) throws {
      try pool.writeWithoutTransaction { db in
        try db.inTransaction(.immediate) {
          // First what goes, since what comes takes the pages that this frees: they are written once, not twice.
          for change in transaction.changes { try apply(change) }
          try deleteRows()
          var rows = transaction.appended[...]
          while rows.count >= Writer.groupSize {
            try add(rows.prefix(Writer.groupSize), with: insertGroup)
            rows = rows.dropFirst(Writer.groupSize)
          }
          for place in rows.indices { try add(rows[place...place], with: insert) }
          for state in transaction.states { try save(state) }
          number.bind(Int64(clamping: commits.next))
          try number.run()
          return .commit
        }
        commits.advance()
      }
    }

    /// Binds one row after another and then runs the statement: what was lent to it stays where it is until then.
    private func add(
      _ rows: ArraySlice<(push: StoredPush, entry: MailboxIndex.Entry)>, with statement: PreparedStatement
    ) throws {
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
          unsafe statement.bind(borrowed: payload)
          statement.bind(
            unsafe SQLiteMailbox.checksum(of: push, in: entry.row, ids: UnsafeRawBufferPointer(ids), payload))
          try add(rows.dropFirst(), with: statement)
        }
      }
    }

    private func apply(_ change: MailboxIndex.RowChange) throws {
      switch change {
      case .delete(let row): deleted.append(row)
      case .blank(let row):
        blank.bind(row)
        try blank.run()
      case .renumber(let row, let seq):
        renumber.bind(Int64(seq))
        renumber.bind(row)
        try renumber.run()
      }
    }

    /// Deletes what the changes named. What came together mostly goes together, and rows that follow one another go with
    /// one statement, for less than half of what each costs alone.
    private func deleteRows() throws {
      defer { deleted.removeAll(keepingCapacity: true) }
      deleted.sort()
      var start = 0
      while start < deleted.count {
        var end = start
        while end + 1 < deleted.count, deleted[end + 1] <= deleted[end] + 1 { end += 1 }
        delete.bind(deleted[start])
        delete.bind(deleted[end])
        try delete.run()
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

  /// The checksum of a row. The number is not in it, since a late one is given anew.
  ///
  /// - Parameter ids: both as the row has them, one behind the other.
  fileprivate static func checksum(
    of push: StoredPush, in row: Int64, ids: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer
  ) -> Int64 {
    var sum = RowChecksum()
    sum.add(row)
    sum.add(push.device.row)
    sum.add(push.app.row)
    unsafe sum.add(ids)
    sum.add(push.isSenderID ? 1 : 0)
    sum.add(push.received)
    sum.add(push.expires)
    sum.add(Int64(push.priority))
    var collapseID = push.collapseID
    if !collapseID.isEmpty { collapseID.withUTF8 { unsafe sum.add(UnsafeRawBufferPointer($0)) } }
    unsafe sum.add(payload)
    return sum.value
  }

  /// The checksum of a push as it is stored in a row.
  static func checksum(of push: StoredPush, in row: Int64) -> Int64 {
    let ids = push.id.stored + push.uniqueID.stored
    return unsafe ids.withUnsafeBytes { ids in
      unsafe push.payload.withUnsafeBytes { unsafe checksum(of: push, in: row, ids: ids, $0) }
    }
  }

  /// Whether a row that was read is as it was written; what an earlier version wrote has no checksum.
  static func isSound(_ push: StoredPush, _ row: PreparedStatement) throws -> Bool {
    guard let stored = try row.optionalInteger(11, in: Int64.min...Int64.max) else { return true }
    let size = APNSID.storedSize
    let number = try row.integer(10)
    return unsafe withUnsafeTemporaryAllocation(byteCount: 2 * size, alignment: 8) { ids in
      unsafe push.id.store(in: UnsafeMutableRawBufferPointer(rebasing: ids[..<size]))
      unsafe push.uniqueID.store(in: UnsafeMutableRawBufferPointer(rebasing: ids[size...]))
      return unsafe push.payload.withUnsafeBytes { payload in
        unsafe checksum(of: push, in: number, ids: UnsafeRawBufferPointer(ids), payload) == stored
      }
    }
  }

  /// The first rows that are not as they were written, of those that have a payload.
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

  /// - Throws: `SQLITE_CORRUPT` when a row that has a payload is not as it was written.
  static func checkSums(_ db: Database) throws {
    guard let row = try changedRows(db, limit: 1).first else { return }
    throw DatabaseError(
      resultCode: .SQLITE_CORRUPT, message: "the checksum of a row: row \(row) of the mailbox fails its checksum")
  }

  /// Compares every row of a file, which has the newest schema, with its checksum.
  ///
  /// - Throws: ``StoreError`` when one is not as it was written.
  static func checkSums(path: String) throws(StoreError) {
    do {
      try SQLiteStore.reader(path).read(checkSums)
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  // MARK: Reading

  static let columns =
    "seq, app, apns_id, is_sender_id, unique_id, received, expires, priority, collapse_id, payload, id, checksum"

  /// Reads waiting rows with their payloads; one that went meanwhile is left out.
  ///
  /// Where they lie close together, what lies between them is read over. One that is not as it was written has no payload:
  /// nothing of it is shown.
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
    let seq = UInt64(try row.integer(0, in: StoredRange.number))
    return MailboxEntry(seq: seq, push: try isSound(push, row) ? push : push.withoutPayload)
  }

  static func push(_ row: PreparedStatement, of device: DeviceID) throws -> StoredPush {
    guard let id = row.id(2), let uniqueID = row.id(4) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT)
    }
    return StoredPush(
      device: device, app: AppID(row: try row.integer(1)), id: id, isSenderID: try row.integer(3) != 0,
      uniqueID: uniqueID, received: try row.integer(5, in: StoredRange.milliseconds),
      expires: try row.integer(6, in: StoredRange.seconds), priority: try row.priority(7),
      collapseID: try row.text(8), payload: row.blob(9))
  }
}

extension StoredPush {
  /// A push whose payload nobody should read.
  fileprivate var withoutPayload: StoredPush {
    StoredPush(
      device: device, app: app, id: id, isSenderID: isSenderID, uniqueID: uniqueID, received: received,
      expires: expires, priority: priority, collapseID: collapseID, payload: [])
  }
}
