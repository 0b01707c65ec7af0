import Foundation
import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

/// Rows with values that no gateway writes: no read traps, the error names the repair, and the repair keeps the other
/// rows.
@Suite(.timeLimit(.minutes(5))) struct DamagedRowsTests {
  /// A table with the SQL for its rows.
  struct Table: Sendable, CustomTestStringConvertible {
    let name: String
    /// The condition for the first row.
    let first: String
    let row: @Sendable (Int) -> String
    var testDescription: String { name }
  }

  static let tables: [Table] = [
    Table(name: "team", first: "id = 'TEAM000001'") { "('\(identifier("TEAM", $0))')" },
    Table(name: "key", first: "team = 'TEAM000001'") {
      "('\(identifier("KEYS", $0))', '\(identifier("TEAM", $0))', \(publicKey), 'development', '[\"a.b\"]', NULL)"
    },
    Table(name: "app", first: "id = 1") {
      "(\($0), 'a.\($0)', 'News', 'N', 'report', 0, 'off', '\(identifier("TEAM", $0))', 1, '[\"SPORT\"]', 1700000000, "
        + "1702419200)"
    },
    Table(name: "app_day", first: "app = 1") { "(\($0), 19675, 100, 20, 70, 1)" },
    Table(name: "former_app", first: "id = 1") { "(\($0))" },
    Table(name: "person", first: "id = 1") { "(\($0), 'p\($0)', '{}')" },
    Table(name: "device", first: "id = 1") {
      "(\($0), 'uuid\($0)', 'd\($0)', \($0), \(blob($0, size: 32)), 'device', 1700000000)"
    },
    Table(name: "former_device", first: "id = 1") { "(\($0), \($0))" },
    Table(name: "former_token", first: "device = 1") {
      "(\(blob(100 + $0, size: 32)), \($0), \($0), 'development', 1700000000000)"
    },
    Table(name: "token", first: "device = 1") {
      "(\(blob($0, size: 32)), \($0), \($0), 'development', 1700000000000, 1800000000000)"
    },
    Table(name: "certificate", first: "fingerprint = \(blob(1, size: 32))") {
      "(\(blob($0, size: 32)), 'a.b', '[\"a.b\"]', '[\"production\"]', 1800000000, 1700000000000)"
    },
    Table(name: "category", first: "app = 1") {
      "(\($0), 'ASK', '[{\"id\":\"yes\",\"title\":\"Yes\",\"destructive\":false}]', 1800000000)"
    },
    Table(name: "mailbox", first: "id = 1") {
      """
      (\($0), \($0), \($0), 1, \(blob($0, size: 20)), 1, \(blob($0, size: 20)), 1700000000000, 9000000000, 10, '',
        CAST('{"n":1}' AS BLOB), NULL)
      """
    },
    Table(name: "mailbox_state", first: "device = 1") { "(\($0), 0, \($0), 1, 2, 2)" },
    Table(name: "held", first: "device = 1") {
      "(\($0), \(blob($0, size: 20)), \($0), 1, 'summary', 1700000000000, 9000000000, 0, 1, 'ASK', '', 'Hello')"
    },
    Table(name: "digest", first: "device = 1") { "(\($0), \($0))" },
    Table(name: "channel", first: "id = \(blob(1, size: 16))") {
      "(\(blob($0, size: 16)), 1, 'development', 1, 1700000000000, NULL, \($0))"
    },
    Table(name: "channel_message", first: "channel = \(blob(1, size: 16))") {
      """
      (\(blob($0, size: 16)), \($0), \(blob($0, size: 20)), \(blob($0, size: 20)), 1700000000000, 9000000000, 10,
        CAST('{"n":1}' AS BLOB))
      """
    },
    Table(name: "channel_subscription", first: "id = 1") { "(\($0), \($0), \(blob($0, size: 16)), 0)" },
    Table(name: "broadcast_off", first: "app = 1") { "(\($0))" },
    Table(name: "scheduled", first: "number = 1") {
      """
      (\($0), 1800000000000, \($0), 1, 'TEAM000001', \(blob($0, size: 20)), \(blob($0, size: 20)), 1700000000000,
        1900000000, 10, '', CAST('{"n":1}' AS BLOB))
      """
    },
    Table(name: "administrator", first: "token_hash = \(blob(1, size: 32))") {
      "(\(blob($0, size: 32)), 'a\($0)', 'reader', 1700000000000, 1800000000, 1700000000)"
    },
    Table(name: "sender", first: "name = 's1'") {
      """
      ('s\($0)', \(blob($0, size: 32)), 1, '[1,-1]', 60, 1700000000000, 1700000000, 600, '{"kind":"github"}',
        'pgs-\($0)')
      """
    },
    Table(name: "expectation", first: "sender = 's1'") {
      "('s\($0)', 3600, 60, 1700000000000, 1700003660000, 2)"
    },
    Table(name: "hook_push", first: "subject = 'a1'") { "('s\($0)', 'a\($0)', \(blob($0, size: 20)), 1700000000000)" },
    Table(name: "web_push_endpoint", first: "id_hash = \(blob(1, size: 32))") {
      """
      (\(blob($0, size: 32)), 'blog\($0)', \($0), 1, 'https://localhost:2197', \(publicPoint), 1700000000000,
        1700000001000)
      """
    },
    Table(name: "event_target", first: "name = 't1'") {
      """
      ('t\($0)', 'https://a.example/', '[1]', '["accepted"]', 'whsec_\($0)', NULL, 1700000000000, NULL, 1700000000000,
        1700000000000)
      """
    },
    Table(name: "push_subscription", first: "device = 1") {
      """
      (\($0), 'https://push.example/\($0)', \(publicPoint), \(blob($0, size: 16)), 'https://a.example', 1, 0, 'work',
        1700000000000, 403)
      """
    },
    Table(name: "attachment", first: "id = '\(hexID(1))'") {
      "('\(hexID($0))', 's\($0)', 1, '[1,-1]', 'report.txt', 'text/plain', 1800000000, \(blob($0, size: 8)))"
    },
    Table(name: "push_service_key", first: "number = 1") { "(\($0), '\(privateKey)')" },
    Table(name: "person_group", first: "id = 1") { "(\($0), 'g\($0)')" },
    Table(name: "group_member", first: "id = 1") { "(\($0), \($0), 1)" },
    Table(name: "group_token", first: "token = \(blob(1, size: 32))") {
      "(\(blob($0, size: 32)), \($0), 1, 'development', 1700000000000)"
    },
    Table(name: "group_push", first: "number = 1") {
      "(\($0), 1, -4, 1, \(blob($0, size: 20)), '[1,2]', 1700000000000)"
    },
    Table(name: "retraction", first: "number = 1") { "(\($0), \($0), 1, \(blob($0, size: 20)), 1700000000000)" },
    Table(name: "ad_report", first: "id = 1") {
      "(\($0), 1700000000000, \($0), 1, \(blob($0, size: 20)), 'Buy now', 'right')"
    },
  ]

  /// The values for every column. Each is written to its own row, after the first row.
  private static let values = [
    "-1", "-9223372036854775808", "9223372036854775807", "9007199254740993", "1.5", "9e999", "'text'", "x'00'",
    "CAST(x'5BFF' AS TEXT)", "'\(String(repeating: "[", count: 513))'", "NULL",
  ]

  let folder: TemporaryFolder
  /// A database with rows in every table. Its columns accept any value.
  let sample: String

  init() throws {
    folder = try TemporaryFolder()
    sample = folder.file("sample.sqlite")
    try SQLiteStore(path: sample).close()
    try Self.change(sample) { db in
      for table in Self.tables {
        for number in 1...Self.values.count + 1 {
          try db.execute(sql: "INSERT INTO \(table.name) VALUES \(table.row(number))")
        }
      }
      try db.execute(
        sql: "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")
    }
  }

  private static func change(_ path: String, _ body: (Database) throws -> Void) throws {
    var configuration = GRDB.Configuration()
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.write(body)
    try queue.close()
  }

  /// Returns a copy of the sample with the values in a column, in the rows after the first.
  private func copy(
    with values: some Sequence<(offset: Int, element: String)>, in column: String, of table: Table
  ) throws -> String {
    let path = folder.file("copy.sqlite")
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    try FileManager.default.copyItem(atPath: sample, toPath: path)
    try Self.change(path) { db in
      for (place, value) in values {
        // SQLite itself refuses some values, for example a text as the id of a row.
        try? db.execute(sql: "UPDATE \(table.name) SET \(column) = \(value) WHERE rowid = \(place + 2)")
      }
    }
    return path
  }

  private func columns(of table: Table) throws -> [String] {
    try DatabaseQueue(path: sample).read { db in try db.columns(in: table.name).map(\.name) }
  }

  @Test func `the rows are sound before`() throws {
    #expect(throws: Never.self) { try StoredRows.check(path: sample) }
  }

  @Test(arguments: tables) func `a value that no gateway writes is an error that names the repair, or no harm`(
    _ table: Table
  ) throws {
    var errors = 0
    for column in try columns(of: table) {
      for value in Self.values.enumerated() {
        let path = try copy(with: CollectionOfOne(value), in: column, of: table)
        do throws(StoreError) {
          try StoredRows.check(path: path)
        } catch {
          errors += 1
          #expect(error.isDamage, "\(column) = \(value.element): \(error)")
          #expect(error.description.contains("(the \(column) of a row: "), "\(error)")
          #expect(error.description.contains("`pushcli doctor --repair`") && !error.description.contains("\n"))
        }
      }
    }
    // Reports are read on request only.
    #expect((errors > 0) == (table.name != "ad_report"))
  }

  @Test(arguments: tables) func `a repair keeps the row beside such values, and what is kept is sound`(
    _ table: Table
  ) throws {
    for column in try columns(of: table) {
      let path = try copy(with: Self.values.enumerated(), in: column, of: table)
      let report = try DatabaseRepair.repair(path: path, stamp: column)
      #expect(throws: Never.self, "\(column)") { try StoredRows.check(path: path) }
      #expect(report.kept[table.name] ?? 0 >= 1, "\(column)")
      let count = try DatabaseQueue(path: path).read { db in
        try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table.name) WHERE \(table.first)")
      }
      #expect(count == 1, "\(column)")
    }
  }

  @Test func `a start with such a row fails in one line, doctor sees it, and a repair lets it start`() throws {
    let state = StateFolder(folder.path)
    try FileManager.default.copyItem(atPath: sample, toPath: state.databasePath)
    try Self.change(state.databasePath) { try $0.execute(sql: "UPDATE mailbox SET priority = 7 WHERE id = 3") }
    func start() throws {
      let store = try SQLiteStore(path: state.databasePath)
      let mailbox = try SQLiteMailbox(
        store: store, cap: 10, logger: .silent, now: { TestClock.start }, removed: { _ in })
      mailbox.close()
    }
    let words =
      "\(state.databasePath) is damaged (the priority of a row: expected 10, 5 or 1): `pushcli doctor --repair` "
      + "keeps its readable rows, or restore a backup"
    let failure = #expect(throws: StoreError.self) { try start() }
    #expect(failure?.description == words)
    let finding = #expect(throws: StoreError.self) { try state.checkDatabase() }
    #expect(finding?.description == words)
    let report = try #require(try state.repair())
    #expect(report.kept["mailbox"] == Self.values.count)
    #expect(report.refused == 1)
    #expect(throws: Never.self) { try start() }
    #expect(try state.repair() == nil)
  }

  @Test(arguments: [("device", "last_seen"), ("token", "app"), ("former_token", "device")])
  func `a start with a damaged registration fails`(_ table: String, _ column: String) throws {
    let path = folder.file("start.sqlite")
    try FileManager.default.copyItem(atPath: sample, toPath: path)
    try Self.change(path) { try $0.execute(sql: "UPDATE \(table) SET \(column) = -5 WHERE rowid = 3") }
    let store = try SQLiteStore(path: path)
    let failure = #expect(throws: StoreError.self) { _ = try SQLiteRegistrations(store: store) }
    #expect(failure?.isDamage == true)
  }

  @Test(
    arguments: [
      ([1, 2, 9_007_199_254_740_993, 4, 5], [1, 2, 4, 5]), ([10, 11, 3, 12], [10, 11, 12]), ([7, 7, 8], [7, 8]),
      ([9_007_199_254_740_993, 2, 3], [2, 3]), ([1, 900, 901, 2], [1, 900, 901]),
    ] as [([Int], [Int])])
  func `numbers of waiting pushes that do not rise are damage, and a repair takes out what breaks the order`(
    _ numbers: [Int], _ kept: [Int]
  ) throws {
    let state = StateFolder(folder.path)
    try FileManager.default.copyItem(atPath: sample, toPath: state.databasePath)
    try Self.change(state.databasePath) { db in
      try db.execute(sql: "DELETE FROM mailbox_state WHERE device = 1")
      for (place, number) in numbers.enumerated() {
        let id = place + 1
        try db.execute(sql: "UPDATE mailbox SET device = 1, seq = \(number) WHERE id = \(id)")
      }
      try db.execute(sql: "DELETE FROM mailbox WHERE id > \(numbers.count)")
    }
    #expect(throws: StoreError.self) { try state.checkDatabase() }
    let report = try #require(try state.repair())
    #expect(report.kept["mailbox"] == kept.count)
    #expect(report.refused == numbers.count - kept.count)
    #expect(throws: Never.self) { try state.checkDatabase() }
    let seqs = try DatabaseQueue(path: state.databasePath).read { try Int.fetchAll($0, sql: "SELECT seq FROM mailbox") }
    #expect(seqs == kept)
  }

  @Test func `a report of advertising that is damaged is left out`() async throws {
    let table = try #require(Self.tables.first { $0.name == "ad_report" })
    for column in try columns(of: table) where column != "id" {
      let path = try copy(with: Self.values.enumerated(), in: column, of: table)
      let registrations = try SQLiteRegistrations(store: try SQLiteStore(path: path))
      let reports = try await registrations.adReports(of: nil, limit: 100, before: nil)
      #expect((1..<Self.values.count + 1).contains(reports.count), "\(column)")
      #expect(reports.first?.text == "Buy now")
    }
  }
}

