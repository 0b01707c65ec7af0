import Foundation
import GRDB
import PushCore
import PushPolicy

/// The result of a repair of the database: the rows that were kept, and the damage.
package struct RepairReport: Codable, Sendable, Equatable {
  /// The number of kept rows, by table.
  package var kept: [String: Int] = [:]
  /// The number of rows that were readable but invalid, or that referred to missing rows.
  package var refused = 0
  /// The number of pages, and of parts of pages that can't be read.
  package var pages = 0
  package var damages = 0
  /// The path to which the damaged file was moved.
  package var aside = ""
}

/// Saves the readable rows of a damaged database into a new one.
///
/// The tree of each table is read page by page. Leaf pages that no tree reaches any more are assigned to a table by
/// the shape of their rows. A row is accepted only if its table takes it.
package enum DatabaseRepair {
  /// Repairs a database that no gateway uses. The damaged file is kept next to the new one.
  ///
  /// - Parameter stamp: a timestamp that distinguishes this damaged file from others.
  /// - Throws: ``StoreError`` if the new database can't be written; the old one is then unchanged.
  package static func repair(path: String, stamp: String) throws(StoreError) -> RepairReport {
    let draft = path + ".repaired"
    let aside = path + ".damaged-" + stamp
    do {
      let pages = DatabasePages(try settledBytes(of: path))
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: draft + suffix) }
      let store = try SQLiteStore(path: draft)
      var report = try fill(store, from: pages)
      // Until it is closed, most of the new database is in the write-ahead log, which does not move with the file.
      try store.close()
      for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
        try FileManager.default.moveItem(atPath: path + suffix, toPath: aside + suffix)
      }
      try FileManager.default.moveItem(atPath: draft, toPath: path)
      // The report contains the lost rows, so that the count of commits is no longer needed.
      try? FileManager.default.removeItem(atPath: path + CommitCounterFile.suffix)
      report.aside = aside
      return report
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Returns the bytes of the file with the contents of the write-ahead log, as far as SQLite can still apply them.
  /// The file itself stays as it is.
  private static func settledBytes(of path: String) throws -> [UInt8] {
    let (files, copy) = (FileManager.default, path + ".settled")
    func remove() { for suffix in ["", "-wal", "-shm"] { try? files.removeItem(atPath: copy + suffix) } }
    remove()
    defer { remove() }
    for suffix in ["", "-wal"] where files.fileExists(atPath: path + suffix) {
      try files.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    if let queue = try? DatabaseQueue(path: copy) {
      try? queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
      try? queue.close()
    }
    return Array(try Data(contentsOf: URL(fileURLWithPath: copy)))
  }

  private static func fill(_ store: SQLiteStore, from pages: DatabasePages) throws -> RepairReport {
    var report = RepairReport(pages: pages.count)
    try store.pool.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA foreign_keys = OFF")
      let tables = try RepairTable.all(in: db)
      try db.inTransaction {
        for (name, row) in rows(of: pages, tables, &report) {
          guard let table = tables.first(where: { $0.name == name ?? $0.name && $0.takes(row) }),
            try table.insert(row, into: db)
          else {
            report.refused += name == nil ? 0 : 1
            continue
          }
          report.kept[table.name, default: 0] += 1
        }
        let disorder = try dropChanged(db) + dropDisorder(db)
        if disorder > 0 { report.kept["mailbox", default: 0] -= disorder }
        let unused = try repairPayloads(db)
        if unused > 0 { report.kept["mailbox_payload", default: 0] -= unused }
        report.refused += try disorder + unused + repairReferences(db)
        try registerReceivers(db)
        return .commit
      }
      _ = try db.checkpoint(.truncate)
    }
    try store.close()
    return report
  }

  /// Returns each readable row, with the name of its table if its tree could be followed.
  private static func rows(
    of pages: DatabasePages, _ tables: [RepairTable], _ report: inout RepairReport
  ) -> [(table: String?, row: PageRow)] {
    let schema = pages.tree(root: 1)
    report.damages += schema.damages
    var found: [(String?, PageRow)] = []
    var seen = schema.pages.union(pages.freePages)
    var roots: Set<Int64> = []
    for entry in schema.rows {
      // type, name, tbl_name, rootpage, sql (SQLite file format §2.6)
      guard entry.values.count == 5, entry.values[0] == .text("table"), case .text(let name) = entry.values[1],
        case .integer(let root) = entry.values[3], roots.insert(root).inserted
      else { continue }
      let tree = pages.tree(root: Int(clamping: root))
      report.damages += tree.damages
      seen.formUnion(tree.pages)
      if tables.contains(where: { $0.name == name }) { found += tree.rows.map { (name, $0) } }
    }
    for page in stride(from: 1, through: pages.count, by: 1) where !seen.contains(page) {
      found += pages.leaf(page).rows.map { (nil, $0) }
    }
    return found
  }

  /// Drops pushes that fail their checksums, and copies without a payload.
  ///
  /// - Returns: the number of rows that were dropped.
  private static func dropChanged(_ db: Database) throws -> Int {
    let rows = try SQLiteMailbox.changedRows(db)
    for row in rows { try db.execute(sql: "DELETE FROM mailbox WHERE id = ?", arguments: [row]) }
    try db.execute(
      sql: """
        DELETE FROM mailbox WHERE typeof(payload) = 'integer' AND NOT EXISTS (
          SELECT 1 FROM mailbox_payload AS shared WHERE shared.id = mailbox.payload AND shared.id <= mailbox.id)
        """)
    return rows.count + db.changesCount
  }

  /// Drops payloads without copies, and finds the last copy of each other payload.
  ///
  /// - Returns: the number of rows that were dropped.
  private static func repairPayloads(_ db: Database) throws -> Int {
    let copies = "FROM mailbox WHERE typeof(payload) = 'integer'"
    try db.execute(sql: "DELETE FROM mailbox_payload WHERE id NOT IN (SELECT payload \(copies))")
    let dropped = db.changesCount
    try db.execute(
      sql: """
        UPDATE mailbox_payload SET last = copies.last
        FROM (SELECT payload AS number, max(id) AS last \(copies) GROUP BY payload) AS copies
        WHERE copies.number = mailbox_payload.id
        """)
    return dropped
  }

  /// Drops pending pushes whose sequence number does not fit those of their device: first each that is not between
  /// its neighbors, then each that is not above all before it.
  ///
  /// - Returns: the number of rows that were dropped.
  private static func dropDisorder(_ db: Database) throws -> Int {
    let waiting = """
      mailbox LEFT JOIN mailbox_state USING (device) WHERE payload IS NOT NULL AND seq > ifnull(acknowledged, 0)
      """
    try db.execute(
      sql: """
        DELETE FROM mailbox WHERE id IN (
          SELECT id FROM (
            SELECT id, seq, lag(seq, 1, 0) OVER rows_of AS below, lead(seq, 1, \(Int64.max)) OVER rows_of AS above
            FROM \(waiting) WINDOW rows_of AS (PARTITION BY device ORDER BY id))
          WHERE below < above AND (seq <= below OR seq > above))
        """)
    let dropped = db.changesCount
    try db.execute(
      sql: """
        DELETE FROM mailbox WHERE id IN (
          SELECT id FROM (
            SELECT id, seq, max(seq) OVER (
              PARTITION BY device ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS highest
            FROM \(waiting))
          WHERE seq <= highest)
        """)
    return dropped + db.changesCount
  }

  /// Creates missing users and teams again if other rows refer to them, and drops rows that refer to anything else
  /// that is missing.
  ///
  /// - Returns: the number of rows that were dropped.
  private static func repairReferences(_ db: Database) throws -> Int {
    try db.execute(
      sql: """
        INSERT OR IGNORE INTO person (id, name, preferences)
          SELECT DISTINCT person, 'recovered-' || person, '{}' FROM device WHERE person NOT IN (SELECT id FROM person);
        INSERT OR IGNORE INTO team (id) SELECT team FROM key UNION SELECT team FROM app WHERE team IS NOT NULL;
        """)
    var dropped = 0
    while true {
      let dangling = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check")
      guard !dangling.isEmpty else { return dropped }
      for row in dangling {
        let table: String = row["table"]
        let rowID: Int64 = row["rowid"]
        try db.execute(sql: "DELETE FROM \(table.quotedDatabaseIdentifier) WHERE rowid = ?", arguments: [rowID])
        dropped += 1
      }
    }
  }
}

