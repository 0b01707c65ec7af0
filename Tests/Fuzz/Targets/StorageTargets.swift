import Foundation
import GRDB

@testable import PushCore
@testable import PushStorage

extension FuzzTarget {
  /// Rows that no gateway wrote. A change consists of table, column, row, kind of value and size, one byte each, and
  /// the value.
  static let rows = FuzzTarget("rows", maximumSize: 120) {
    let database = try DamagedDatabase()
    return { bytes in
      do {
        try database.check(bytes)
      } catch {
        precondition(SQLiteStore.isDamage(error), "what is damaged is called that: \(error)")
      }
    }
  }

  /// The file of a database, as the repair reads it page by page. The first byte gives the first page.
  static let pages = FuzzTarget("pages", maximumSize: 2048) {
    { bytes in
      guard let first = bytes.first else { return }
      let pages = DatabasePages(Array(bytes.dropFirst()), fallbackPageSize: 512)
      let tree = pages.tree(root: Int(first))
      precondition(tree.pages.isSubset(of: 1...max(1, pages.count)), "a tree's pages are of the file")
      precondition(tree.rows.count * 4 <= bytes.count, "a row takes some bytes")
      _ = pages.leaf(max(1, Int(first)))
      _ = pages.freePages
    }
  }

  /// A backup with changed bytes: page, offset in the page (two bytes), size, bytes. One in eight inputs, selected by
  /// the sum of its bytes, is also restored, which takes long.
  static let backup = FuzzTarget("backup", maximumSize: 200) {
    let sample = try SampleBackup()
    return { bytes in
      do {
        try sample.read(bytes)
      } catch {
        precondition(error is StoreError, "an error has words: \(error)")
      }
    }
  }
}

/// A database with rows in every table. Its columns accept any value.
final class DamagedDatabase {
  private let queue: DatabaseQueue
  private let columns: [(table: String, columns: [String])]