private let publicKey = """
  x'3059301306072a8648ce3d020106082a8648ce3d03010703420004cbc13db152b0e373912c1d8fc41bde48d8e01db006a8388865cdba2ee718\
  fb1333e31b7adbee2c181ba6f2afa383f91fb7edcc3a62746f93cc63200e62dfc6f0'
  """

/// The same key as a point.
private let publicPoint = """
  x'04cbc13db152b0e373912c1d8fc41bde48d8e01db006a8388865cdba2ee718fb1333e31b7adbee2c181ba6f2afa383f91fb7edcc3a62746f93\
  cc63200e62dfc6f0'
  """

/// A private key.
private let privateKey = """
  -----BEGIN PRIVATE KEY-----
  MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+LK+GZu2E4MT8pxF
  wEx/JWj+T8Zd08terEYAFLsCzTWhRANCAASyi/hKC6TXe7/crHdOaapHbTDSakMV
  smwqzCkrYsE9fypgBpXi7qWt1Uh7Kk1MB7n3aho22HQHYwJK0FWgCsMi
  -----END PRIVATE KEY-----
  """

/// Returns an identifier of ten characters.
private func identifier(_ word: String, _ number: Int) -> String {
  let digits = String(number)
  return word + String(repeating: "0", count: 6 - digits.count) + digits
}

/// Returns an id of 32 hex digits.
private func hexID(_ number: Int) -> String {
  let digits = String(number, radix: 16)
  return String(repeating: "0", count: 32 - digits.count) + digits
}

private func blob(_ number: Int, size: Int) -> String {
  let digits = String(number, radix: 16)
  return "x'" + String(repeating: "0", count: 2 * size - digits.count) + digits + "'"
}
