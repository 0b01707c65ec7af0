import Foundation
import GRDB
import PushCore
import Synchronization

/// What a 200 promises (`durability`).
package enum Durability: String, Sendable {
  /// The commit is on disk: it survives the death of the process, the system and the machine.
  case full
  /// The commit is in the system's cache: it survives the death of the process only.
  case normal
}

/// The database file of a gateway: opened, checked and brought to the newest schema.
package struct SQLiteStore: Sendable {
  package let path: String
  /// One writer, several readers (WAL).
  let pool: DatabasePool
  private let mover: WALCheckpointer
  /// Has changes made also by other gateways, in a cell.
  package let replica: Replica
  package let schema: StoreSchema

  /// Databases up to this size are checked as a whole at every start; larger ones as far as the start reads them.
  private static let checkedSize = 64 << 20

  /// What SQLite makes pages of a new database.
  static let pageSize = 4096

  /// How long a connection waits for another one, in seconds.
  private static let patience = 5.0

  /// Connections that read at the same time: at a start two read what waits, two all registrations, and there are some for
  /// those who look one up meanwhile.
  private static let readerCount = 6

  /// Opens or makes the database.
  ///
  /// - Parameters:
  ///   - isCheckedWhole: checks every page, whatever the size.
  ///   - schema: what the database is brought to.
  /// - Throws: ``StoreError`` when the file can't be used, with what to do about it.
  package init(
    path: String, durability: Durability = .full, isCheckedWhole: Bool = false, schema: StoreSchema = .current
  ) throws(StoreError) {
    (self.path, self.schema) = (path, schema)
    replica = Replica(schema)
    mover = WALCheckpointer(path: path)
    do {
      var configuration = GRDB.Configuration()
      configuration.busyMode = .timeout(SQLiteStore.patience)
      configuration.maximumReaderCount = SQLiteStore.readerCount
      configuration.prepareDatabase { db in
        // Before anything is in it; one that is there already has this from ``compact()``.
        guard !db.configuration.readonly, try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 else { return }
        try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
      }
      let pool = try DatabasePool(path: path, configuration: configuration)
      try pool.writeWithoutTransaction { db in
        // GRDB opens with NORMAL, which does not sync at commit.
        // The mailbox moves the log long before it is as long as that: what else is written must not make it grow for
        // ever. What is deleted is overwritten, as Debian's SQLite does it by itself: one of another system might leave the
        // texts of acknowledged pushes where they were.
        try db.execute(
          sql: """
            PRAGMA synchronous = \(durability.rawValue);
            PRAGMA secure_delete = ON;
            PRAGMA wal_autocheckpoint = \(Limits.maximumDatabaseLogPages);
            PRAGMA journal_size_limit = \(Limits.maximumDatabaseLogPages * SQLiteStore.pageSize)
            """)
      }
      ReadAhead.begin(path)
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
      if isCheckedWhole || size <= SQLiteStore.checkedSize {
        let verdict = try pool.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        guard verdict == "ok" else { throw SQLiteStore.damaged(path, verdict ?? "unknown") }
      }
      let migrator = schema.migrator
      if try pool.read({ try migrator.hasBeenSuperseded($0) }) {
        throw MigrationBackups.refusal(path)
      }
      try migrator.migrate(pool)
      try SQLiteStore.openReaders(of: pool)
      self.pool = pool
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Closes the file, with everything in it: before that it must not be moved. Waits for readers.
  package func close() throws(StoreError) {
    do {
      // The pool's is the last, which empties the log.
      try mover.close()
      try pool.close()
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Moves what is in the log into the database, by a connection of its own, so that commits go on meanwhile.
  ///
  /// Nothing does so by itself: whoever has written much calls this, or the next who writes pays for it.
  package func moveLog() throws { try mover.move() }

  /// Moves all of the log into the database and leaves nothing in it, so that what was erased is in neither.
  ///
  /// While somebody reads what the log has, it has to stay: this tries again for some seconds, and gives up. Whoever
  /// writes waits for a few milliseconds at most.
  ///
  /// - Returns: whether the log is empty now.
  package func emptyLog() async throws -> Bool {
    var configuration = GRDB.Configuration()
    configuration.busyMode = .timeout(SQLiteStore.emptyingTime)
    for _ in 0..<SQLiteStore.emptyingAttempts {
      // Nearly everything without anybody's waiting.
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

  /// How long an attempt to empty the log waits for readers, in seconds, while writers wait for it.
  private static let emptyingTime = 0.02
  private static let emptyingAttempts = 50
  private static let emptyingPause = Duration.milliseconds(100)

  // MARK: Changing

  /// Changes what a gateway knows beside its mailbox: one change after another, each as a whole or not at all. What the
  /// memory of this process should know by the next one is told it in `afterNextTransaction`.
  func write<Value: Sendable>(_ change: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    try await replica.write(pool, change)
  }

  // MARK: Room on the disk

  /// Pages that may be free for what comes next, and of all pages one in so many.
  private static let (keptFreePages, keptFreeShare) = (2_048, 8)
  /// Pages that are given back at once: commits wait meanwhile.
  private static let slice = 256

  /// Gives some of the room back that nothing is stored in any longer.
  ///
  /// - Parameter isThorough: all of it, not only what is far more than is needed soon.
  /// - Returns: whether there may be more. A database of an earlier version has none to give before ``compact()``.
  package func giveRoomBack(isThorough: Bool = false) async throws(StoreError) -> Bool {
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

  /// Gives all room back that nothing is stored in any longer: in slices, or, for a database of an earlier version, by
  /// writing it anew, when commits wait until that is done.
  ///
  /// - Returns: the bytes of the file before and after.
  package func compact() async throws(StoreError) -> (before: Int, after: Int) {
    do {
      let before = try size()
      if try await pool.read({ try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") }) != 2 {
        try await pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM") }
      }
      while try await giveRoomBack(isThorough: true) {}
      // Where somebody reads just now, the file gets shorter with the next checkpoint.
      _ = try? await pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
      return (before, try size())
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  private func size() throws -> Int { try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0 }

  /// Opens every reader now: when many devices catch up there may be no descriptors left for it.
  private static func openReaders(of pool: DatabasePool) throws {
    let failure = Mutex<(any Error)?>(nil)
    let (opened, released, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
    for _ in 0..<readerCount {
      ended.enter()
      pool.asyncRead { reader in
        if case .failure(let error) = reader { failure.withLock { $0 = error } }
        opened.signal()
        // Each holds its connection until all have one.
        released.wait()
        ended.leave()
      }
    }
    for _ in 0..<readerCount { opened.wait() }
    for _ in 0..<readerCount { released.signal() }
    ended.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  /// A connection that only reads, and waits for whoever is just closing the database.
  static func reader(_ path: String) throws -> DatabaseQueue {
    var configuration = GRDB.Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(patience)
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Reads every page of a database, and changes nothing.
  ///
  /// - Throws: ``StoreError`` when it is damaged.
  package static func check(path: String) throws(StoreError) {
    do {
      let verdict = try reader(path).read {
        try String.fetchOne($0, sql: "PRAGMA quick_check(1)")
      }
      guard verdict == "ok" else { throw damaged(path, verdict ?? "unknown") }
    } catch {
      throw explain(error, path: path)
    }
  }

  /// Looks at a database without reading all of it, and changes nothing: its schema, and the ends of each table.
  ///
  /// - Throws: ``StoreError`` when it is damaged there.
  package static func glance(path: String) throws(StoreError) {
    do {
      try reader(path).read { db in
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
    } catch {
      throw explain(error, path: path)
    }
  }

  /// Whether a file, with its write-ahead log, is so small that it is always read as a whole.
  package static func isSmall(path: String) -> Bool {
    let sizes = [path, path + "-wal"].map { path in
      (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.intValue ?? 0
    }
    return sizes.reduce(0, +) <= checkedSize
  }

  /// Turns a failure of SQLite into one line for people.
  package static func explain(_ error: any Error, path: String) -> StoreError {
    if let error = error as? StoreError { return error }
    guard let error = error as? DatabaseError else { return StoreError("\(path): \(error.localizedDescription)") }
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: return damaged(path, error.message ?? "not a database")
    case .SQLITE_FULL: return full(path)
    // Its journal, or the memory that its connections share, found none.
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

  /// Whether the disk of a file has less left than a write-ahead log and its index need to begin.
  private static func isDiskFull(_ path: String) -> Bool {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return false }
    return UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue < 1 << 16
  }

  /// Whether a failure means that the file is no sound database: no retry mends that.
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
