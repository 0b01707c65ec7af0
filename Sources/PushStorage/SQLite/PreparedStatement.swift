import GRDB
import GRDBSQLite
package import PushCore

/// A statement that is prepared once and used for many rows, directly on SQLite: GRDB's arguments cost more than the
/// rows themselves.
///
/// Belongs to the connection that prepared it, and is only used inside that connection's accesses.
@safe package final class PreparedStatement {
  private let statement: Statement
  private var handle: SQLiteStatement { unsafe statement.sqliteStatement }
  private var index: Int32 = 0
  /// The reason why a parameter could not be bound; the statement does not run then.
  private var bindCode: Int32 = SQLITE_OK

  /// Prepares a statement.
  ///
  /// - Parameter isKept: true if the connection keeps the statement for the next access; the user must leave it
  ///   reset.
  init(_ db: Database, _ sql: String, isKept: Bool = false) throws {
    statement = try isKept ? db.cachedStatement(sql: sql) : db.makeStatement(sql: sql)
  }

  /// Binds an integer, or NULL for nil, to the next parameter.
  package func bind(_ value: Int64?) {
    index += 1
    if let value {
      note(unsafe sqlite3_bind_int64(handle, index, value))
    } else {
      note(unsafe sqlite3_bind_null(handle, index))
    }
  }

  /// Binds the next parameter to bytes that must stay in memory until ``run()`` returns.
  package func bind(borrowed value: UnsafeRawBufferPointer) {
    index += 1
    note(unsafe sqlite3_bind_blob64(handle, index, value.baseAddress, UInt64(value.count), nil))
  }

  /// Binds a text to the next parameter.
  package func bind(text value: String) {
    index += 1
    if value.isEmpty {
      let empty: StaticString = ""
      let start = unsafe UnsafeRawPointer(empty.utf8Start).assumingMemoryBound(to: CChar.self)
      return note(unsafe sqlite3_bind_text(handle, index, start, 0, nil))
    }
    var value = value
    value.withUTF8 { utf8 in
      unsafe utf8.withMemoryRebound(to: CChar.self) { text in
        note(
          unsafe sqlite3_bind_text64(
            handle, index, text.baseAddress, UInt64(text.count), PreparedStatement.copied, UInt8(SQLITE_UTF8)))
      }
    }
  }

  private func note(_ code: Int32) {
    if code != SQLITE_OK, bindCode == SQLITE_OK { bindCode = code }
  }

  /// Runs a statement that returns no row, and resets it.
  ///
  /// - Throws: `DatabaseError`, also for a parameter that could not be bound.
  package func run() throws {
    let code = step()
    reset()
    guard code == SQLITE_DONE else { throw failure(code) }
  }

  /// Steps to the next row. Returns false after the last row; the statement is reset then.
  ///
  /// - Throws: `DatabaseError`, also for a parameter that could not be bound.
  package func next() throws -> Bool {
    let code = step()
    if code == SQLITE_ROW { return true }
    reset()
    guard code == SQLITE_DONE else { throw failure(code) }
    return false
  }

  /// Returns the value of each row.
  func map<Value>(_ value: (PreparedStatement) throws -> Value) throws -> [Value] {
    var values: [Value] = []
    while try next() { values.append(try value(self)) }
    return values
  }

  private func step() -> Int32 {
    guard bindCode == SQLITE_OK else { return bindCode }
    return unsafe sqlite3_step(handle)
  }

  /// Resets the statement, so that it can be bound and run again.
  package func reset() {
    unsafe sqlite3_reset(handle)
    (index, bindCode) = (0, SQLITE_OK)
  }

  // MARK: The current row

  // A row is what the disk holds: each of these functions throws `SQLITE_CORRUPT` for a value that no gateway writes.
  // A column is looked up once: connections have no mutex (GRDB opens them with `SQLITE_OPEN_NOMUTEX`), so that an
  // unprotected value may be used directly.

  package func integer(_ column: Int32, in range: ClosedRange<Int64> = ColumnBounds.row) throws -> Int64 {
    let stored = unsafe sqlite3_column_value(handle, column)
    guard unsafe sqlite3_value_type(stored) == SQLITE_INTEGER else {
      throw damage(column, "expected a whole number")
    }
    let value = unsafe sqlite3_value_int64(stored)
    guard range.contains(value) else {
      throw damage(column, "\(value) is not between \(range.lowerBound) and \(range.upperBound)")
    }
    return value
  }

  /// Returns an integer within a range, or nil for NULL.
  package func optionalInteger(_ column: Int32, in range: ClosedRange<Int64> = ColumnBounds.row) throws -> Int64? {
    try isNull(column) ? nil : integer(column, in: range)
  }

  /// Returns the priority of a push: 10, 5 or 1.
  package func priority(_ column: Int32) throws -> UInt8 {
    let value = try integer(column)
    guard value == 10 || value == 5 || value == 1 else { throw damage(column, "expected 10, 5 or 1") }
    return UInt8(clamping: value)
  }

  /// Returns a finite floating-point number.
  package func real(_ column: Int32) throws -> Double {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_FLOAT else {
      throw damage(column, "expected a number")
    }
    let value = unsafe sqlite3_column_double(handle, column)
    guard value.isFinite else { throw damage(column, "expected a finite number") }
    return value
  }

  /// Returns a text; invalid UTF-8 in it is replaced.
  package func text(_ column: Int32) throws -> String {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT else { throw damage(column, "expected a text") }
    return unsafe withBytes(column) { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Returns a text, or nil for NULL.
  package func optionalText(_ column: Int32) throws -> String? { try isNull(column) ? nil : text(column) }

  /// Returns the case of an enumeration that a text stands for; nil for any other text. It creates no `String` from
  /// the text.
  package func word<Word: RawRepresentable & CaseIterable>(_ column: Int32) throws -> Word?
  where Word.RawValue == String {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT else { throw damage(column, "expected a text") }
    return unsafe withBytes(column) { text in
      Word.allCases.first { unsafe text.elementsEqual($0.rawValue.utf8) }
    }
  }

  package func json<Value: Decodable>(_ column: Int32, as type: Value.Type = Value.self) throws -> Value {
    do {
      return try decodeJSON(type, from: blob(column))
    } catch {
      throw damage(column, "unexpected JSON")
    }
  }

  /// Returns an error that describes the damage of a column, for values that the caller checks.
  func damage(_ column: Int32, _ words: String) -> DatabaseError {
    let name = unsafe sqlite3_column_name(handle, column).map { unsafe String(cString: $0) } ?? "value"
    return DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the \(name) of a row: \(words)")
  }

  package func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// Returns the bytes of a column of any type; empty for NULL.
  package func blob(_ column: Int32) -> [UInt8] { unsafe withBytes(column) { unsafe [UInt8]($0) } }

  /// Calls `body` with the bytes of a column, which are valid until the statement steps or is reset.
  package func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    // The bytes are requested before their number, because SQLite converts a value when its bytes are requested.
    let value = unsafe sqlite3_column_value(handle, column)
    let start = unsafe sqlite3_value_blob(value)
    return unsafe body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
  }

  /// Returns a stored id; nil if it is invalid.
  package func id(_ column: Int32) -> APNSID? { unsafe withBytes(column) { unsafe APNSID(stored: $0) } }

  private func failure(_ code: Int32) -> DatabaseError { DatabaseError(resultCode: ResultCode(rawValue: code)) }

  /// `SQLITE_TRANSIENT`: SQLite copies the bytes before `bind` returns.
  private static let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
