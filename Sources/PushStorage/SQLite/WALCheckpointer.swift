import GRDB
import Synchronization

/// Moves a database's write-ahead log into the database, by a connection of its own, so that commits go on meanwhile.
///
/// The connection is opened by the first who asks and stays: opening one costs more than most moves.
final class WALCheckpointer: Sendable {
  private let path: String
  private let queue = Mutex<DatabaseQueue?>(nil)

  init(path: String) { self.path = path }

  /// Moves what nobody reads any longer. Returns at once where another thread or connection is at it.
  func move() throws {
    do {
      try queue.withLockIfAvailable { kept in
        let queue = try kept ?? DatabaseQueue(path: path)
        kept = queue
        try queue.writeWithoutTransaction { db in
          _ = try db.checkpoint(.passive)
          // SQLite does so only with the last page of the log: whoever moves that one would wait for all of these.
          try SQLiteLibrary.syncDatabase(of: db)
        }
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      // Another connection is at it.
    }
  }

  /// Closes the connection; waits for a move.
  func close() throws { try queue.withLock { try $0.take()?.close() } }
}
