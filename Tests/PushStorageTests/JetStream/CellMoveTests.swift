import Foundation
import GRDB
import NATSClient
import NATSTesting
import PushTesting
import Testing

@testable import PushCluster
@testable import PushCore
@testable import PushStorage

/// The move of a single gateway's data into a cluster, and back.
@Suite(.timeLimit(.minutes(5)), .enabled(if: BrokerCluster.isAvailable, "no nats-server found: set NATS_SERVER"))
struct CellMoveTests {
  private let folder: TemporaryFolder
  private let engine: JetStream
  private let clock = TestClock()
  private let home: SQLiteHome
  private let (phone, tablet): (DeviceID, DeviceID)
  private let app: AppID

  init() async throws {
    folder = try TemporaryFolder()
    engine = .patient(try await NATSConnection.connect(BrokerCluster.account()))
    home = try SQLiteHome(clock: clock, cap: 5)
    let registrations = try SQLiteRegistrations(store: home.store)
    app = try await registrations.putApp(topic: "a.b", name: "News", icon: "N", policyMode: .enforce).id
    phone = try await registrations.enroll(name: "phone", person: "ada").device.id
    tablet = try await registrations.enroll(name: "tablet", person: "ada").device.id
    for device in [phone, tablet] {
      _ = try await registrations.register(device, topic: "a.b", environment: .development)
    }
  }

  private func push(_ id: Int, to device: DeviceID, collapse: String = "") -> StoredPush {
    samplePush(id, to: device, app: app, collapse: collapse, at: TestClock.start + Int64(id) / 100)
  }

  /// Returns the path of a backup of the single gateway.
  private func backup() throws -> String {
    let path = folder.file("alone.backup")
    _ = try home.folder.write(Array("authority".utf8), "ca.pem")
    _ = try Backup.write(home.store, StateFolder(home.folder.path), to: path, now: Date())
    return path
  }

  private func fill(from path: String, timeout: Duration = .seconds(300)) async throws {
    let backup = try RestoredBackup(path, draft: folder.file("draft"))
    defer { backup.remove() }
    try await ClusterRestore(engine, logger: .silent, timeout: timeout, now: { [clock] in clock.seconds })
      .fill(from: backup, partitions: 2, replicas: 1) {
        try backup.writeFiles(into: StateFolder(folder.file("first")))
        return ["ca.pem": Array("authority".utf8)]
      }
  }

  private func mailbox() async throws -> JetStreamMailbox {
    let mailbox = JetStreamMailbox(
      engine, partitions: 2, replicas: 1, cap: 1000, logger: .silent, now: { [clock] in clock.seconds },
      removed: { _ in })
    try await mailbox.start()
    return mailbox
  }

  /// Opens the store of a gateway of the cluster, as a start does.
  private func replica(_ name: String = "replica") async throws -> SQLiteStore {
    try await ClusterStore.open(
      folder.file(name), of: try await ClusterIdentity.find(engine), engine: engine, durability: .normal)
  }

  /// Returns all shared rows that a move does not change, as text.
  private func rows(_ store: SQLiteStore) throws -> [String] {
    try store.pool.read { db in
      try Schema.tables(db).filter { Schema.isShared($0) && !["cell_file", "digest", "held"].contains($0) }.sorted()
        .flatMap { table in
          try Row.fetchAll(db, sql: "SELECT * FROM \"\(table)\"").map { "\(table) \($0)" }.sorted()
        }
    }
  }

  private func names(_ pending: PendingPushes) -> [String] {
    pending.entries.map { "\($0.push.id) \($0.push.received) \($0.push.expires) \($0.push.collapseID)" }
  }

