import GRDB
import GRDBSQLite

/// A statement that is prepared once and used for row after row, straight on SQLite: GRDB's arguments cost more than
/// the rows themselves.
///
/// Belongs to the connection that prepared it, and is only used inside that connection's accesses.
@safe final class PreparedStatement {
  private let statement: Statement
  private var handle: SQLiteStatement { unsafe statement.sqliteStatement }
  private var place: Int32 = 0

  init(_ db: Database, _ sql: String) throws {
    statement = try db.makeStatement(sql: sql)
  }

  /// Binds the next parameter.
  func bind(_ value: Int64?) {
    place += 1
    if let value { unsafe sqlite3_bind_int64(handle, place, value) } else { unsafe sqlite3_bind_null(handle, place) }
  }

  /// Binds the next parameter.
  func bind(blob value: [UInt8]) {
    place += 1
    unsafe sqlite3_bind_blob(handle, place, value, Int32(value.count), PreparedStatement.copied)
  }

  /// Binds the next parameter.
  func bind(text value: String) {
    place += 1
    var value = value
    value.withUTF8 { utf8 in
      unsafe utf8.withMemoryRebound(to: CChar.self) { text in
        _ = unsafe sqlite3_bind_text(handle, place, text.baseAddress, Int32(text.count), PreparedStatement.copied)
      }
    }
  }

  /// Runs a statement that returns no row, and makes it ready for the next.
  func run() throws {
    let code = unsafe sqlite3_step(handle)
    reset()
    guard code == SQLITE_DONE else { throw failure(code) }
  }

  /// Steps to the next row; after the last one the statement is ready again.
  func next() throws -> Bool {
    let code = unsafe sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    reset()
    guard code == SQLITE_DONE else { throw failure(code) }
    return false
  }

  func reset() {
    unsafe sqlite3_reset(handle)
    place = 0
  }

  // MARK: The current row

  func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

  func blob(_ column: Int32) -> [UInt8] {
    let size = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe [UInt8](UnsafeRawBufferPointer(start: sqlite3_column_blob(handle, column), count: size))
  }

  func text(_ column: Int32) -> String { String(decoding: blob(column), as: UTF8.self) }

  private func failure(_ code: Int32) -> DatabaseError { DatabaseError(resultCode: ResultCode(rawValue: code)) }

  /// `SQLITE_TRANSIENT`: SQLite copies the bytes before `bind` returns.
  private static let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
