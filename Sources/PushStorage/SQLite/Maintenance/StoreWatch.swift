import Foundation
import GRDB
import Glibc
package import Logging
package import PushCore
import Synchronization

/// Detects that the files of a database in use were changed from outside. SQLite would continue for hours with a file
/// that was deleted, or with cached pages that are no longer on disk, and all data would be lost at the next start.
package final class StoreWatch: Sendable {
  /// The identity of a file, regardless of its name.
  private struct Identity: Equatable {
    var device: dev_t
    var inode: ino_t
    var size: off_t
    var changed: timespec

    init?(_ path: String) {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      (device, inode, size, changed) = (status.st_dev, status.st_ino, status.st_size, status.st_mtim)
    }

    func isSameFile(as other: Identity?) -> Bool { device == other?.device && inode == other?.inode }

    static func == (one: Identity, other: Identity) -> Bool {
      one.isSameFile(as: other) && one.size == other.size && one.changed.tv_sec == other.changed.tv_sec
        && one.changed.tv_nsec == other.changed.tv_nsec
    }
  }

  private let store: SQLiteStore
  private let logger: Logger
  private let now: @Sendable () -> Int64
  /// The database, its write-ahead log and the shared memory of its connections, as they were opened.
  private let files: [(path: String, identity: Identity)]
  private let trouble = Mutex<HealthProblem?>(nil)
  /// The database when its pages were last read.
  private let examined = Mutex<(file: Identity?, at: ContinuousClock.Instant)>((nil, .now))

  /// The maximum size in bytes of a database that is read completely after a change; of larger ones only the names
  /// are watched.
  private static let examinedSize: off_t = 64 << 20
  /// The minimum interval between two complete reads: one costs about 100 ms of a core.
  private static let examinationInterval = Duration.seconds(30)

  /// The problem that was found; nil if there is none. It stays until the next start.
  package var problem: HealthProblem? { trouble.withLock { $0 } }

  /// Starts with the current files of a store.
  ///
  /// - Parameter now: seconds since 1970.
  package init(_ store: SQLiteStore, logger: Logger, now: @escaping @Sendable () -> Int64) {
    (self.store, self.logger, self.now) = (store, logger, now)
    files = ["", "-wal", "-shm"].compactMap { suffix in
      Identity(store.path + suffix).map { (store.path + suffix, $0) }
    }
  }

  /// Checks the files once.
  @inline(never)
  package func look() async {
    guard problem == nil else { return }
    let lost = files.filter { !$0.identity.isSameFile(as: Identity($0.path)) }.map(\.path)
    if !lost.isEmpty { return await rescue(lost) }
    await examine()
  }

  /// Saves the content of deleted files, and stops further writes, which would be lost.
  private func rescue(_ lost: [String]) async {
    let isDatabase = lost.contains(store.path)
    let copy = store.path + ".rescued"
    let isSaved: Bool
    do {
      isSaved = try await store.pool.writeWithoutTransaction { db in
        // A push committed after this would be answered with 200 and lost with this process.
        defer { try? db.execute(sql: "PRAGMA query_only = ON") }
        if isDatabase {
          try db.execute(sql: "VACUUM INTO ?", arguments: [copy])
        } else {
          _ = try db.checkpoint(.full)
        }
        return true
      }
    } catch {
      isSaved = false
    }
    let names = lost.map { ($0 as NSString).lastPathComponent }.joined(separator: ", ")
    let saved =
      !isSaved
      ? "its data could not be saved"
      : isDatabase ? "its data is saved as \(copy)" : "everything accepted so far is safe in \(store.path)"
    begin(
      "\(names) was deleted or replaced while the gateway used it: \(saved); pushes are refused until a restart")
  }

  /// Reads each page of a changed database from disk, past the cache of the connections.
  private func examine() async {
    guard let file = Identity(store.path), file.size <= StoreWatch.examinedSize else { return }
    let isDue = examined.withLock { examined in
      guard examined.file != file, .now - examined.at >= StoreWatch.examinationInterval || examined.file == nil else {
        return false
      }
      examined = (file, .now)
      return true
    }
    guard isDue else { return }
    let path = store.path
    do {
      try await Task.detached {
        try SQLiteStore.check(path: path)
        try SQLiteMailbox.checkSums(path: path)
      }.value
    } catch let error as StoreError where error.isDamage {
      begin("\(error.description), after `pushcli admin backup` and a stop")
    } catch {
      // If it can't be read now, it is read the next time.
    }
  }

  private func begin(_ problem: String) {
    trouble.withLock { $0 = HealthProblem(part: "database", problem: problem, since: now()) }
    logger.log(.databaseReplaced, "\(problem)")
  }
}
