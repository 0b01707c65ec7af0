import Foundation
import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

/// Copies of one push for several devices. Their payload is stored once.
@Suite(.timeLimit(.minutes(5))) struct CopiedPayloadsTests {
  /// The kind of removal of the copies.
  enum Way: CaseIterable { case acknowledged, purged, retracted, discarded }

  private static let words = "Platform seven"
  private static let payload = #"{"aps":{"alert":"\#(words)"},"n":"\#(String(repeating: "x", count: 3000))"}"#

  /// Returns a copy of a push for each device. All share one array of bytes, as the copies of a push to a group do.
  private func copies(
    _ id: Int, to devices: ClosedRange<Int64>, isSenderID: Bool = false, collapse: String = "",
    payload: String = CopiedPayloadsTests.payload
  ) -> [StoredPush] {
    let payload = Array(payload.utf8)
    return devices.map { device in
      StoredPush(
        device: DeviceID(row: device), app: 1, id: .number(id), isSenderID: isSenderID,
        uniqueID: .number(1_000_000 * id + Int(device)), received: TestClock.start * 1000,
        expires: TestClock.start + 3600, priority: 10, collapseID: collapse, payload: payload)
    }
  }

  /// Returns the payloads of a device's pending pushes.
  private func payloads(_ mailbox: SQLiteMailbox, _ device: Int64) async throws -> [String] {
    let pending = try await mailbox.pending(for: DeviceID(row: device), after: 0, limit: 100)
    return pending.entries.map { String(decoding: $0.push.payload, as: UTF8.self) }
  }

  private func number(_ store: SQLiteStore, _ sql: String) throws -> Int {
    try store.pool.read { try Int.fetchOne($0, sql: sql) ?? 0 }
  }

  private func payloadCount(_ home: SQLiteHome) throws -> Int {
    try number(home.store, "SELECT count(*) FROM mailbox_payload")
  }

  private func leave(_ way: Way, _ devices: [DeviceID], _ mailbox: SQLiteMailbox) async throws {
    switch way {
    case .acknowledged: for device in devices { mailbox.acknowledge(device, through: 1) }
    case .purged: try await mailbox.purge(devices, app: nil)
    case .retracted: mailbox.retract(.number(7), app: nil, from: devices) { _ in }
    case .discarded: for device in devices { mailbox.discard(device, seq: 1) }
    }
    // Changes are on the disk after the next append at the latest.
    _ = await mailbox.append([samplePush(100 + devices.count, to: 99)])
  }

  @Test func `a push to a thousand devices takes one payload and small rows of the disk, and each device gets it`()
    async throws
  {
    var home = try SQLiteHome()
    _ = await home.mailbox.append([samplePush(to: 2000)])
    let before = try number(home.store, "PRAGMA page_count")
    let outcomes = await home.mailbox.append(copies(7, to: 1...1000))
    #expect(outcomes.compactMap(\.seq).count == 1000)
    let pages = try number(home.store, "PRAGMA page_count") - before
    #expect(pages * SQLiteStore.pageSize < 200_000)
    #expect(try payloadCount(home) == 1)
    #expect(try await payloads(home.mailbox, 500) == [Self.payload])
    home = try home.reopened()
    defer { home.mailbox.close() }
    for device: Int64 in 1...1000 { #expect(try await payloads(home.mailbox, device) == [Self.payload]) }
    #expect(throws: Never.self) { try StoredRows.check(path: home.store.path) }
  }

  @Test func `each row of a push that goes to one device has its own payload`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    // The same text, as from a sender that sends it to one device after another, and an id that several pushes share.
    _ = await home.mailbox.append((1...40).flatMap { copies($0, to: Int64($0)...Int64($0)) })
    _ = await home.mailbox.append(copies(50, to: 1...1) + copies(50, to: 2...2, payload: "{}"))
    #expect(try payloadCount(home) == 0)
    #expect(try await payloads(home.mailbox, 1) == [Self.payload, Self.payload])
    #expect(try await payloads(home.mailbox, 2) == [Self.payload, "{}"])
  }

  @Test func `the copies of a push are told from what is between them`() {
    let pushes =
      copies(1, to: 1...2) + copies(2, to: 1...1) + copies(3, to: 1...3) + copies(4, to: 1...1) + copies(5, to: 1...1)
    var rows: [SQLiteMailbox.Writer.Row] = []
    for push in pushes {
      let entry = MailboxIndex.Entry(
        row: Int64(10 + rows.count), seq: 1, app: push.app, id: push.id, isSenderID: false, received: push.received,
        expires: push.expires, collapseID: "")
      rows.append((push, entry))
    }
    let parts = SQLiteMailbox.Writer.parts(of: rows)
    #expect(parts.map { $0.rows.count } == [2, 1, 3, 2])
    #expect(parts.map { $0.payload } == [10, nil, 13, nil])
    #expect(SQLiteMailbox.Writer.parts(of: []).isEmpty)
  }

  @Test(arguments: Way.allCases, [false, true])
  func `copies leave one by one, and the payload with the last`(_ way: Way, _ isSenderID: Bool) async throws {
    var home = try SQLiteHome()
    _ = await home.mailbox.append([samplePush(1, to: 99)] + copies(7, to: 1...40, isSenderID: isSenderID))
    try await leave(way, (2...40).map { DeviceID(row: $0) }, home.mailbox)
    for device: Int64 in [2, 40] { #expect(try await payloads(home.mailbox, device) == []) }
    #expect(try payloadCount(home) == 1)
    home = try home.reopened()
    #expect(try await payloads(home.mailbox, 1) == [Self.payload])
    try await leave(way, [1], home.mailbox)
    // The row of an acknowledged push is kept for a while, so that a retry is recognized.
    home.clock.advance(seconds: Int64(Limits.duplicateWindow) + 1)
    _ = await home.mailbox.append([samplePush(2, to: 99)])
    #expect(try payloadCount(home) == 0)
    #expect(try await home.store.emptyLog())
    let bytes = try Data(home.folder.read("push.sqlite"))
    #expect(bytes.range(of: Data(Self.words.utf8)) == nil)
    home.mailbox.close()
  }

  @Test func `a push that replaces another has its own payload, and the other's goes`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    _ = await home.mailbox.append(copies(7, to: 1...40, isSenderID: true, collapse: "a"))
    _ = await home.mailbox.append(copies(8, to: 1...39, isSenderID: true, collapse: "a", payload: #"{"n":8}"#))
    await home.mailbox.settle()
    #expect(try payloadCount(home) == 2)
    _ = await home.mailbox.append(copies(9, to: 40...40, isSenderID: true, collapse: "a"))
    await home.mailbox.settle()
    #expect(try payloadCount(home) == 1)
    for device: Int64 in [1, 39] { #expect(try await payloads(home.mailbox, device) == [#"{"n":8}"#]) }
    #expect(try await payloads(home.mailbox, 40) == [Self.payload])
  }

  @Test func `what expires together leaves no payload`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    for id in 1...5 { _ = await home.mailbox.append(copies(id, to: 1...40) + [samplePush(to: 50)]) }
    #expect(try payloadCount(home) == 5)
    home.clock.advance(seconds: 3601)
    home.mailbox.expire(now: home.clock.seconds)
    await home.mailbox.settle()
    #expect(try payloadCount(home) == 0)
  }

  @Test func `numbers of rows that were given out again after a start lead to their own payload`() async throws {
    var home = try SQLiteHome()
    _ = await home.mailbox.append(copies(7, to: 1...6))
    try await home.mailbox.purge([3, 4, 5, 6], app: nil)
    home = try home.reopened()
    defer { home.mailbox.close() }
    _ = await home.mailbox.append(copies(8, to: 3...5, payload: #"{"n":8}"#))
    #expect(try payloadCount(home) == 2)
    try await home.mailbox.purge([5], app: nil)
    #expect(try payloadCount(home) == 2)
    try await home.mailbox.purge([1, 2], app: nil)
    #expect(try number(home.store, "SELECT id FROM mailbox_payload") == 3)
    #expect(try await payloads(home.mailbox, 4) == [#"{"n":8}"#])
    try await home.mailbox.purge([3, 4], app: nil)
    #expect(try payloadCount(home) == 0)
  }

  @Test func `copies are there after a crash, and those that left are not`() async throws {
    let home = try SQLiteHome()
    _ = await home.mailbox.append(copies(7, to: 1...40))
    try await home.mailbox.purge([1, 2], app: nil)
    let copy = try home.crashed()
    defer { copy.mailbox.close() }
    #expect(try await payloads(copy.mailbox, 2) == [])
    for device: Int64 in [3, 40] { #expect(try await payloads(copy.mailbox, device) == [Self.payload]) }
  }

  // MARK: Backups

  @Test func `copies are in a backup, and in a gateway that was restored from it`() async throws {
    let (home, target) = (try SQLiteHome(), try TemporaryFolder())
    _ = await home.mailbox.append(copies(7, to: 1...40) + [samplePush(8)])
    let file = target.file("a.backup")
    #expect(try Backup.write(home.store, StateFolder(home.folder.path), to: file, now: Date()).waiting == 41)
    home.mailbox.close()
    let restored = StateFolder(target.file("state"))
    _ = try Backup.restore(file, into: restored)
    let mailbox = try SQLiteMailbox(
      store: try SQLiteStore(path: restored.databasePath), cap: 100, logger: .silent, now: { TestClock.start },
      removed: { _ in })
    defer { mailbox.close() }
    for device: Int64 in 2...40 { #expect(try await payloads(mailbox, device) == [Self.payload]) }
  }

  @Test func `a cluster takes over copies from a backup, and its replica has no payload of them`() async throws {
    let (home, target) = (try SQLiteHome(), try TemporaryFolder())
    defer { home.mailbox.close() }
    let registrations = try SQLiteRegistrations(store: home.store)
    let app = try await registrations.putApp(topic: "a.b", name: "News", icon: "N", policyMode: .enforce)
    for name in ["phone", "laptop"] { _ = try await registrations.enroll(name: name, person: "of-" + name) }
    #expect(app.id == 1)
    _ = await home.mailbox.append(copies(7, to: 1...2))
    #expect(try payloadCount(home) == 1)
    let file = target.file("a.backup")
    _ = try Backup.write(home.store, StateFolder(home.folder.path), to: file, now: Date())
    let backup = try RestoredBackup(file, draft: target.file("draft"))
    defer { backup.remove() }
    let pushes = try backup.pushes(after: 0, limit: 10, now: TestClock.start)
    #expect(pushes.map { String(decoding: $0.push.payload, as: UTF8.self) } == [Self.payload, Self.payload])
    let replica = try backup.makeReplica(of: "cell", position: 1, authority: [:])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: replica))
    #expect(bytes.range(of: Data(Self.words.utf8)) == nil)
  }

  // MARK: Damage

  /// Returns a folder with a closed database that has forty copies and three other pushes.
  private func closedDatabase() async throws -> TemporaryFolder {
    let (home, folder) = (try SQLiteHome(), try TemporaryFolder())
    _ = await home.mailbox.append([samplePush(1)] + copies(7, to: 1...40) + [samplePush(2), samplePush(3, to: 2)])
    home.mailbox.close()
    _ = try folder.write(home.folder.read("push.sqlite"), "push.sqlite")
    return folder
  }

  @Test func `a repair keeps copies and their payload`() async throws {
    let folder = try await closedDatabase()
    let bytes = try folder.read("push.sqlite")
    let path = try folder.write([UInt8](repeating: 0, count: 100) + bytes[100...], "push.sqlite")
    let report = try DatabaseRepair.repair(path: path, stamp: "now")
    #expect(report.kept["mailbox"] == 43 && report.kept["mailbox_payload"] == 1)
    #expect(throws: Never.self) { try StoredRows.check(path: path) }
    let home = try SQLiteHome(folder: folder)
    defer { home.mailbox.close() }
    for device: Int64 in 3...40 { #expect(try await payloads(home.mailbox, device) == [Self.payload]) }
    #expect(try await payloads(home.mailbox, 1).count == 3)
  }

  @Test(arguments: [
    ("UPDATE mailbox_payload SET payload = CAST('{}' AS BLOB)", 3, 0), ("DELETE FROM mailbox_payload", 3, 0),
    ("UPDATE mailbox_payload SET last = 'x'", 3, 0), ("UPDATE mailbox_payload SET last = id", 43, 1),
    ("UPDATE mailbox_payload SET last = -1", 3, 0), ("UPDATE mailbox SET payload = 1 WHERE payload = 2", 3, 0),
  ])
  func `a damaged payload of copies is found, and a repair keeps the other pushes`(
    _ sql: String, _ rows: Int, _ payloads: Int
  ) async throws {
    let folder = try await closedDatabase()
    let path = folder.file("push.sqlite")
    let queue = try DatabaseQueue(path: path)
    try await queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try queue.close()
    let error = #expect(throws: StoreError.self) { try StoredRows.check(path: path) }
    #expect(error?.isDamage == true)
    let report = try DatabaseRepair.repair(path: path, stamp: "now")
    #expect(report.kept["mailbox"] == rows)
    #expect(report.kept["mailbox_payload"] ?? 0 == payloads)
    #expect(throws: Never.self) { try StoredRows.check(path: path) }
  }

  @Test func `a copy without its payload is not delivered, and other pushes are`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    _ = await home.mailbox.append(copies(7, to: 1...2) + [samplePush(8)])
    try await home.store.pool.write { try $0.execute(sql: "DELETE FROM mailbox_payload") }
    #expect(try await payloads(home.mailbox, 1) == ["", #"{"aps":{"alert":"hello"}}"#])
    #expect(home.mailbox.problem?.problem.contains("is damaged") == true)
  }
}
