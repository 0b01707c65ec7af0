import GRDB
import PushTesting
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

  @Test func `the tables of a new database are those that the migrations make`() throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("new.sqlite"), durability: .normal)
    defer { try? store.close() }
    let migrated = try DatabaseQueue()
    try Schema.migrator.migrate(migrated)
    #expect(try store.pool.read(statements) == migrated.read(statements))
    #expect(try store.pool.read { try Schema.migrator.appliedMigrations($0) } == Schema.migrator.migrations)
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

  // MARK: Compatibility with the previous version

  @Test(arguments: migrations.drop { $0 != "replica" }.dropFirst())
  func `a version since cells lives in one cell with the version before it`(_ migration: String) throws {
    let (before, after) = (try DatabaseQueue(), try DatabaseQueue())
    let end = try #require(Self.migrations.firstIndex(of: migration))
    try Schema.migrator.migrate(before, upTo: Self.migrations[end - 1])
    try Schema.migrator.migrate(after, upTo: migration)
    #expect(try obstacles(before, after) == [])
  }

  @Test(arguments: [
    "ALTER TABLE person DROP COLUMN preferences", "ALTER TABLE person RENAME COLUMN name TO called",
    "DROP TABLE administrator", "CREATE UNIQUE INDEX u ON app (name)",
    "CREATE TABLE hat (team TEXT REFERENCES team (id))",
    "CREATE TRIGGER t AFTER INSERT ON team BEGIN DELETE FROM invitation; END",
    "ALTER TABLE person RENAME TO people",
  ])
  func `what an earlier version could not live beside is seen`(_ sql: String) throws {
    #expect(try !obstacles(after: sql).isEmpty)
  }

  @Test(arguments: [
    "ALTER TABLE team ADD COLUMN color TEXT; CREATE TABLE hat (team TEXT REFERENCES team (id) ON DELETE CASCADE)",
    "ALTER TABLE person ADD COLUMN v INTEGER NOT NULL DEFAULT 1", "CREATE TABLE hat (size TEXT UNIQUE)",
    "CREATE INDEX i ON app (name)",
  ])
  func `what is only added is no obstacle`(_ sql: String) throws {
    #expect(try obstacles(after: sql) == [])
  }

  private func obstacles(after sql: String) throws -> [String] {
    let (before, after) = (try DatabaseQueue(), try DatabaseQueue())
    for queue in [before, after] { try Schema.migrator.migrate(queue) }
    try after.writeWithoutTransaction { try $0.execute(sql: "PRAGMA foreign_keys = OFF; " + sql) }
    return try obstacles(before, after)
  }

  /// Returns the reasons why gateways with two schemas can't be in one cluster: each row of the earlier schema must be
  /// valid in the later one.
  private func obstacles(_ before: DatabaseQueue, _ after: DatabaseQueue) throws -> [String] {
    let (old, new) = (try before.read(description), try after.read(description))
    let gone = old.columns.keys.filter { new.columns[$0] == nil }.map { "\($0) is gone" }
    let changed = old.columns.filter { name, column in new.columns[name].map { $0 != column } ?? false }
      .map { "\($0.key) is another" }
    let required = new.columns.filter { name, column in
      old.columns[name] == nil && column.isRequired && old.tables.contains(column.table)
    }.map { "\($0.key) has to have a value" }
    let rules = new.rules.filter { rule, table in
      old.rules[rule] == nil && table.map(old.tables.contains) ?? true
    }.map { "\($0.key): the earlier does not keep it" }
    return gone + changed + required + rules
  }

  private struct Column: Equatable {
    var table: String
    var type: String
    var key: Int
    var isRequired: Bool
  }

  private typealias Description = (tables: Set<String>, columns: [String: Column], rules: [String: String?])

  /// Returns the tables, columns and constraints of a database. A constraint has the name of its table, or nil if it
  /// concerns several: uniqueness, references to permanent rows, no changes by triggers.
  private func description(_ db: Database) throws -> Description {
    var (columns, rules): ([String: Column], [String: String?]) = ([:], [:])
    let tables = try tables(db)
    for table in tables {
      for column in try db.columns(in: table) {
        columns["\(table).\(column.name)"] = Column(
          table: table, type: column.type, key: column.primaryKeyIndex,
          isRequired: column.isNotNull && column.defaultValueSQL == nil)
      }
      for row in try Row.fetchAll(db, sql: "PRAGMA foreign_key_list(\(table))") where row["on_delete"] != "CASCADE" {
        rules["\(table).\(row["from"] as String) refers to \(row["table"] as String)"] = .some(nil)
      }
      for index in try db.indexes(on: table) where index.isUnique { rules["\(table) \(index.columns) unique"] = table }
    }
    for name in try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type IN ('trigger', 'view')") {
      rules[name] = .some(nil)
    }
    return (Set(tables), columns, rules)
  }

  // MARK: Reading

  /// Returns every table except that of the migrator, with its columns and rows.
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

  /// Returns the columns and indexes of every table, one per line.
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

  /// Returns the SQL of each table and index, by its name, without comments and spaces.
  private func statements(_ db: Database) throws -> [String: String] {
    let rows = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    return Dictionary(
      uniqueKeysWithValues: rows.map { row in
        (row["name"], (row["sql"] as String).replacing(#/--.*/#, with: "").filter { !$0.isWhitespace })
      })
  }

  private func tables(_ db: Database) throws -> [String] {
    try String.fetchAll(
      db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'grdb_migrations' ORDER BY name")
  }
}
