import CSQLiteSession
import GRDB

/// Records the changes of a transaction to the tables that gateways share, with SQLite's session extension: the final
/// state of each row, without intermediate changes.
///
/// Belongs to one access of a connection.
@safe struct ChangeRecorder {
  private let session: OpaquePointer
  private let db: Database

  /// Runs a change and returns its value and the rows that it changed.
  static func record<Value>(_ db: Database, _ change: (Database) throws -> Value) throws -> (Value, [RowChange]) {
    let recorder = try ChangeRecorder(db)
    defer { unsafe sqlite3session_delete(recorder.session) }
    let value = try change(db)
    return (value, try recorder.changes())
  }

  private init(_ db: Database) throws {
    var session: OpaquePointer?
    try unsafe ChangeRecorder.check(sqlite3session_create(db.sqliteConnection, "main", &session))
    guard let session = unsafe session else { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
    unsafe (self.session, self.db) = (session, db)
    unsafe sqlite3session_table_filter(
      session, { _, name in unsafe name.map { unsafe Schema.isShared(String(cString: $0)) } ?? false ? 1 : 0 }, nil)
    do {
      try unsafe ChangeRecorder.check(sqlite3session_attach(session, nil))
    } catch {
      unsafe sqlite3session_delete(session)
      throw error
    }
  }

  private func changes() throws -> [RowChange] {
    var (size, bytes): (Int32, UnsafeMutableRawPointer?) = (0, nil)
    try unsafe ChangeRecorder.check(sqlite3session_changeset(session, &size, &bytes))
    defer { unsafe sqlite3_free(bytes) }
    guard size > 0 else { return [] }
    var iterator: OpaquePointer?
    try unsafe ChangeRecorder.check(sqlite3changeset_start(&iterator, size, bytes))
    defer { unsafe sqlite3changeset_finalize(iterator) }
    var changes: [RowChange] = []
    while true {
      let result = unsafe sqlite3changeset_next(iterator)
      guard result == SQLITE_ROW else {
        try ChangeRecorder.check(result == SQLITE_DONE ? SQLITE_OK : result)
        return changes
      }
      changes.append(try unsafe change(iterator))
    }
  }

  private func change(_ iterator: OpaquePointer?) throws -> RowChange {
    var (name, count, operation): (UnsafePointer<CChar>?, Int32, Int32) = (nil, 0, 0)
    try unsafe ChangeRecorder.check(sqlite3changeset_op(iterator, &name, &count, &operation, nil))
    guard let name = unsafe name else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
    let table = unsafe String(cString: name)
    let columns = try db.columns(in: table).map(\.name)
    var keys: UnsafeMutablePointer<UInt8>?
    try unsafe ChangeRecorder.check(sqlite3changeset_pk(iterator, &keys, nil))
    let kind: RowChange.Kind =
      switch operation {
      case SQLITE_INSERT: .insert
      case SQLITE_DELETE: .delete
      default: .update
      }
    var change = RowChange(table: table, kind: kind, key: [:])
    for (index, column) in columns.prefix(Int(count)).enumerated() {
      var value: OpaquePointer?
      let isKey = unsafe keys.map { unsafe $0[index] != 0 } ?? false
      switch kind {
      case .insert: try unsafe ChangeRecorder.check(sqlite3changeset_new(iterator, Int32(index), &value))
      case .delete: try unsafe ChangeRecorder.check(sqlite3changeset_old(iterator, Int32(index), &value))
      case .update:
        try unsafe ChangeRecorder.check(
          isKey
            ? sqlite3changeset_old(iterator, Int32(index), &value)
            : sqlite3changeset_new(iterator, Int32(index), &value))
      }
      // An update has no value for a column that does not change.
      guard let value = unsafe value else { continue }
      if isKey {
        change.key[column] = unsafe RowValue(value)
      } else {
        let value = unsafe RowValue(value)
        // Only short values of a deleted row are recorded: they identify its owner.
        if kind == .delete, value.isLong { continue }
        change.values[column] = value
      }
    }
    return change
  }

  private static func check(_ result: Int32) throws {
    guard result == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: result)) }
  }
}

extension RowValue {
  /// Copies a value of SQLite.
  fileprivate init(_ value: OpaquePointer) {
    switch unsafe sqlite3_value_type(value) {
    case SQLITE_INTEGER: self = .integer(unsafe sqlite3_value_int64(value))
    case SQLITE_FLOAT: self = .real(unsafe sqlite3_value_double(value))
    case SQLITE_TEXT: self = .text(unsafe sqlite3_value_text(value).map { unsafe String(cString: $0) } ?? "")
    case SQLITE_BLOB:
      let count = Int(unsafe sqlite3_value_bytes(value))
      self = .blob(
        unsafe sqlite3_value_blob(value).map { unsafe Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? [])
    default: self = .null
    }
  }
}
