import Foundation
import GRDB
import Glibc
package import Logging
package import PushCore
import Synchronization

/// Notices what others do to the files of a database that is in use: SQLite itself would go on for hours with a file that
/// has no name any longer, or with pages in its memory that the disk has no longer, and all of it would be gone at the
/// next start.
package final class StoreWatch: Sendable {
  /// A file, whatever its name is.
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
  /// The database, its write-ahead log and the memory that its connections share, as they were opened.
  private let files: [(path: String, identity: Identity)]
  private let trouble = Mutex<HealthProblem?>(nil)
  /// The database when its pages were last read.
  private let examined = Mutex<(file: Identity?, at: ContinuousClock.Instant)>((nil, .now))

  /// Databases up to this size are read as a whole once they have changed; of larger ones only the names are watched.
  private static let examinedSize: off_t = 64 << 20
  /// How often they are read at most: it costs some 100 ms of a core.
  private static let examinationInterval = Duration.seconds(30)

  /// What is wrong; nil when nothing is. It stays until the next start.
  package var problem: HealthProblem? { trouble.withLock { $0 } }

  /// - Parameter now: seconds since 1970.
  package init(_ store: SQLiteStore, logger: Logger, now: @escaping @Sendable () -> Int64) {
    (self.store, self.logger, self.now) = (store, logger, now)
    files = ["", "-wal", "-shm"].compactMap { suffix in
      Identity(store.path + suffix).map { (store.path + suffix, $0) }
    }
  }

  /// Looks once.
  package func look() async {
    guard problem == nil else { return }
    let lost = files.filter { !$0.identity.isSameFile(as: Identity($0.path)) }.map(\.path)
    if !lost.isEmpty { return await rescue(lost) }
    await examine()
  }

  /// Brings what is in files without a name to where it stays, and has nothing more stored that would be lost.
  private func rescue(_ lost: [String]) async {
    let isDatabase = lost.contains(store.path)
    let copy = store.path + ".rescued"
    let isSaved: Bool
    do {
      isSaved = try await store.pool.writeWithoutTransaction { db in
        // What could still be committed now would be answered 200 and be gone with this process.
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

  /// Reads every page of a database that has changed, past what is in memory.
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
      // Where it can't be read now it is read the next time.
    }
  }

  private func begin(_ problem: String) {
    trouble.withLock { $0 = HealthProblem(part: "database", problem: problem, since: now()) }
    logger.log(.databaseReplaced, "\(problem)")
  }
}
