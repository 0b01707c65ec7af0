import GRDBSQLite

/// The SQLite library that this process runs with.
package enum SQLiteLibrary {
  /// The library's version, as `3.40.1`.
  package static var version: String { unsafe String(cString: sqlite3_libversion()) }
}