  @Test func `all of it moves, what waits once and in its order`() async throws {
    // The limit drops two pushes. Of those with the same collapse id one stays.
    _ = await home.mailbox.append((101...106).map { push($0, to: phone) })
    _ = await home.mailbox.append([
      push(201, to: phone, collapse: "é"), push(202, to: phone, collapse: "é"), push(301, to: tablet),
      push(401, to: 77),
    ])
    home.mailbox.acknowledge(tablet, through: 1)
    await home.mailbox.settle()
    let before = try await home.mailbox.pending(for: phone, after: 0, limit: .max)
    #expect(before.gap?.dropped == 2 && before.entries.count == 5)
    let told = before.entries[1].seq
    try await home.store.pool.write { [phone, app] db in
      try db.execute(sql: "INSERT INTO digest VALUES (?, ?)", arguments: [phone.row, Int64(told)])
      try db.execute(
        sql: "INSERT INTO held VALUES (?, ?, ?, ?, 'quiet', 1, 2, 0.5, NULL, NULL, '', 'title')",
        arguments: [phone.row, Data(before.entries[2].push.id.stored), Int64(told + 1), app.row])
    }
    let alone = try rows(home.store)
    try await fill(from: try backup())
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["alone.backup", "first"])
    #expect(FileManager.default.contents(atPath: folder.file("first/ca.pem")) == Data("authority".utf8))

    let (store, cell) = (try await replica(), try await mailbox())
    #expect(try rows(store) == alone)
    #expect(try await SharedFiles(store).all() == ["ca.pem": Array("authority".utf8)])
    let waiting = try await cell.pending(for: phone, after: 0, limit: .max)
    #expect(names(waiting) == names(before))
    #expect(waiting.gap?.dropped == 2)
    #expect(try await cell.waiting(tablet) == [])
    #expect(try await cell.waiting(77) == [])
    let numbers = try await store.pool.read { db in
      (try Int64.fetchOne(db, sql: "SELECT seq FROM digest"), try Int64.fetchOne(db, sql: "SELECT seq FROM held"))
    }
    #expect(numbers.0 == Int64(waiting.entries[1].seq) && numbers.1 == Int64(waiting.entries[2].seq))

