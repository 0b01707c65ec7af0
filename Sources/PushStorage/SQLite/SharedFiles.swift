import Foundation
import GRDB

/// The files that are the same on all gateways of a cluster: those of its CA.
package struct SharedFiles: Sendable {
  private let store: SQLiteStore

  package init(_ store: SQLiteStore) { self.store = store }

  /// Returns all files by their names.
  package func all() async throws -> [String: [UInt8]] { try await store.pool.read(SharedFiles.rows) }

  /// Shares files, unless some are already shared.
  ///
  /// - Returns: the shared files.
  @inline(never)
  package func propose(_ files: [String: [UInt8]]) async throws -> [String: [UInt8]] {
    try await store.write { db in
      let known = try SharedFiles.rows(db)
      guard known.isEmpty else { return known }
      try SharedFiles.insert(files, db)
      return files
    }
  }

  @inline(never)
  package func replace(_ files: [String: [UInt8]]) async throws {
    try await store.write { db in
      try db.execute(sql: "DELETE FROM cell_file")
      try SharedFiles.insert(files, db)
    }
  }

  /// Registers a callback that gets all files when another gateway has replaced them.
  package func onChange(_ changed: @escaping @Sendable ([String: [UInt8]]) -> Void) {
    store.replica.onChange(of: ["cell_file"]) { db, _ in
      let files = try SharedFiles.rows(db)
      db.afterNextTransaction { _ in changed(files) }
    }
  }

  private static func insert(_ files: [String: [UInt8]], _ db: Database) throws {
    for (name, content) in files {
      try db.execute(sql: "INSERT INTO cell_file (name, content) VALUES (?, ?)", arguments: [name, Data(content)])
    }
  }

  private static func rows(_ db: Database) throws -> [String: [UInt8]] {
    let rows = try PreparedStatement(db, "SELECT name, content FROM cell_file")
    var files: [String: [UInt8]] = [:]
    while try rows.next() { files[try rows.text(0)] = rows.blob(1) }
    return files
  }

  /// Reads every row to check it, and discards the result.
  static func checkRows(_ db: Database) throws {
    _ = try rows(db)
    let replica = try PreparedStatement(db, "SELECT cell, position FROM replica")
    while try replica.next() { _ = (try replica.text(0), try replica.integer(1, in: ColumnBounds.progress)) }
  }
}
