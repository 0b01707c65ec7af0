import Foundation
import GRDB
import PushCore
import Synchronization

/// The durability guarantee of a 200 response (`durability`).
package enum Durability: String, Sendable {
  /// The commit is on disk: it survives a failure of the process, the operating system and the machine.
  case full
  /// The commit is in the cache of the operating system: it survives only a failure of the process.
  case normal
}

/// The database file of a gateway: opened, checked and migrated to the newest schema.
package struct SQLiteStore: Sendable {
  package let path: String
  /// The connections: one writer and several readers (WAL).
  let pool: DatabasePool
  private let mover: WALCheckpointer
  /// In a cluster, applies changes on the other gateways as well.
  package let replica: Replica
  package let schema: StoreSchema

  /// The maximum size in bytes of a database that is checked completely at each start; larger ones are checked as far
  /// as the start reads them.
  private static let checkedSize = 64 << 20

  /// The page size of a new database in bytes, the default of SQLite.
  static let pageSize = 4096

  /// The time in seconds that a connection waits for another one.
  private static let busyTimeout = 5.0

  /// The number of connections that read at the same time. At a start, two read the pending pushes and two the
  /// registrations; the others serve lookups.
  private static let readerCount = 6

  /// Opens or creates the database.
  ///
  /// - Parameters:
  ///   - isCheckedWhole: true to check each page, whatever the size.
  ///   - schema: the schema that the database is migrated to.
  /// - Throws: ``StoreError`` with a proposed action if the file can't be used.
  package init(
    path: String, durability: Durability = .full, isCheckedWhole: Bool = false, schema: StoreSchema = .current
  ) throws(StoreError) {
    (self.path, self.schema) = (path, schema)
    replica = Replica(schema)
    mover = WALCheckpointer(path: path)
    do {
      var configuration = GRDB.Configuration()
      configuration.busyMode = .timeout(SQLiteStore.busyTimeout)
      configuration.maximumReaderCount = SQLiteStore.readerCount
      configuration.prepareDatabase { db in
        // Must be set before the database has content; an existing database gets it from ``compact()``.
        guard !db.configuration.readonly, try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 else { return }
        try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
      }
      let pool = try DatabasePool(path: path, configuration: configuration)
      try pool.writeWithoutTransaction { db in
        // GRDB opens with NORMAL, which does not sync at a commit. The mailbox moves the log long before it reaches
        // the limit of pages; the limit bounds its growth by other writes. Deleted content is overwritten, which is
        // the default of Debian's SQLite. The SQLite of another system might leave the texts of acknowledged pushes
        // in the file.
        try db.execute(
          sql: """
            PRAGMA synchronous = \(durability.rawValue);
            PRAGMA secure_delete = ON;
            PRAGMA wal_autocheckpoint = \(Limits.maximumDatabaseLogPages);
            PRAGMA journal_size_limit = \(Limits.maximumDatabaseLogPages * SQLiteStore.pageSize)
            """)
      }
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
      if isCheckedWhole || size <= SQLiteStore.checkedSize {
        let verdict = try pool.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        guard verdict == "ok" else { throw SQLiteStore.damaged(path, verdict ?? "unknown") }
      }
      if try pool.read({ try schema.migrator.hasBeenSuperseded($0) }) {
        throw MigrationBackup.refusal(path)
      }
      try schema.migrate(pool)
      try SQLiteStore.openReaders(of: pool)
      self.pool = pool
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Closes the file and its log. Until then the file must not be moved. Waits for readers.
  package func close() throws(StoreError) {
    do {
      // The connections of the pool are closed last, which empties the log.
      try mover.close()
      try pool.close()
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Moves the write-ahead log into the database, on a separate connection, so that commits continue.
  ///
  /// This does not happen automatically: call it after writing much, or the next writer has to do it.
  package func moveLog() throws { try mover.move() }

  /// Moves all of the write-ahead log into the database and empties it, so that erased content is in neither.
  ///
  /// The log must stay while a reader uses it: this tries again for some seconds and then gives up. Writers wait for
  /// a few milliseconds at most.
  ///
  /// - Returns: true if the log is empty.
  package func emptyLog() async throws -> Bool {
    var configuration = GRDB.Configuration()
    configuration.busyMode = .timeout(SQLiteStore.emptyingTime)
    for _ in 0..<SQLiteStore.emptyingAttempts {
      // Moves nearly all of the log without blocking writers.
      try moveLog()
      do {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try await queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        return true
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
        try await Task.sleep(for: SQLiteStore.emptyingPause)
      }
    }
    return false
  }

  /// The time in seconds that an attempt to empty the log waits for readers, while writers wait for the attempt.
  private static let emptyingTime = 0.02
  private static let emptyingAttempts = 50
  private static let emptyingPause = Duration.milliseconds(100)

  // MARK: Changes

  /// Changes the data of a gateway outside of its mailbox: one change after another, each completely or not at all. A
  /// change updates memory in `afterNextTransaction`, so that the next change finds it.
  ///
  /// - Throws: an error of `change`; ``StoreError`` for an error of SQLite.
  func write<Value: Sendable>(_ change: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    do {
      return try await replica.write(pool, change)
    } catch let error as DatabaseError {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  // Each error of the following functions is a ``StoreError`` with a description for users.

  /// Changes data as ``write(_:)`` does.
  func change<Value: Sendable>(
    _ change: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    do { return try await write(change) } catch { throw SQLiteStore.explain(error, path: path) }
  }

  /// Reads data without blocking a thread.
  func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws(StoreError) -> Value {
    do { return try await pool.read(body) } catch { throw SQLiteStore.explain(error, path: path) }
  }

  /// Reads data at a start.
  func load<Value>(_ body: (Database) throws -> Value) throws(StoreError) -> Value {
    do { return try pool.read(body) } catch { throw SQLiteStore.explain(error, path: path) }
  }

  // MARK: Disk space

  /// The number of free pages to keep for later use, and the divisor for their share of all pages; the larger number
  /// applies.
  private static let (keptFreePages, keptFreeShare) = (2_048, 8)
  /// The number of pages that are released at once, while commits wait.
  private static let slice = 256

  /// Returns some of the unused space to the disk.
  ///
  /// - Parameter isThorough: true to release all of it; false to release only the space that will not be needed soon.
  /// - Returns: true if there may be more. A database of an earlier version can't release space before ``compact()``.
  package func releaseSpace(isThorough: Bool = false) async throws(StoreError) -> Bool {
    do {
      return try await pool.write { db in
        func number(_ pragma: String) throws -> Int { try Int.fetchOne(db, sql: "PRAGMA " + pragma) ?? 0 }
        let free = try number("freelist_count")
        let kept = isThorough ? 0 : try max(SQLiteStore.keptFreePages, number("page_count") / SQLiteStore.keptFreeShare)
        guard free > kept, try number("auto_vacuum") == 2 else { return false }
        try db.execute(sql: "PRAGMA incremental_vacuum(\(SQLiteStore.slice))")
        return true
      }
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Returns all unused space to the disk: in slices or, for a database of an earlier version, by rewriting the
  /// database while commits wait.
  ///
  /// - Returns: the bytes of the file before and after.
  @inline(never)
  package func compact() async throws(StoreError) -> (before: Int, after: Int) {
    do {
      let before = try size()
      if try await pool.read({ try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") }) != 2 {
        try await pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM") }
      }
      while try await releaseSpace(isThorough: true) {}
      // If a reader is active, the file is shortened by the next checkpoint.
      _ = try? await pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
      return (before, try size())
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  private func size() throws -> Int { try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0 }

  /// Opens each reader now: when many devices reconnect, there may be no file descriptors left for it.
  private static func openReaders(of pool: DatabasePool) throws {
    let failure = Mutex<(any Error)?>(nil)
    let (opened, released, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
    for _ in 0..<readerCount {
      ended.enter()
      pool.asyncRead { reader in
        if case .failure(let error) = reader { failure.withLock { $0 = error } }
        opened.signal()
        // Each reader keeps its connection until all have one.
        released.wait()
        ended.leave()
      }
    }
    for _ in 0..<readerCount { opened.wait() }
    for _ in 0..<readerCount { released.signal() }
    ended.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  /// Returns a read-only connection. It waits while another one closes the database.
  static func reader(_ path: String) throws -> DatabaseQueue {
    var configuration = GRDB.Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(busyTimeout)
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Reads data of a file that may not be open, on a read-only connection.
  static func read<Value>(path: String, _ body: (Database) throws -> Value) throws(StoreError) -> Value {
    do { return try reader(path).read(body) } catch { throw explain(error, path: path) }
  }

  /// Reads each page of a database without changing it.
  ///
  /// - Throws: ``StoreError`` if it is damaged.
  package static func check(path: String) throws(StoreError) {
    let verdict = try read(path: path) { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
    guard verdict == "ok" else { throw damaged(path, verdict ?? "unknown") }
  }

  /// Checks a database without reading all of it or changing it: its schema, and the ends of each table.
  ///
  /// - Throws: ``StoreError`` if these parts are damaged.
  package static func glance(path: String) throws(StoreError) {
    try read(path: path) { db in
      let tables = try Row.fetchAll(
        db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      for table in tables {
        let (name, sql): (String, String) = (table["name"], table["sql"])
        let hasRowID = !sql.uppercased().contains("WITHOUT ROWID")
        for order in hasRowID ? [" ORDER BY rowid", " ORDER BY rowid DESC"] : [""] {
          _ = try Row.fetchOne(db, sql: "SELECT * FROM \"\(name)\"\(order) LIMIT 1")
        }
      }
    }
  }

  /// Returns true if a file with its write-ahead log is small enough to be always checked completely.
  package static func isSmall(path: String) -> Bool {
    let sizes = [path, path + "-wal"].map { path in
      (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.intValue ?? 0
    }
    return sizes.reduce(0, +) <= checkedSize
  }

  /// Converts an error of SQLite into an error with a description of one line for users.
  package static func explain(_ error: any Error, path: String) -> StoreError {
    if let error = error as? StoreError { return error }
    guard let error = error as? DatabaseError else { return StoreError("\(path): \(error.localizedDescription)") }
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: return damaged(path, error.message ?? "not a database")
    case .SQLITE_FULL: return full(path)
    // There was no space for the journal or for the shared memory of the connections.
    case .SQLITE_IOERR where isDiskFull(path), .SQLITE_CANTOPEN where isDiskFull(path): return full(path)
    case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM:
      return StoreError("\(path) can't be opened for writing: check the folder's owner and permissions")
    case .SQLITE_BUSY: return StoreError("\(path) is in use by another program: stop it first")
    default: return StoreError("\(path): \(error.message ?? "SQLite error \(error.resultCode.rawValue)")")
    }
  }

  private static func full(_ path: String) -> StoreError {
    var error = StoreError("\(path): the disk is full: free some space")
    error.isDiskFull = true
    return error
  }

  /// Returns true if the disk of a file has less free space than a new write-ahead log and its index need.
  private static func isDiskFull(_ path: String) -> Bool {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return false }
    return UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue < 1 << 16
  }

  /// Returns true if an error means that the file is not a valid database, so that no retry can succeed.
  package static func isDamage(_ error: any Error) -> Bool {
    guard let error = error as? DatabaseError else { return false }
    return error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB
  }

  private static func damaged(_ path: String, _ words: String) -> StoreError {
    let words = words.split(separator: "\n").first.map(String.init) ?? words
    var error = StoreError(
      "\(path) is damaged (\(words)): `pushcli doctor --repair` keeps its readable rows, or restore a backup")
    error.isDamage = true
    return error
  }
}
