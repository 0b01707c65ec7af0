import GRDB
import Synchronization

/// Moves a database's write-ahead log into the database, on a separate connection, so that commits continue.
///
/// The connection is opened by the first move and stays open: opening one costs more than most moves.
final class WALCheckpointer: Sendable {
  private let path: String
  private let queue = Mutex<DatabaseQueue?>(nil)

  init(path: String) { self.path = path }

  /// Moves the part of the log that no reader uses. Returns at once if another thread or connection is already doing
  /// this.
  func move() throws {
    do {
      try queue.withLockIfAvailable { kept in
        let queue = try kept ?? DatabaseQueue(path: path)
        kept = queue
        try queue.writeWithoutTransaction { db in
          _ = try db.checkpoint(.passive)
          // SQLite syncs only when it moves the last page of the log: that move would wait for all these pages.
          try SQLiteLibrary.syncDatabase(of: db)
        }
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      // Another connection is moving the log.
    }
  }

  /// Closes the connection. Waits for a move in progress.
  func close() throws { try queue.withLock { try $0.take()?.close() } }
}