    // The move back to a single gateway.
    let seq = try #require(await cell.append([push(501, to: tablet)]).first?.seq)
    cell.acknowledge(phone, through: waiting.entries[0].seq)
    _ = try await cell.pending(for: phone, after: 0, limit: 1)
    let out = folder.file("cell.backup")
    let summary = try await Backup.write(
      store, StateFolder(folder.file("first")), to: out, now: Date(), waiting: cell.save)
    #expect(summary.devices == 2 && summary.files == 1)
    let restored = StateFolder(folder.file("alone"))
    _ = try Backup.restore(out, into: restored)
    let last = try SQLiteStore(path: restored.databasePath)
    #expect(try rows(last) == alone)
    #expect(try ReplicaFile(last.path) == nil)
    #expect(try await SharedFiles(last).all().isEmpty)
    let home = try SQLiteMailbox(
      store: last, cap: 100, logger: .silent, now: { [clock] in clock.seconds }, removed: { _ in })
    defer { home.close() }
    let again = try await home.pending(for: phone, after: 0, limit: .max)
    // A stream may still return a push that was acknowledged just before.
    #expect(names(again).suffix(4) == names(before).suffix(4))
    // A device that was not connected in the meantime sends a cursor of the first gateway. It is below all new sequence
    // numbers.
    #expect(try await home.waiting(tablet, after: 7) == [seq])
    let next = try #require(await home.append([push(601, to: tablet)]).first?.seq)
    #expect(next > seq && (again.entries.last?.seq).map { next > $0 } == true)
  }

  @Test func `what is no whole backup is refused in one line, and leaves nothing`() async throws {
    _ = await home.mailbox.append((1...5).map { push($0, to: phone) })
    await home.mailbox.settle()
    let good = Array(try #require(FileManager.default.contents(atPath: try backup())))
    var files = [[], Array("words".utf8), Array(good.prefix(good.count / 2)), Array(good.dropLast(4096))]
    var noise = good
    for place in stride(from: 100, to: noise.count, by: 97) { noise[place] ^= 0x55 }
    files.append(noise)
    for (number, bytes) in files.enumerated() {
      let path = try folder.write(bytes, "broken-\(number)")
      let error = await #expect(throws: StoreError.self) { try await fill(from: path) }
      #expect(error?.description.contains(path) == true && error?.description.contains("\n") == false)
    }
    for sql in [
      "CREATE TRIGGER t AFTER DELETE ON mailbox BEGIN DELETE FROM device; END",
      "INSERT INTO replica (id, cell, position) VALUES (1, 'cell', 5)", "DROP TABLE mailbox_state",
      "UPDATE mailbox SET received = -1",
      "DROP TABLE mailbox; CREATE VIEW mailbox AS SELECT 1 AS id",
    ] {
      let path = try folder.write(good, "hostile")
      let queue = try DatabaseQueue(path: path)
      try await queue.write { try $0.execute(sql: sql) }
      try queue.close()
      let error = await #expect(throws: StoreError.self, "\(sql)") { try await fill(from: path) }
      #expect(error?.description.contains("\n") == false)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("draft")))
    #expect(try await engine.streamInfo("CELL_ABOUT") == nil)
    #expect(try await engine.streamInfo("CELL") == nil)
  }

  @Test func `a push that the brokers refuse leaves them without a cell`() async throws {
    _ = await home.mailbox.append((1...3).map { push($0, to: phone) })
    await home.mailbox.settle()
    let path = try backup()
    let queue = try DatabaseQueue(path: path)
    try await queue.write { db in
      try db.execute(sql: "UPDATE mailbox SET payload = zeroblob(3000000), checksum = NULL WHERE seq = 2")
    }
    try queue.close()
    let error = await #expect(throws: StoreError.self) { try await fill(from: path, timeout: .seconds(1)) }
    #expect(error?.description.contains("was not stored") == true)
    for stream in ["CELL_ABOUT", "CELL", "CELL_SNAPSHOTS", "MB_000", "MB_001"] {
      #expect(try await engine.streamInfo(stream) == nil, "\(stream)")
    }
    try await fill(from: try backup())
    #expect(try await mailbox().pending(for: phone, after: 0, limit: .max).entries.count == 3)
  }

  @Test func `messages of other programs do not hide what a cell is`() async throws {
    let cell = try await ClusterIdentity.find(engine, partitions: 2, replicas: 1)
    for body in ["{", "{}", #"{"id":"x","partitions":0,"replicas":9}"#] {
      _ = try await engine.publish("cell.about", Array(body.utf8))
    }
    #expect(try await ClusterIdentity.find(engine, partitions: 3, replicas: 1) == cell)
    #expect(try await ClusterIdentity.find(engine) == cell)
  }

  @Test func `no gateway begins with half of a cell, and the next attempt fills it anew`() async throws {
    _ = await home.mailbox.append((1...3).map { push($0, to: phone) })
    await home.mailbox.settle()
    let path = try backup()
    // A restore that was killed after it had stored a push.
    _ = try await ClusterIdentity.beginFilling(engine, partitions: 2, replicas: 1)
    _ = await (try await mailbox()).append([push(9, to: phone)])
    let half = await #expect(throws: StoreError.self) {
      try await ClusterIdentity.find(engine, partitions: 2, replicas: 1)
    }
    #expect(half?.description.contains("is being restored into this cluster") == true)
    // While a restore runs, a second one fails.
    let answering = try ClusterIdentity.announceFilling(engine)
    let busy = await #expect(throws: StoreError.self) { try await fill(from: path) }
    #expect(busy?.description.contains("another restore into this cluster is running") == true)
    answering()
    try await fill(from: path)
    #expect(
      try await mailbox().pending(for: phone, after: 0, limit: .max).entries.map(\.push.id)
        == [1, 2, 3].map(APNSID.number))
    let again = await #expect(throws: StoreError.self) { try await fill(from: path) }
    #expect(again?.description.contains("have a cluster's data already") == true)
    #expect(try await mailbox().waiting(phone).count == 3)
  }
}
