import Foundation
import GRDB
import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct SQLiteStoreTests {
  let folder: TemporaryFolder
  var path: String { folder.file("push.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  func failure() -> String {
    do throws(StoreError) {
      _ = try SQLiteStore(path: path)
      return "no failure"
    } catch {
      return error.description
    }
  }

  @Test func `a database is made, and opened again`() throws {
    _ = try SQLiteStore(path: path)
    let store = try SQLiteStore(path: path)
    let synchronous = try store.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
    #expect(synchronous == 2)
    let mode = try store.pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
    #expect(mode == "wal")
  }

  @Test func `the log of a database is as long as it may be, whoever writes`() throws {
    let store = try SQLiteStore(path: path, durability: .normal)
    try store.pool.writeWithoutTransaction { db in
      try db.execute(sql: "CREATE TABLE filling (bytes BLOB)")
      // One and a half times the maximum number of pages.
      for _ in 0..<Limits.maximumDatabaseLogPages * 3 / 2 / 64 {
        try db.execute(sql: "INSERT INTO filling VALUES (zeroblob(?))", arguments: [64 * 4096])
      }
    }
    let size = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
    // Each page in the log has a header, and the last transaction may exceed the limit.
    #expect(size > 4096 && size <= (Limits.maximumDatabaseLogPages + 2 * 64) * (4096 + 24))
  }

  @Test func `a log that is emptied has nothing in it, and the database all`() async throws {
    let store = try SQLiteStore(path: path)
    try await store.pool.write { try $0.execute(sql: "INSERT INTO team VALUES ('TEAM000009')") }
    #expect(try folder.read("push.sqlite-wal").isEmpty == false)
    #expect(try await store.emptyLog())
    #expect(try folder.read("push.sqlite-wal").isEmpty)
    #expect(try Data(folder.read("push.sqlite")).range(of: Data("TEAM000009".utf8)) != nil)
  }

  @Test func `a log is emptied when its reader has gone`() async throws {
    let store = try SQLiteStore(path: path)
    var configuration = GRDB.Configuration()
    configuration.allowsUnsafeTransactions = true
    let reader = try DatabaseQueue(path: path, configuration: configuration)
    try await reader.writeWithoutTransaction { db in
      try db.execute(sql: "BEGIN")
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM team")
    }
    try await store.pool.write { try $0.execute(sql: "INSERT INTO team VALUES ('TEAM000009')") }
    async let isEmpty = store.emptyLog()
    // Writers continue in the meantime.
    for number in 0..<5 {
      try await store.pool.write { try $0.execute(sql: "INSERT INTO team VALUES ('TEAM00001\(number)')") }
    }
    try await reader.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    #expect(try await isEmpty)
  }

  @Test func `what is deleted is overwritten`() throws {
    let store = try SQLiteStore(path: path)
    let isOn = try store.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA secure_delete") }
    #expect(isOn == 1)
  }

  @Test func `a database of a newer version is refused`() throws {
    let store = try SQLiteStore(path: path)
    try store.pool.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
    #expect(failure() == "\(path) was written by a newer pushcli: start that one, or restore an older backup")
  }

  @Test(arguments: [4096, 100_000])
  func `a file that is no database is refused in one line`(_ size: Int) throws {
    _ = try folder.write([UInt8](repeating: 0x41, count: size), "push.sqlite")
    let words = failure()
    #expect(words.hasPrefix("\(path) is damaged ("))
    #expect(words.hasSuffix("`pushcli doctor --repair` keeps its readable rows, or restore a backup"))
    #expect(!words.contains("\n"))
  }

  @Test func `a damaged database is refused in one line`() throws {
    do {
      let store = try SQLiteStore(path: path)
      try store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
      try store.pool.close()
    }
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    for place in 4096..<bytes.count { bytes[place] = 0xA5 }
    _ = try folder.write(bytes, "push.sqlite")
    let words = failure()
    #expect(words.hasPrefix("\(path) is damaged ("))
    #expect(!words.contains("\n"))
  }

  @Test func `a folder that is not there is refused in one line`() {
    let path = folder.file("nowhere/push.sqlite")
    let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error?.description == "\(path) can't be opened for writing: check the folder's owner and permissions")
  }

  @Test(arguments: ReleasedSchemas.steps.map(\.migration))
  func `a database of a released version comes over whole`(_ migration: String) async throws {
    let queue = try DatabaseQueue(path: path)
    let dump = ReleasedSchemas.dump(after: migration)
    try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL; " + dump) }
    try queue.close()
    let store = try SQLiteStore(path: path)
    let registrations = try SQLiteRegistrations(store: store)
    #expect(registrations.key("ABC123DEFG")?.topics == ["a.b"])
    let token = try #require(DeviceToken(bytes: [UInt8](repeating: 0, count: 32)))
    let (registration, app) = try #require(registrations.registration(token))
    #expect(registration.unregistered == nil)
    #expect(registration.expires == nil)
    #expect(registrations.key("ABC123DEFG")?.related == nil)
    #expect(!app.isStrict)
    #expect(registrations.certificates.count == (migration == "1" ? 0 : 2))
    #expect(app.policyMode == .report)
    // The dumps of later versions have further devices.
    let later = Set(["console", "tablet"])
    #expect(registrations.devices.map(\.name).filter { !later.contains($0) } == ["laptop", "phone"])
    #expect(registrations.preferences(of: 1).parts.badge == false)
    let mailbox = try SQLiteMailbox(store: store, cap: 10, logger: .silent, now: { 1_800_000_000 }, removed: { _ in })
    defer { mailbox.close() }
    let pending = try await mailbox.pending(for: 1, after: 0, limit: 10)
    #expect(pending.gap == MailboxGap(from: 1, to: 2, dropped: 2))
    #expect(pending.entries.map { String(decoding: $0.push.payload, as: UTF8.self) } == [#"{"n":3}"#, #"{"n":4}"#])
    #expect(try await mailbox.waiting(2) == [])
    #expect(await mailbox.append([samplePush(to: 2)]).map(\.seq) == [2])
  }

  @Test func `a migration that fails leaves the database as it was`() throws {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL; " + ReleasedSchemas.version1) }
    try Schema.migrator.migrate(queue)
    let before = try queue.read { try String.fetchAll($0, sql: "SELECT sql FROM sqlite_master WHERE sql NOT NULL") }
    var migrator = Schema.migrator
    migrator.registerMigration("fails") { db in
      try db.execute(sql: "CREATE TABLE half (id INTEGER); DELETE FROM mailbox; UPDATE nowhere SET a = 1")
    }
    #expect(throws: DatabaseError.self) { try migrator.migrate(queue) }
    #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM mailbox") } == 3)
    #expect(try queue.read { try $0.tableExists("half") } == false)
    let names = try queue.read { try String.fetchAll($0, sql: "SELECT sql FROM sqlite_master WHERE sql NOT NULL") }
    #expect(Set(before).isSubset(of: names))
  }

  @Test func `what belongs to a device or a person is found without reading a whole table`() async throws {
    let store = try SQLiteStore(path: folder.file("db.sqlite"))
    try await store.pool.read { db in
      for table in try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'") {
        let leading = Set(try db.indexes(on: table).compactMap(\.columns.first))
        for key in try db.foreignKeys(on: table) where ["device", "person"].contains(key.destinationTable) {
          #expect(key.originColumns.allSatisfy(leading.contains), "\(table) \(key.originColumns)")
        }
      }
    }
  }

  /// The pages of a batch that stay in the log would delay the next writer.
  @Test func `a batch of devices is in the file itself, not in its log`() async throws {
    let store = try SQLiteStore(path: path)
    let registrations = try SQLiteRegistrations(store: store)
    _ = try await registrations.putApp(
      topic: "com.example.news", name: "News", icon: "N", policyMode: .enforce, isStrict: false, ads: .standard)
    func devicesInFile() throws -> Int {
      let copy = folder.file("copy.sqlite")
      try? FileManager.default.removeItem(atPath: copy)
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      return try DatabaseQueue(path: copy).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM device") ?? 0 }
    }
    _ = try await registrations.enroll(
      batch: "load", numbers: 0..<50, topic: "com.example.news", environment: .development)
    #expect(try devicesInFile() == 50)
    _ = try await registrations.remove(batch: "load")
    #expect(try devicesInFile() == 0)
  }

  @Test func `the log may be moved by many at once`() async throws {
    let store = try SQLiteStore(path: path)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          for _ in 0..<25 {
            try await store.pool.write { db in
              try db.execute(sql: "INSERT OR IGNORE INTO team VALUES (?)", arguments: [number])
            }
            try store.moveLog()
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
