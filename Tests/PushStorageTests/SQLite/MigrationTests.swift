import GRDB
import Testing

@testable import PushStorage

@Suite struct MigrationTests {
  static let migrations = ReleasedSchemas.steps.map(\.migration)

  @Test func `every migration has a database as its version left it`() {
    #expect(Self.migrations == Schema.migrator.migrations)
  }

  @Test(arguments: migrations)
  func `a database of each version is brought to the head, and what it held is still there`(
    _ migration: String
  ) throws {
    let queue = try DatabaseQueue()
    try queue.writeWithoutTransaction { try $0.execute(sql: ReleasedSchemas.dump(after: migration)) }
    let done = try queue.read { try Schema.migrator.appliedMigrations($0) }
    #expect(done == Array(Self.migrations[...(try #require(Self.migrations.firstIndex(of: migration)))]))

    let before = try queue.read(contents)
    try Schema.migrator.migrate(queue)
    for (table, (columns, rows)) in before {
      #expect(!rows.isEmpty, "nothing shows that \(table) comes over")
      #expect(try queue.read { try self.rows($0, table, columns) } == rows, "\(table)")
    }
  }

  @Test(arguments: migrations)
  func `the schema is that of a new database, whichever version it comes from`(_ migration: String) throws {
    let (old, new) = (try DatabaseQueue(), try DatabaseQueue())
    try old.writeWithoutTransaction { try $0.execute(sql: ReleasedSchemas.dump(after: migration)) }
    try Schema.migrator.migrate(old)
    try Schema.migrator.migrate(new)
    #expect(try old.read(shape) == new.read(shape))
  }

  @Test(arguments: [(1, "TEAM000001"), (2, nil)])
  func `apps from before get the only team, and none where there are several`(_ teams: Int, _ team: String?) throws {
    let queue = try DatabaseQueue()
    let owners = try #require(Self.migrations.firstIndex(of: "teams of apps")) - 1
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: ReleasedSchemas.dump(after: Self.migrations[owners]))
      if teams > 1 { try db.execute(sql: "INSERT INTO team VALUES ('TEAM000002')") }
    }
    try Schema.migrator.migrate(queue)
    let found = try queue.read { try Row.fetchAll($0, sql: "SELECT team FROM app").map { $0["team"] as String? } }
    #expect(found.count == 3 && found.allSatisfy { $0 == team })
  }

  /// Every table but the migrator's, with its columns and rows.
  private func contents(_ db: Database) throws -> [String: (columns: [String], rows: [Row])] {
    var contents: [String: (columns: [String], rows: [Row])] = [:]
    for table in try tables(db) {
      let columns = try db.columns(in: table).map(\.name)
      contents[table] = (columns, try rows(db, table, columns))
    }
    return contents
  }

  private func rows(_ db: Database, _ table: String, _ columns: [String]) throws -> [Row] {
    try Row.fetchAll(db, sql: "SELECT \(columns.joined(separator: ", ")) FROM \(table) ORDER BY rowid")
  }

  /// Columns and indexes of every table, one a line.
  private func shape(_ db: Database) throws -> [String] {
    try tables(db).flatMap { table in
      let columns = try db.columns(in: table).map {
        "\(table).\($0.name) \($0.type) \($0.isNotNull) \($0.defaultValueSQL ?? "-") \($0.primaryKeyIndex)"
      }
      let indexes = try db.indexes(on: table).map { "\(table): \($0.columns) \($0.isUnique)" }
      let references = try db.foreignKeys(on: table).map { "\(table) → \($0.destinationTable) \($0.mapping)" }
      return columns + indexes.sorted() + references.sorted()
    }
  }

  private func tables(_ db: Database) throws -> [String] {
    try String.fetchAll(
      db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'grdb_migrations' ORDER BY name")
  }
}