extension DatabaseRepair {
  /// Registers devices again for the apps whose pushes are pending for them, because a start drops pushes without a
  /// registration.
  ///
  /// The tokens are new, since the old ones are lost; a device gets its new token when it reconnects. The environment
  /// is that of the app's other registrations, if there are any.
  private static func registerReceivers(_ db: Database) throws {
    let receivers = try Row.fetchAll(
      db,
      sql: """
        SELECT DISTINCT device, app FROM mailbox LEFT JOIN mailbox_state USING (device)
        WHERE payload IS NOT NULL AND seq > ifnull(acknowledged, 0)
          AND device IN (SELECT id FROM device) AND app IN (SELECT id FROM app)
          AND NOT EXISTS (SELECT 1 FROM token WHERE token.device = mailbox.device AND token.app = mailbox.app)
        """)
    for row in receivers {
      let (device, app): (Int64, Int64) = (row["device"], row["app"])
      try db.execute(
        sql: """
          INSERT INTO token (token, device, app, environment) VALUES (?, ?, ?, ifnull(
            (SELECT environment FROM token WHERE app = ? GROUP BY environment ORDER BY count(*) DESC LIMIT 1), ?))
          """,
        arguments: [
          Data(DeviceToken.random().bytes), device, app, app, Environment.development.rawValue,
        ])
    }
  }
}