  init() throws {
    queue = try DatabaseQueue()
    try Schema.migrator.migrate(queue)
    columns = try queue.write { db in
      try db.execute(sql: "PRAGMA foreign_keys = OFF")
      let names = try String.fetchAll(
        db,
        sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'grdb*' AND name NOT GLOB 'sqlite*'"
      )
      return try names.map { ($0, try db.columns(in: $0).map(\.name)) }
    }
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
      for statement in DamagedDatabase.rows { try db.execute(sql: "INSERT INTO \(statement)") }
      try db.execute(
        sql: "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")
      try db.execute(sql: "PRAGMA writable_schema = RESET")
    }
    try queue.read { try StoredRows.check($0) }
  }

  /// Two consistent rows for each table.
  private static let rows: [String] = [
    "team VALUES ('TEAM000001')",
    "key VALUES ('ABC123DEFG', 'TEAM000001', \(publicKey), 'development', '[\"a.b\"]', NULL)",
    "app VALUES (1, 'a.1', 'News', 'N', 'report', 0, 'off', 'TEAM000001', 0, NULL, NULL, 0), "
      + "(2, 'a.2', 'Mail', 'M', 'enforce', 1, 'on', NULL, 1, '[\"SPORT\"]', 1700000000, 1702419200)",
    "app_day VALUES (1, 19675, 100, 20, 70, 1), (2, 19675, 0, 0, 0, 0)",
    "person VALUES (1, 'p1', '{}'), (2, 'p2', '{\"badge\":false}')",
    "device VALUES (1, 'uuid1', 'd1', 1, zeroblob(32), 'device', 1700000000), "
      + "(2, 'uuid2', 'd2', 2, randomblob(32), 'device', 1700000000)",
    "former_app VALUES (3)",
    "former_device VALUES (3, 1)",
    "former_token VALUES (randomblob(32), 3, 1, 'development', 1700000000000)",
    "token VALUES (randomblob(32), 1, 1, 'development', 1700000000000, 1800000000000), "
      + "(randomblob(32), 2, 2, 'production', NULL, NULL)",
    "certificate VALUES (randomblob(32), 'a.b', '[\"a.b\"]', '[\"production\"]', 1800000000, NULL)",
    "category VALUES (1, 'ASK', '[{\"id\":\"yes\",\"title\":\"Yes\",\"destructive\":false}]', NULL), "
      + "(1, 'ASK-1', '[{\"id\":\"no\",\"title\":\"No\",\"destructive\":true}]', 1800000000)",
    "mailbox VALUES (1, 1, 1, 1, zeroblob(20), 1, zeroblob(20), 1700000000000, 9000000000, 10, '', CAST('{}' AS BLOB), NULL), "
      + "(2, 1, 2, 1, randomblob(20), 0, randomblob(20), 1700000000000, 9000000000, 5, 'c', 1, NULL)",
    "mailbox_payload VALUES (1, 2, CAST('{}' AS BLOB))",
    "mailbox_state VALUES (1, 0, 2, NULL, NULL, NULL), (2, 1, 3, 1, 2, 2)",
    "held VALUES (1, zeroblob(20), 1, 1, 'summary', 1700000000000, 9000000000, 0, 1, 'ASK', '', 'Hello')",
    "digest VALUES (1, 1)",
    "channel VALUES (zeroblob(16), 1, 'development', 1, 1700000000000, NULL, 1)",
    "channel_message VALUES (zeroblob(16), 1, zeroblob(20), zeroblob(20), 1700000000000, 9000000000, 10, CAST('{}' AS BLOB))",
    "channel_subscription VALUES (1, 1, zeroblob(16), 0)",
    "broadcast_off VALUES (2)",
    "mailbox_commit VALUES (1, 7)",
    "replica VALUES (1, 'cell', 7, 0)",
    "cell_file VALUES ('authority', CAST('PEM' AS BLOB)), ('other', zeroblob(4))",
    "answer VALUES (1, 1, zeroblob(20), 'view', 1, 1, 1700000000000, 1), "
      + "(2, 1, randomblob(20), 'close', 1, 1, 1700000000000, NULL)",
    "person_group VALUES (1, 'ops'), (2, 'all')",
    "group_member VALUES (1, 1, 1), (2, 1, 2)",
    "group_token VALUES (randomblob(32), 1, 1, 'development', NULL), (randomblob(32), 2, 1, 'production', 1700000000000)",
    "group_push VALUES (1, 1, -4, 1, zeroblob(20), '[1,2]', 1700000000000)",
    "scheduled VALUES (1, 1800000000000, 1, 1, 'TEAM000001', zeroblob(20), zeroblob(20), 1700000000000, NULL, 10, '', "
      + "CAST('{}' AS BLOB)), (2, 1800000000000, 1, 1, NULL, randomblob(20), zeroblob(20), 1700000000000, 0, 5, 'c', "
      + "CAST('{}' AS BLOB))",
    "audit VALUES (1, 1700000000000, 'DELETE', '/admin/v1/devices/d', '', 204, 'root'), "
      + "(2, 1700000000000, 'POST', '/', '{}', NULL, NULL)",
    "administrator VALUES (zeroblob(32), 'ada', 'admin', 1700000000000, 1800000000, NULL), "
      + "(randomblob(32), 'ci', 'reader', 1700000000000, 1800000000, 1700000000)",
    "sender VALUES ('backup', zeroblob(32), 1, '[1,-1]', 60, 1700000000000, NULL, NULL, NULL, NULL), "
      + "('ci', randomblob(32), 1, '[]', 6000, 1700000000000, 1700000000, 600, '{\"kind\":\"github\"}', 'secret')",
    "hook_push VALUES ('ci', 'main', zeroblob(20), 1700000000000), ('ci', 'next', randomblob(20), 1700000000000)",
    "expectation VALUES ('backup', 86400, 3600, 1700000000000, 1700090000000, NULL), "
      + "('ci', 60, 0, NULL, 1700000060000, 2)",
    "web_push_endpoint VALUES (zeroblob(32), 'blog', 1, 1, 'https://localhost:2197', NULL, 1700000000000, NULL)",
    "event_target VALUES ('shop', 'https://a.example/', '[1]', '[\"accepted\"]', 'whsec_AA==', NULL, NULL, NULL, "
      + "1700000000000, NULL), ('all', 'http://127.0.0.1/', NULL, NULL, 'whsec_AA==', 'whsec_AQ==', 1700000000000, 'PEM', "
      + "1700000000000, 1700000000000)",
    "push_subscription VALUES (1, 'https://push.example/1', \(publicPoint), zeroblob(16), 'https://a.example', 0, 0, NULL, "
      + "1700000000000, NULL), (2, 'https://push.example/2', \(publicPoint), zeroblob(16), 'http://localhost', 1, 1, 'work', "
      + "1700000000000, 403)",
    "attachment VALUES ('0123456789abcdef0123456789abcdef', 'backup', 1, '[1,-1]', 'report.txt', 'text/plain', 1800000000, "
      + "CAST('hello' AS BLOB)), ('00000000000000000000000000000000', 'ci', 1, '[2]', 'a.bin', 'application/octet-stream', "
      + "1800000000, zeroblob(4))",
    "push_service_key VALUES (1, '\(privateKey)'), (2, '\(privateKey)')",
    "retraction VALUES (1, 1, 1, zeroblob(20), 1700000000000), (2, 2, NULL, randomblob(20), 1700000000000)",
  ]

  private static let publicKey = """
    x'3059301306072a8648ce3d020106082a8648ce3d03010703420004cbc13db152b0e373912c1d8fc41bde48d8e01db006a8388865cdba2ee71\
    8fb1333e31b7adbee2c181ba6f2afa383f91fb7edcc3a62746f93cc63200e62dfc6f0'
    """

  /// The same key as a point.
  private static let publicPoint = """
    x'04cbc13db152b0e373912c1d8fc41bde48d8e01db006a8388865cdba2ee718fb1333e31b7adbee2c181ba6f2afa383f91fb7edcc3a62746f93\
    cc63200e62dfc6f0'
    """

  private static let privateKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+LK+GZu2E4MT8pxF
    wEx/JWj+T8Zd08terEYAFLsCzTWhRANCAASyi/hKC6TXe7/crHdOaapHbTDSakMV
    smwqzCkrYsE9fypgBpXi7qWt1Uh7Kk1MB7n3aho22HQHYwJK0FWgCsMi
    -----END PRIVATE KEY-----
    """

  /// Applies changes of another gateway, reads every row, and rolls back.
  func apply(_ changes: [RowChange]) throws {
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "BEGIN")
      defer { try? db.execute(sql: "ROLLBACK") }
      try RowChange.apply(changes, db)
      try StoredRows.check(db)
    }
  }

  /// Changes rows, reads every row, and rolls back.
  func check(_ bytes: [UInt8]) throws {
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "BEGIN")
      defer { try? db.execute(sql: "ROLLBACK") }
      var rest = bytes[...]
      while rest.count >= 5 {
        let head = Array(rest.prefix(5))
        rest = rest.dropFirst(5)
        let (table, names) = columns[Int(head[0]) % columns.count]
        let column = names[Int(head[1]) % names.count]
        let content = Array(rest.prefix(Int(head[4])))
        rest = rest.dropFirst(content.count)
        // SQLite itself refuses some values, for example a text as the id of a row.
        let statement = try db.cachedStatement(sql: "UPDATE \(table) SET \(column) = ? WHERE rowid = ?")
        try? statement.execute(arguments: [DamagedDatabase.value(head[3], content), Int(head[2] & 1) + 1])
      }
      try StoredRows.check(db)
    }
  }

  private static func value(_ kind: UInt8, _ content: [UInt8]) -> DatabaseValue {
    let number = content.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    return switch kind % 5 {
    case 0: .null
    case 1: number.databaseValue
    case 2: Double(bitPattern: UInt64(bitPattern: number)).databaseValue
    case 3: String(decoding: content, as: UTF8.self).databaseValue
    default: Data(content).databaseValue
    }
  }
}

/// A backup for inputs that change some of its bytes.
private final class SampleBackup {
  private let folder = try! FuzzFolder()
  private let sample: [UInt8]
  private let path: String
  private static let pageSize = 4096

  init() throws {
    let state = StateFolder(folder.file("sample"))
    try FileManager.default.createDirectory(atPath: state.devicesPath, withIntermediateDirectories: true)
    try Data("key".utf8).write(to: URL(fileURLWithPath: state.path + "/AuthKey_X.p8"))
    try Data("12\n".utf8).write(to: URL(fileURLWithPath: state.devicesPath + "/me.cursor"))
    path = folder.file("a.backup")
    let store = try SQLiteStore(path: state.databasePath, durability: .normal)
    _ = try Backup.write(store, state, to: path, now: Date(timeIntervalSince1970: 0))
    try store.close()
    sample = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Reads the summary of the backup and restores some inputs. Nothing is written outside of the given folder.
  func read(_ bytes: [UInt8]) throws {
    try Data(changed(bytes[...])).write(to: URL(fileURLWithPath: path))
    _ = try Backup.summary(of: path)
    guard bytes.reduce(0, &+) & 7 == 0 else { return }
    let home = folder.file("home")
    defer { try? FileManager.default.removeItem(atPath: home) }
    defer {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: home)) ?? []
      precondition(names.allSatisfy { $0 == "state" }, "a backup writes outside of its folder: \(names)")
    }
    _ = try Backup.restore(path, into: StateFolder(home + "/state"))
  }

  private func changed(_ changes: ArraySlice<UInt8>) -> [UInt8] {
    var (bytes, rest) = (sample, changes)
    while rest.count >= 4 {
      let head = Array(rest.prefix(4))
      let content = rest.dropFirst(4).prefix(Int(head[3]))
      rest = rest.dropFirst(4 + content.count)
      let start = Int(head[0]) * SampleBackup.pageSize + (Int(head[1]) << 8 | Int(head[2])) % SampleBackup.pageSize
      for (offset, byte) in content.enumerated() where start + offset < bytes.count { bytes[start + offset] = byte }
    }
    return bytes
  }
}
