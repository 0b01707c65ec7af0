import Foundation
import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct DatabaseRepairTests {
  /// A state folder of a stopped gateway, with all kinds of data.
  struct Sample {
    let temporary: TemporaryFolder
    var folder: StateFolder { StateFolder(temporary.path) }
    let bytes: [UInt8]
    let pushes: Set<[UInt8]>
    let token: DeviceToken

    init(pushCount: Int) async throws {
      temporary = try TemporaryFolder()
      let store = try SQLiteStore(path: StateFolder(temporary.path).databasePath)
      let registrations = try SQLiteRegistrations(store: store)
      try await registrations.addTeam("TEAM000001")
      try await registrations.addKey(
        ProviderKey(
          id: "ABC123DEFG", team: "TEAM000001", publicKey: try ES256Key.generate(), environment: nil, topics: ["a.b"]))
      _ = try await registrations.putApp(topic: "a.b", name: "News", icon: "📰", policyMode: .enforce)
      let (device, _) = try await registrations.enroll(name: "laptop", person: "me")
      token = try await registrations.register(device.id, topic: "a.b", environment: .development).token
      let mailbox = try SQLiteMailbox(
        store: store, cap: 100_000, logger: .silent, now: { TestClock.start }, removed: { _ in })
      // Every twentieth payload is larger than a page.
      let sent = (1...pushCount).map { number in
        let text = String(repeating: "x", count: number.isMultiple(of: 20) ? 4090 : 300)
        return samplePush(number, payload: #"{"n":\#(number),"text":"\#(text)"}"#)
      }
      _ = await mailbox.append(sent)
      mailbox.close()
      pushes = Set(sent.map(\.payload))
      bytes = Array(try Data(contentsOf: URL(fileURLWithPath: StateFolder(temporary.path).databasePath)))
    }

    /// Replaces the database by a file, and removes the files next to it. The end of an earlier store may remove them too.
    func place(_ bytes: [UInt8]) throws {
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasPrefix("pushgateway") {
        do {
          try FileManager.default.removeItem(atPath: folder.path + "/" + name)
        } catch CocoaError.fileNoSuchFile {}
      }
      try Data(bytes).write(to: URL(fileURLWithPath: folder.databasePath))
    }

    /// Returns the pending payloads and the registrations, as a start reads them.
    func opened() throws -> (payloads: [[UInt8]], registrations: SQLiteRegistrations) {
      let store = try SQLiteStore(path: folder.databasePath)
      let mailbox = try SQLiteMailbox(
        store: store, cap: 100_000, logger: .silent, now: { TestClock.start }, removed: { _ in })
      mailbox.close()
      let payloads = try store.pool.read { try Data.fetchAll($0, sql: "SELECT payload FROM mailbox ORDER BY seq") }
      return (payloads.map(Array.init), try SQLiteRegistrations(store: store))
    }
  }

  @Test func `a sound database is left alone`() async throws {
    let sample = try await Sample(pushCount: 3)
    #expect(try sample.folder.repair() == nil)
    #expect(try sample.opened().payloads.count == 3)
    let empty = try TemporaryFolder()
    #expect(try StateFolder(empty.path).repair() == nil)
  }

  @Test func `whichever page is overwritten, everything on the others is kept`() async throws {
    let sample = try await Sample(pushCount: 400)
    let pages = DatabasePages(sample.bytes)
    var random = SplitMix64(state: 7)
    for page in 1...pages.count {
      var bytes = sample.bytes
      for place in (page - 1) * pages.pageSize..<page * pages.pageSize {
        bytes[place] = .random(in: 0...255, using: &random)
      }
      try sample.place(bytes)
      // A page of an index or a free page may pass the check, or have no effect.
      let report = try sample.folder.repair()
      let (payloads, registrations) = try sample.opened()
      let lost = pages.leaf(page).rows.count
      #expect(Set(payloads).isSubset(of: sample.pushes), "page \(page)")
      #expect(Set(payloads).count == payloads.count, "page \(page)")
      // An overflow page loses the one push whose payload continues on it.
      #expect(payloads.count >= sample.pushes.count - max(lost, 1), "page \(page)")
      let isKept = registrations.registration(sample.token) != nil
      #expect(isKept || lost > 0 || pages.kind(of: page) == .other, "page \(page)")
      if let report {
        #expect(FileManager.default.fileExists(atPath: report.aside))
        #expect(try Data(contentsOf: URL(fileURLWithPath: report.aside)) == Data(bytes))
      }
    }
  }

  @Test func `without its header everything is kept`() async throws {
    let sample = try await Sample(pushCount: 50)
    try sample.place([UInt8](repeating: 0, count: 100) + sample.bytes[100...])
    let report = try #require(try sample.folder.repair())
    #expect(report.kept["mailbox"] == 50)
    let (payloads, registrations) = try sample.opened()
    #expect(Set(payloads) == sample.pushes)
    #expect(registrations.registration(sample.token)?.1.topic == "a.b")
    #expect(registrations.key("ABC123DEFG")?.topics == ["a.b"])
  }

  /// A start drops the pushes to devices without a registration.
  @Test func `a device whose registration is lost is registered anew for what waits`() async throws {
    let sample = try await Sample(pushCount: 20)
    let store = try SQLiteStore(path: sample.folder.databasePath)
    let root = try await store.pool.read {
      try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'token'")
    }
    try store.close()
    let size = DatabasePages(sample.bytes).pageSize
    var bytes = sample.bytes
    let page = try #require(root)
    for place in (page - 1) * size..<page * size { bytes[place] = 0xFF }
    try sample.place(bytes)
    _ = try #require(try sample.folder.repair())
    let (payloads, registrations) = try sample.opened()
    #expect(Set(payloads) == sample.pushes && registrations.registration(sample.token) == nil)
    let device = try registrations.device(named: "laptop")
    let registered = registrations.registrations(of: device.id)
    #expect(
      registered.map { "\($0.1.topic) \($0.0.environment) \($0.0.token == sample.token)" } == ["a.b development false"])
  }

  @Test func `what is no database at all leaves an empty one, and the file beside it`() async throws {
    let sample = try await Sample(pushCount: 1)
    let bytes = Array("This is a letter to my aunt.".utf8)
    try sample.place(bytes)
    let report = try #require(try sample.folder.repair())
    #expect(report.kept.isEmpty)
    #expect(try Data(contentsOf: URL(fileURLWithPath: report.aside)) == Data(bytes))
    #expect(try sample.opened().payloads.isEmpty)
  }

  @Test func `a file that ends in the middle gives what it has`() async throws {
    // The first pages are those of all tables and indexes.
    let empty = try await Sample(pushCount: 1).bytes.count
    let sample = try await Sample(pushCount: 4000)
    for share in [0.3, 0.5, 0.8] {
      try sample.place(Array(sample.bytes.prefix(empty + Int(Double(sample.bytes.count - empty) * share))))
      _ = try #require(try sample.folder.repair())
      let payloads = try sample.opened().payloads
      #expect(Set(payloads).isSubset(of: sample.pushes))
      #expect(Double(payloads.count) > 4000 * (share - 0.1))
    }
  }

  /// A record may have fewer values than its table has columns.
  @Test func `a push without its last column is taken for one that was removed`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("push.sqlite")
    let queue = try DatabaseQueue(path: path)
    try queue.write { db in
      try db.execute(
        sql: """
          CREATE TABLE mailbox (id INTEGER PRIMARY KEY, a, b, c, d, e, f, g, h, i, j);
          INSERT INTO mailbox VALUES (1, 1, 1, 1, zeroblob(20), 1, zeroblob(20), 1700000000000, 9000000000, 10, '');
          CREATE TABLE key (id TEXT, a, b);
          INSERT INTO key VALUES ('ABC123DEFG', 'TEAM000001', zeroblob(91));
          """)
    }
    try queue.close()
    let report = try DatabaseRepair.repair(path: path, stamp: "now")
    #expect(report.kept == ["mailbox": 1])
    #expect(report.refused == 1)
    #expect(throws: Never.self) { try StoredRows.check(path: path) }
  }

  @Test func `a device whose person is gone gets another, and keeps its pushes`() async throws {
    let sample = try await Sample(pushCount: 2)
    let queue = try DatabaseQueue(path: sample.folder.databasePath)
    try await queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA foreign_keys = OFF; DELETE FROM person")
      _ = try db.checkpoint(.truncate)
    }
    try queue.close()
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: sample.folder.databasePath)))
    bytes.replaceSubrange(0..<16, with: Array("no SQLite at all".utf8))
    try sample.place(bytes)
    _ = try #require(try sample.folder.repair())
    let (payloads, registrations) = try sample.opened()
    #expect(payloads.count == 2)
    let device = try registrations.device(named: "laptop")
    #expect(registrations.person(device.person)?.name == "recovered-\(device.person.row)")
  }
}
