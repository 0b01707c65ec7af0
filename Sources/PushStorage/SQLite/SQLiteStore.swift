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

  /// Databases up to this size are checked as a whole at every start; larger ones as far as the start reads them.
  private static let checkedSize = 64 << 20

  /// Connections that read at the same time.
  private static let readerCount = 4

  /// Opens or makes the database.
  ///
  /// - Parameter isCheckedWhole: checks every page, whatever the size.
  /// - Throws: ``StoreError`` when the file can't be used, with what to do about it.
  package init(path: String, durability: Durability = .full, isCheckedWhole: Bool = false) throws(StoreError) {
    self.path = path
    do {
      var configuration = GRDB.Configuration()
      configuration.busyMode = .timeout(5)
      configuration.maximumReaderCount = SQLiteStore.readerCount
      let pool = try DatabasePool(path: path, configuration: configuration)
      try pool.writeWithoutTransaction { db in
        // GRDB opens with NORMAL, which does not sync at commit.
        // The mailbox moves the log long before it is as long as that: what else is written must not make it grow for
        // ever.
        try db.execute(
          sql: """
            PRAGMA synchronous = \(durability.rawValue);
            PRAGMA wal_autocheckpoint = \(Limits.maximumDatabaseLogPages)
            """)
      }
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
      if isCheckedWhole || size <= SQLiteStore.checkedSize {
        let verdict = try pool.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        guard verdict == "ok" else { throw SQLiteStore.damaged(path, verdict ?? "unknown") }
      }
      let migrator = Schema.migrator
      if try pool.read({ try migrator.hasBeenSuperseded($0) }) {
        throw StoreError("\(path) was written by a newer pushcli: start that one, or restore an older backup")
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
    do { try pool.close() } catch { throw SQLiteStore.explain(error, path: path) }
  }

  /// Moves what is in the log into the database, by a connection of its own, so that commits go on meanwhile.
  ///
  /// Nothing does so by itself: whoever has written much calls this, or the next who writes pays for it.
  package func moveLog() throws {
    do {
      try DatabaseQueue(path: path).writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      // Another connection is at it.
    }
  }

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

  /// Reads every page of a database, and changes nothing.
  ///
  /// - Throws: ``StoreError`` when it is damaged.
  package static func check(path: String) throws(StoreError) {
    do {
      var configuration = GRDB.Configuration()
      configuration.readonly = true
      let verdict = try DatabaseQueue(path: path, configuration: configuration).read {
        try String.fetchOne($0, sql: "PRAGMA quick_check(1)")
      }
      guard verdict == "ok" else { throw damaged(path, verdict ?? "unknown") }
    } catch {
      throw explain(error, path: path)
    }
  }

  /// Turns a failure of SQLite into one line for people.
  package static func explain(_ error: any Error, path: String) -> StoreError {
    if let error = error as? StoreError { return error }
    guard let error = error as? DatabaseError else { return StoreError("\(path): \(error.localizedDescription)") }
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: return damaged(path, error.message ?? "not a database")
    case .SQLITE_FULL: return StoreError("\(path): the disk is full: free some space")
    // Its journal, or the memory that its connections share, found none.
    case .SQLITE_IOERR where isDiskFull(path): return StoreError("\(path): the disk is full: free some space")
    case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM:
      return StoreError("\(path) can't be opened for writing: check the folder's owner and permissions")
    case .SQLITE_BUSY: return StoreError("\(path) is in use by another program: stop it first")
    default: return StoreError("\(path): \(error.message ?? "SQLite error \(error.resultCode.rawValue)")")
    }
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
      "\(path) is damaged (\(words)): `pushcli doctor --repair` keeps what is readable, or restore a backup")
    error.isDamage = true
    return error
  }
}
