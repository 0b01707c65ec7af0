import Foundation
import GRDB
import NATSClient
import NATSTesting
import PushTesting
import Synchronization
import Testing

@testable import PushCluster
@testable import PushCore
@testable import PushStorage

/// Gateways of an earlier and a later version in one cluster, as during a rolling upgrade.
@Suite(.timeLimit(.minutes(5))) struct CellVersionsTests {
  /// A possible schema of the next version: another column and another table.
  private static let later = {
    var migrator = Schema.migrator
    migrator.registerMigration("later") { db in
      try db.execute(
        sql: "ALTER TABLE team ADD COLUMN color TEXT; CREATE TABLE hat (id INTEGER PRIMARY KEY, size TEXT)")
    }
    return StoreSchema(migrator: migrator)
  }()

  private let folder: TemporaryFolder
  private let engine: JetStream
  private let snapshots: ClusterSnapshots
  private let cell: ClusterIdentity
  private let met = Met()

  private final class Met: Sendable { let schemas = Mutex<[Int]>([]) }

  init() async throws {
    folder = try TemporaryFolder()
    engine = .patient(ModelEngine().connect())
    snapshots = ClusterSnapshots(engine)
    cell = try await ClusterIdentity.find(engine, partitions: 1, replicas: 1)
    _ = try await engine.ensureStream(ClusterLog.configuration(replicas: 1))
    _ = try await engine.ensureStream(ClusterSnapshots.configuration(replicas: 1))
  }

  private typealias Gateway = (store: SQLiteStore, log: ClusterLog)

  private func join(_ name: String, _ schema: StoreSchema = .current) async throws -> Gateway {
    let store = try await ClusterStore.open(
      folder.file(name), of: cell, engine: engine, durability: .normal, schema: schema)
    let log = ClusterLog(
      engine, store: store, snapshotIsDue: {}, failed: { _ in },
      metLater: { [met] schema in met.schemas.withLock { $0.append(schema) } })
    try await log.start()
    store.replica.join(log)
    return (store, log)
  }

  private func leave(_ gateway: Gateway) throws {
    gateway.log.stop()
    try gateway.store.close()
  }

  private func run(_ sql: String, _ gateway: Gateway) async throws {
    try await gateway.store.write { try $0.execute(sql: sql) }
  }

  private func text(_ sql: String, _ gateway: Gateway) async throws -> [String] {
    try await gateway.log.catchUp()
    return try await gateway.store.pool.read { try String.fetchAll($0, sql: sql) }
  }

  private let teams = "SELECT id || coalesce(' ' || color, '') FROM team ORDER BY id"

  @Test func `what a later version adds to a message is passed over`() throws {
    let entry =
      #"{"schema":99,"by":"x","changes":[{"table":"team","kind":"insert","key":{"id":"T"},"values":{},"why":1}]}"#
    let change = RowChange(table: "team", kind: .insert, key: ["id": .text("T")])
    #expect(try ChangeSet(encoded: Array(entry.utf8)) == ChangeSet(schema: 99, changes: [change]))
    let peer = #"{"id":"a","addresses":["h:1"],"version":"9.0","schema":99,"isLeaving":false,"load":0.5}"#
    let known = try decodeJSON(Membership.Peer.self, from: Array(peer.utf8))
    #expect(known == Membership.Peer(id: "a", addresses: ["h:1"], version: "9.0", schema: 99))
  }

  @Test func `each takes over what it knows of what the other changes`() async throws {
    let (old, new) = (try await join("old"), try await join("new", Self.later))
    try await run("INSERT INTO team VALUES ('T1')", old)
    try await run("INSERT INTO team VALUES ('T2', 'red'); INSERT INTO hat VALUES (1, 'L')", new)
    try await run("UPDATE team SET color = 'blue' WHERE id = 'T1'; DELETE FROM hat", new)
    #expect(try await text("SELECT id FROM team ORDER BY id", old) == ["T1", "T2"])
    try await run("DELETE FROM team WHERE id = 'T2'", old)
    #expect(try await text(teams, new) == ["T1 blue"])
    #expect(try await text("SELECT id FROM team", old) == ["T1"])
    #expect(met.schemas.withLock { $0 } == [Self.later.version])
  }

  @Test func `one that is upgraded has what its earlier version left out`() async throws {
    let (old, new) = (try await join("old"), try await join("new", Self.later))
    try await run("INSERT INTO team VALUES ('T1', 'red'); INSERT INTO hat VALUES (1, 'L')", new)
    #expect(try await text("SELECT id FROM team", old) == ["T1"])
    try leave(old)
    let upgraded = try await join("old", Self.later)
    #expect(try await text(teams, upgraded) == ["T1 red"])
    #expect(try await text("SELECT size FROM hat", upgraded) == ["L"])
    try await run("UPDATE hat SET size = 'S'", upgraded)
    #expect(try await text("SELECT size FROM hat", new) == ["S"])
    #expect(try await upgraded.store.replicaPosition() == new.store.replicaPosition())
  }

  @Test func `one that has left out nothing keeps its replica when it is upgraded`() async throws {
    let old = try await join("old")
    try await run("INSERT INTO team VALUES ('T1')", old)
    // A table that only this replica has.
    try await old.store.pool.write { try $0.execute(sql: "CREATE TABLE grdb_mark (id)") }
    try leave(old)
    let upgraded = try await join("old", Self.later)
    #expect(try await upgraded.store.pool.read { try $0.tableExists("grdb_mark") })
    #expect(try await text(teams, upgraded) == ["T1"])
  }

  @Test func `one that has left something out makes no snapshot and no backup`() async throws {
    let (old, new) = (try await join("old"), try await join("new", Self.later))
    try await run("INSERT INTO team VALUES ('T1', 'red')", new)
    try await old.log.catchUp()
    try await snapshots.write(old.store, in: folder.path)
    #expect(try await !snapshots.isThere(for: .current))
    let state = StateFolder(folder.file("state"))
    try FileManager.default.createDirectory(atPath: state.path, withIntermediateDirectories: true)
    let error = await #expect(throws: StoreError.self) {
      try await Backup.write(old.store, state, to: folder.file("backup"), now: Date()) { _ in }
    }
    #expect(error?.description.contains("a newer version") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.file("backup")))
    try await snapshots.write(new.store, in: folder.path)
    #expect(try await snapshots.isThere(for: Self.later))
  }

  @Test func `an earlier version that comes new to a later one's snapshot is refused, and changes nothing`()
    async throws
  {
    let new = try await join("new", Self.later)
    try await run("INSERT INTO team VALUES ('T1', 'red')", new)
    try await snapshots.write(new.store, in: folder.path)
    let error = await #expect(throws: StoreError.self) { try await join("old") }
    #expect(error?.description.hasPrefix("this cluster was upgraded to a newer version") == true)
    #expect(try ReplicaFile(folder.file("old")) == nil)
    // An earlier version refuses the replica of a later one, and does not delete it.
    try leave(new)
    await #expect(throws: StoreError.self) { try await join("new") }
    #expect(try await text(teams, try await join("new", Self.later)) == ["T1 red"])
  }

  @Test func `an earlier version goes back to what the cell has, as long as there is no later snapshot`() async throws {
    let old = try await join("old")
    try await run("INSERT INTO team VALUES ('T1')", old)
    try await snapshots.write(old.store, in: folder.path)
    try leave(old)
    let upgraded = try await join("old", Self.later)
    try await run("INSERT INTO team VALUES ('T2', 'red')", upgraded)
    try leave(upgraded)
    #expect(try await text("SELECT id FROM team ORDER BY id", try await join("old")) == ["T1", "T2"])
  }
}
