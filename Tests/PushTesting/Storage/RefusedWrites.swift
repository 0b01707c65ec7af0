import GRDB

/// Writes that fail, as on a full disk.
package enum RefusedWrites {
  /// Makes each write of one kind to a table of a database fail, also those of a running gateway.
  ///
  /// - Parameter operation: `INSERT`, `UPDATE` or `DELETE`.
  package static func begin(_ table: String, _ operation: String = "INSERT", in path: String) async throws {
    try await execute(
      "CREATE TRIGGER full_\(table) BEFORE \(operation) ON \(table) BEGIN SELECT RAISE(ABORT, 'no room'); END", path)
  }

  /// Ends the failure of the writes.
  package static func end(_ table: String, in path: String) async throws {
    try await execute("DROP TRIGGER full_\(table)", path)
  }

  private static func execute(_ sql: String, _ path: String) async throws {
    var configuration = GRDB.Configuration()
    configuration.busyMode = .timeout(5)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try await queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }
}
