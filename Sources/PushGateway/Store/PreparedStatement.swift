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

  /// - Parameter isKept: the connection keeps the statement for the next access; whoever uses it must leave it reset.
  init(_ db: Database, _ sql: String, isKept: Bool = false) throws {
    statement = try isKept ? db.cachedStatement(sql: sql) : db.makeStatement(sql: sql)
  }

  /// Binds the next parameter.
  func bind(_ value: Int64?) {
    place += 1
    if let value { unsafe sqlite3_bind_int64(handle, place, value) } else { unsafe sqlite3_bind_null(handle, place) }
  }

  /// Binds the next parameter to bytes that stay where they are until ``run()`` returns.
  func bind(borrowed value: UnsafeRawBufferPointer) {
    place += 1
    unsafe sqlite3_bind_blob(handle, place, value.baseAddress, Int32(value.count), nil)
  }

  /// Binds the next parameter.
  func bind(text value: String) {
    place += 1
    if value.isEmpty {
      let empty: StaticString = ""
      let start = unsafe UnsafeRawPointer(empty.utf8Start).assumingMemoryBound(to: CChar.self)
      unsafe sqlite3_bind_text(handle, place, start, 0, nil)
      return
    }
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

  func blob(_ column: Int32) -> [UInt8] { unsafe withBytes(column) { unsafe [UInt8]($0) } }

  func text(_ column: Int32) -> String { unsafe withBytes(column) { unsafe String(decoding: $0, as: UTF8.self) } }

  /// Lends the bytes of a column until the statement goes on.
  func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    // The bytes before their number: SQLite converts a value when it is asked for them.
    let start = unsafe sqlite3_column_blob(handle, column)
    return unsafe body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  /// An id as the store has it; nil when it is none.
  func id(_ column: Int32) -> APNSID? { unsafe withBytes(column) { unsafe APNSID(stored: $0) } }

  private func failure(_ code: Int32) -> DatabaseError { DatabaseError(resultCode: ResultCode(rawValue: code)) }

  /// `SQLITE_TRANSIENT`: SQLite copies the bytes before `bind` returns.
  private static let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
