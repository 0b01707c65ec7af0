import GRDB

/// Insertions that fail, as on a full disk.
package enum RefusedWrites {
  /// Makes each insertion into a table of a database fail, also those of a running gateway.
  package static func begin(_ table: String, in path: String) async throws {
    try await execute(
      "CREATE TRIGGER full_\(table) BEFORE INSERT ON \(table) BEGIN SELECT RAISE(ABORT, 'no room'); END", path)
  }

  /// Lets insertions succeed again.
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