extension RowValue {
  /// True if this value is the priority of a push.
  fileprivate var isPriority: Bool { self == .integer(10) || self == .integer(5) || self == .integer(1) }
}

/// A table of the newest schema, and the rows that it takes.
private struct RepairTable {
  struct Column {
    var name: String
    var type: String
    var isOptional: Bool
    /// True if the column is the rowid under another name: the record itself contains NULL.
    var isRowID: Bool
    /// The range of integers in the column.
    var range: ClosedRange<Int64>
  }

  var name: String
  var columns: [Column]

  /// Returns the tables of a database that was just created.
  static func all(in db: Database) throws -> [RepairTable] {
    try Schema.tables(db).map { name in
      let columns = try Row.fetchAll(db, sql: "SELECT * FROM pragma_table_info(?)", arguments: [name])
      let hasOneKey = columns.count { ($0["pk"] as Int) > 0 } == 1
      return RepairTable(
        name: name,
        columns: columns.map { column in
          let isKey: Bool = (column["pk"] as Int) > 0
          let (columnName, type): (String, String) = (column["name"], column["type"])
          let hasDefault = (column["dflt_value"] as String?) != nil
          return Column(
            name: columnName, type: type, isOptional: !isKey && ((column["notnull"] as Int) == 0 || hasDefault),
            isRowID: isKey && hasOneKey && type == "INTEGER",
            range: ColumnBounds.range(ofColumn: columnName, in: name))
        })
    }
  }

  /// Returns true if a row has the shape of this table. A row that was written before a migration has fewer columns.
  func takes(_ row: PageRow) -> Bool {
    guard row.values.count <= columns.count, columns[row.values.count...].allSatisfy(\.isOptional) else { return false }
    let fits = zip(columns, row.values).allSatisfy { column, value in
      switch value {
      case .null: column.isRowID ? column.range.contains(row.rowID) : column.isOptional
      // SQLite stores 1.0 in the same way as 1.
      case .integer(let number):
        column.type == "REAL"
          || (column.type == "INTEGER" && !column.isRowID || isCopied(column)) && column.range.contains(number)
      case .real(let number): column.type == "REAL" && number.isFinite
      case .text: column.type == "TEXT"
      case .blob: column.type == "BLOB"
      }
    }
    let absent = [RowValue](repeating: .null, count: columns.count - row.values.count)
    return fits && isSound(row.values + absent)
  }

  /// Returns true if a column may contain the number of a payload that several rows share.
  private func isCopied(_ column: Column) -> Bool { name == "mailbox" && column.name == "payload" }

