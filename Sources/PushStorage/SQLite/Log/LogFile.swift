import Foundation
import GRDB
import Glibc
import PushCore
import Synchronization

/// The file of the delivery log. It never decides if pushes are delivered. A damaged file is moved aside and replaced
/// by a new one, a deleted file is replaced, and a file that can't be opened is tried again.
final class LogFile: Sendable {
  /// The fate of a file that is no longer written.
  enum Loss: Equatable {
    /// The file is damaged, and kept under this name.
    case movedAside(String)
    /// The file was deleted, or another file has its name now.
    case deleted
  }

  let path: String
  private let lost: @Sendable (Loss) -> Void
  private let opened = Mutex<Opened?>(nil)

  private struct Opened {
    let queue: DatabaseQueue
    /// A read-only connection for searches. The writer waits for it at most as long as one slice of a search takes,
    /// however many searches are queued.
    let reader: DatabaseQueue
    let identity: Identity?
  }

  /// The file that a path refers to.
  private struct Identity: Equatable {
    let device: dev_t
    let inode: ino_t

    init?(_ path: String) {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      (device, inode) = (status.st_dev, status.st_ino)
    }
  }

  /// Sets the path of the log; the first access opens the file.
  ///
  /// - Parameter lost: called when a new file replaces another one.
  init(path: String, lost: @escaping @Sendable (Loss) -> Void) {
    self.path = path
    self.lost = lost
  }

  /// Returns the database. Opens or creates it first if necessary.
  ///
  /// - Throws: ``StoreError`` if this is not possible now.
  func database() throws(StoreError) -> DatabaseQueue { try connections().queue }

