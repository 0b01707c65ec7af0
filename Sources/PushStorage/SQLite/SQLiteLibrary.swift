import CSQLiteSession
import GRDB
import GRDBSQLite

/// The SQLite library that this process runs with.
package enum SQLiteLibrary {
  /// The library's version, as `3.40.1`.
  package static var version: String { unsafe String(cString: sqlite3_libversion()) }

  /// Syncs a connection's database file, without the write-ahead log, even if SQLite would not (`xSync` of its VFS).
  ///
  /// - Throws: `DatabaseError` if the disk refuses.
  static func syncDatabase(of db: Database) throws {
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    let code = unsafe withUnsafeMutablePointer(to: &pointer) {
      unsafe sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, $0)
    }
    guard code == SQLITE_OK, let file = unsafe pointer, let methods = unsafe file.pointee.pMethods else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code))
    }
    let synced = unsafe methods.pointee.xSync?(file, SQLITE_SYNC_NORMAL) ?? SQLITE_OK
    guard synced == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: synced)) }
  }
}