  /// Returns true if a start accepts the values of a row.
  private func isSound(_ values: [RowValue]) -> Bool {
    func isJSON<Value: Decodable>(_ column: Int, _ type: Value.Type) -> Bool {
      values[column].text.map { (try? decodeJSON(type, from: $0.utf8)) != nil } ?? false
    }
    func isID(_ column: Int) -> Bool { values[column].blob.flatMap { APNSID(stored: $0) } != nil }
    func isPayload(_ column: Int, otherwise: Bool = false) -> Bool {
      values[column].blob.map { (try? JSONParser(maximumDepth: Limits.maximumStoredDepth).payload($0.span)) != nil }
        ?? otherwise
    }
    return switch name {
    case "team": values[0].text?.utf8.count == 10
    case "app":
      (values[7] == .null || values[7].text?.utf8.count == 10) && (values[9] == .null || isJSON(9, [String].self))
    case "key":
      values[2].blob.map { (try? ES256Key(publicDER: $0)) != nil } ?? false
        && (values[4] == .null || isJSON(4, Set<String>.self))
    case "person": isJSON(2, Preferences.self)
    case "certificate": isJSON(2, Set<String>.self) && isJSON(3, [String].self)
    case "category": isJSON(2, [AlertAction].self)
    case "token", "former_token": values[0].blob?.count == DeviceToken.size
    case "channel": values[0].blob?.count == ChannelID.size
    case "channel_message":
      values[0].blob?.count == ChannelID.size && isID(2) && isID(3) && values[6].isPriority && isPayload(7)
    case "channel_subscription": values[2].blob?.count == ChannelID.size
    case "mailbox": isID(4) && isID(6) && values[9].isPriority && isPayload(11, otherwise: true)
    case "mailbox_payload": isPayload(2)
    case "scheduled": isID(5) && isID(6) && values[9].isPriority && isPayload(11)
    case "group_token":
      values[0].blob?.count == DeviceToken.size && values[3].text.map { Environment(rawValue: $0) != nil } ?? false
    case "group_push": isID(4) && isJSON(5, [Int64].self)
    case "sender": isJSON(3, [Int64].self) && (values[8] == .null || isJSON(8, Hook.self))
    case "hook_push": isID(2)
    case "event_target":
      (values[2] == .null || isJSON(2, [Int64].self)) && (values[3] == .null || isJSON(3, [String].self))
    case "retraction": isID(3)
    case "web_push_endpoint":
      values[5] == .null || values[5].blob.map { (try? ES256Key(publicPoint: $0)) != nil } ?? false
    case "push_subscription":
      values[2].blob.map { (try? ES256Key(publicPoint: $0)) != nil } ?? false
        && values[3].blob?.count == WebPushEncryption.secretSize
    case "push_service_key": values[1].text.map { (try? ES256Key(privatePEM: Array($0.utf8))) != nil } ?? false
    case "attachment":
      values[0].text.map(AttachmentReference.isID) ?? false && isJSON(3, [Int64].self)
        && values[5].text.flatMap { AttachmentType(rawValue: $0) } != nil
        && values[7].blob?.count ?? .max <= Limits.maximumAttachmentSize
    case "mailbox_state":
      // A gap has all of its columns or none.
      Set(values[3...5].map { $0 == .null }).count == 1
    default: true
    }
  }

  /// Adds a row, unless the table has one with its key.
  ///
  /// - Returns: true if the row was added.
  func insert(_ row: PageRow, into db: Database) throws -> Bool {
    let used = columns.prefix(row.values.count)
    let names = used.map(\.name.quotedDatabaseIdentifier).joined(separator: ", ")
    let marks = used.map { _ in "?" }.joined(separator: ", ")
    let statement = try db.cachedStatement(
      sql: "INSERT OR IGNORE INTO \(name.quotedDatabaseIdentifier) (\(names)) VALUES (\(marks))")
    let values = zip(used, row.values).map { column, value in
      value == .null && column.isRowID ? row.rowID.databaseValue : value.databaseValue
    }
    try statement.execute(arguments: StatementArguments(values))
    return db.changesCount > 0
  }
}