  private func connections() throws(StoreError) -> Opened {
    do {
      return try opened.withLock { opened in
        if let opened, Identity(path) == opened.identity { return opened }
        if opened != nil { lost(.deleted) }
        opened = nil
        let begun = try open()
        opened = begun
        return begun
      }
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Runs `body` on the database. If it finds damage, the file is moved aside; the next access creates a new one.
  ///
  /// - Throws: ``StoreError``.
  func access<Value>(_ body: (DatabaseQueue) throws -> Value) throws(StoreError) -> Value {
    let queue = try database()
    do {
      return try body(queue)
    } catch {
      note(error, of: queue)
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Runs `body` as ``access(_:)`` does, but on the read-only connection and without blocking a thread.
  func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws(StoreError) -> Value {
    let opened = try connections()
    do {
      return try await opened.reader.read(body)
    } catch {
      note(error, of: opened.queue)
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Runs `body` as ``access(_:)`` does, in a transaction and without blocking a thread.
  @inline(never)
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    let queue = try database()
    do {
      return try await queue.write(body)
    } catch {
      note(error, of: queue)
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Gives up the file if the error shows that it is damaged.
  private func note(_ error: any Error, of queue: DatabaseQueue) {
    guard SQLiteStore.isDamage(error) else { return }
    opened.withLock { opened in
      // Another thread may have given it up before.
      guard let lost = opened, lost.queue === queue else { return }
      opened = nil
      try? lost.queue.close()
      // A search in progress ends with the file that it has open.
      try? lost.reader.close()
      try? moveAside()
    }
  }

  private func open() throws -> Opened {
    do {
      return try begin()
    } catch  where SQLiteStore.isDamage(error) || isFolder {
      try moveAside()
      return try begin()
    }
  }

  private var isFolder: Bool {
    var isFolder: ObjCBool = false
    return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }

  private func begin() throws -> Opened {
    var configuration = GRDB.Configuration()
    configuration.busyMode = .timeout(LogFile.busyTimeout)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.writeWithoutTransaction { db in
      try db.execute(
        sql: """
          -- Records only come behind one another, and one connection writes: a rollback journal has little to keep,
          -- while a write-ahead log would have every page written twice and read once, and grow for as long as
          -- searches follow one another. (Larger pages would save one per cent of accepting, and cost 10 MB.) What was
          -- trimmed is given back to the disk, and what was erased is overwritten.
          PRAGMA secure_delete = ON; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = PERSIST; PRAGMA synchronous = OFF;
          PRAGMA journal_size_limit = \(LogFile.journalSize);
          CREATE TABLE IF NOT EXISTS batch (
            number INTEGER PRIMARY KEY,
            first INTEGER NOT NULL,        -- milliseconds since 1970, of the earliest row
            last INTEGER NOT NULL,
            rows BLOB NOT NULL             -- LogBatch
          );
          CREATE TABLE IF NOT EXISTS batch_group (
            first_batch INTEGER PRIMARY KEY,
            last_batch INTEGER NOT NULL,
            last INTEGER NOT NULL,         -- milliseconds since 1970, of the latest row
            filter BLOB NOT NULL           -- LogFilter
          );
          CREATE TABLE IF NOT EXISTS event_cursor (
            target TEXT PRIMARY KEY,
            series TEXT NOT NULL,          -- random, for the ids of requests
            position INTEGER NOT NULL,     -- the number of the last row that was sent or passed over
            pending INTEGER,               -- that of the last row of the request that was begun; NULL: none
            skipped INTEGER NOT NULL,      -- the rows that were removed before they were sent
            changes INTEGER NOT NULL       -- the erasures that renumbered rows
          );
          -- A version without groups may have emptied the log, and begun its numbers anew.
          DELETE FROM batch_group WHERE first_batch > (SELECT coalesce(max(number), 0) FROM batch)
          """)
      // A truncated file lacks its end: this read detects it.
      _ = try Int64.fetchOne(db, sql: "SELECT last FROM batch ORDER BY number DESC LIMIT 1")
    }
    configuration.readonly = true
    configuration.busyMode = .timeout(LogFile.readerTimeout)
    let reader = try DatabaseQueue(path: path, configuration: configuration)
    return Opened(queue: queue, reader: reader, identity: Identity(path))
  }

  /// Removes the journal, which contains the former content of changed pages. The next transaction creates a new one.
  func removeJournal() async throws(StoreError) {
    let queue = try database()
    do {
      try await queue.writeWithoutTransaction {
        try $0.execute(sql: "PRAGMA journal_mode = DELETE; PRAGMA journal_mode = PERSIST")
      }
    } catch {
      note(error, of: queue)
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// The time in seconds that the writer waits for a reader: a slice of a search takes milliseconds.
  private static let busyTimeout = 5.0
  /// The time in seconds that a reader waits for the writer, which leaves gaps between its records.
  private static let readerTimeout = 20.0

  /// Renames the file to keep it for a later examination.
  private func moveAside() throws(StoreError) {
    let stem = path.hasSuffix(".sqlite") ? String(path.dropLast(7)) : path
    let name = "\(stem).damaged-\(Timestamp.text(Date(), .compact))"
    let copy = (0...).lazy.map { $0 == 0 ? name + ".sqlite" : "\(name)-\($0).sqlite" }
      .first { !FileManager.default.fileExists(atPath: $0) }
    guard let copy, unsafe rename(path, copy) == 0 else {
      throw StoreError(
        "\(path) is damaged and can't be renamed (\(unsafe String(cString: strerror(errno)))): move it away")
    }
    unsafe unlink(path + "-journal")
    lost(.movedAside(copy))
  }

  /// The maximum size of the journal between two transactions, in bytes.
  private static let journalSize = 1 << 20
  /// The number of batches that are trimmed at a time.
  private static let trimmedBatches = 16
  /// The number of pages that are released at a time: more than ``trimmedBatches`` batches usually have.
  private static let freedPages = 1024

  /// Removes some of the first batches if they ended before `time` (milliseconds since 1970). Only a few at a time,
  /// so that neither the journal nor the time that others wait grows with the log.
  ///
  /// - Returns: true if there may be more to remove.
  func trim(before time: Int64) throws(StoreError) -> Bool {
    try access { queue in
      try queue.writeWithoutTransaction { db in
        let first = try Row.fetchAll(
          db, sql: "SELECT number, last FROM batch ORDER BY number LIMIT \(LogFile.trimmedBatches)")
        let old: [Int64] = first.prefix { $0["last"] < time }.map { $0["number"] }
        guard let last = old.last else { return false }
        try LogFile.removeBatches(through: last, in: db)
        try db.execute(sql: "PRAGMA incremental_vacuum(\(LogFile.freedPages))")
        return old.count == LogFile.trimmedBatches
      }
    }
  }

  /// Removes some of the first batches if the file is larger than `size` bytes, and returns their space to the disk.
  ///
  /// - Returns: true if there may be more to remove.
  func trim(toSize size: Int64) throws(StoreError) -> Bool {
    try access { queue in
      try queue.writeWithoutTransaction { db in
        func number(_ pragma: String) throws -> Int64 { try Int64.fetchOne(db, sql: "PRAGMA " + pragma) ?? 0 }
        let (used, pageSize) = (try number("page_count"), try number("page_size"))
        guard used > size / max(1, pageSize) else { return false }
        // Free pages are released first. A file that can't be shortened reuses the space of old rows for new ones.
        var hasRemoved = false
        if try number("freelist_count") < LogFile.freedPages {
          let first = try Row.fetchAll(
            db, sql: "SELECT number, length(rows) AS size FROM batch ORDER BY number LIMIT \(LogFile.trimmedBatches)")
          var excess = used * pageSize - size
          let surplus = first.prefix { row in
            defer { excess -= row["size"] as Int64 }
            return excess > 0
          }
          guard let last = surplus.last else { return false }
          try LogFile.removeBatches(through: last["number"], in: db)
          hasRemoved = true
        }
        try db.execute(sql: "PRAGMA incremental_vacuum(\(LogFile.freedPages))")
        return try hasRemoved || number("page_count") < used
      }
    }
  }

  private static func removeBatches(through last: Int64, in db: Database) throws {
    try EventCursor.skip(through: last, in: db)
    try db.execute(sql: "DELETE FROM batch WHERE number <= ?", arguments: [last])
    try db.execute(
      sql: "DELETE FROM batch_group WHERE first_batch <= ? AND last_batch <= ?", arguments: [last, last])
    try EventCursor.restart(in: db)
  }

  // MARK: Writing

  /// Writes a record, and the filter of its group if the group is complete.
  static func append(
    _ rows: UnsafeRawBufferPointer, first: Int64, last: Int64, to queue: DatabaseQueue, _ group: inout LogGroup
  ) throws {
    let number = try queue.writeWithoutTransaction { db in
      let insert = try PreparedStatement(db, "INSERT INTO batch (first, last, rows) VALUES (?, ?, ?)", isKept: true)
      insert.bind(first)
      insert.bind(last)
      unsafe insert.bind(borrowed: rows)
      try insert.run()
      return db.lastInsertedRowID
    }
    unsafe group.add(number, last: last, rows: rows)
    if group.isComplete { try complete(&group, in: queue) }
  }

  /// Writes the filter of a group and begins a new group. If this fails, the records of the group have no filter.
  static func complete(_ group: inout LogGroup, in queue: DatabaseQueue) throws {
    guard let numbers = group.numbers else { return }
    let (last, filter) = (group.last, group.filterBytes)
    group = LogGroup()
    try queue.writeWithoutTransaction { db in
      let insert = try PreparedStatement(
        db, "INSERT INTO batch_group (first_batch, last_batch, last, filter) VALUES (?, ?, ?, ?)", isKept: true)
      for value in [numbers.lowerBound, numbers.upperBound, last] { insert.bind(value) }
      try unsafe filter.withUnsafeBytes { bytes in
        unsafe insert.bind(borrowed: bytes)
        try insert.run()
      }
    }
  }

  /// Closes the file. While it is open it must not be moved.
  func close() throws(StoreError) {
    do {
      try opened.withLock { opened in
        try opened?.reader.close()
        try opened?.queue.close()
        opened = nil
      }
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }
}
