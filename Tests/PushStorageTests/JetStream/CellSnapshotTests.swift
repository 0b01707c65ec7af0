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

/// The initial state of a gateway that joins a cluster after the log has dropped its first entries.
@Suite(.timeLimit(.minutes(5)), .enabled(if: BrokerCluster.isAvailable, "no nats-server found: set NATS_SERVER"))
struct CellSnapshotTests {
  /// The number of times that a snapshot was due.
  private final class Due: Sendable {
    let count = Mutex(0)
  }

  private let folder: TemporaryFolder
  private let engine: JetStream
  private let snapshots: ClusterSnapshots
  private let cell: ClusterIdentity

  init() async throws {
    folder = try TemporaryFolder()
    engine = .patient(try await NATSConnection.connect(BrokerCluster.account()))
    snapshots = ClusterSnapshots(engine)
    cell = try await ClusterIdentity.find(engine, partitions: 1, replicas: 1)
    _ = try await engine.ensureStream(ClusterLog.configuration(replicas: 1))
    _ = try await engine.ensureStream(ClusterSnapshots.configuration(replicas: 1))
  }

  private func join(
    _ name: String, failed: @escaping @Sendable (StoreError) -> Void = { _ in },
    due: @escaping @Sendable () -> Void = {}
  ) async throws -> (store: SQLiteStore, log: ClusterLog) {
    let store = try await ClusterStore.open(folder.file(name), of: cell, engine: engine, durability: .normal)
    let log = ClusterLog(engine, store: store, snapshotInterval: 10, snapshotIsDue: due, failed: failed)
    try await log.start()
    store.replica.join(log)
    return (store, log)
  }

  private func addTeams(_ numbers: Range<Int>, _ store: SQLiteStore) async throws {
    for number in numbers {
      try await store.write { try $0.execute(sql: "INSERT INTO team VALUES (?)", arguments: ["T\(number)"]) }
    }
  }

  private func teams(_ store: SQLiteStore) throws -> Set<String> {
    try store.pool.read { try String.fetchSet($0, sql: "SELECT id FROM team") }
  }

  private func expected(_ count: Int) -> Set<String> { Set((0..<count).map { "T\($0)" }) }

  @Test func `a new gateway takes a snapshot, and the entries after it`() async throws {
    let due = Due()
    let (store, log) = try await join("one", due: { due.count.withLock { $0 += 1 } })
    defer { log.stop() }
    try await addTeams(0..<25, store)
    #expect(due.count.withLock { $0 } == 2)
    try await snapshots.write(store, in: folder.path)
    try await addTeams(25..<30, store)
    try await snapshots.write(store, in: folder.path)
    try await addTeams(30..<33, store)
    // The log no longer has the entries before the older of two snapshots.
    #expect(try await engine.streamInfo(ClusterLog.stream)?.state.firstSequence == 26)
    let (other, otherLog) = try await join("two")
    defer { otherLog.stop() }
    #expect(try teams(other) == expected(33))
    #expect(try await other.replicaPosition() == 33)
    // The new gateway has the same functions as the others.
    try await addTeams(33..<34, other)
    try await log.catchUp()
    #expect(try teams(store) == expected(34))
    #expect(!FileManager.default.fileExists(atPath: folder.file("cell-snapshot.sqlite")))
  }

  @Test func `what lacks its end, since its author was killed, is not read`() async throws {
    let (store, log) = try await join("one")
    defer { log.stop() }
    try await addTeams(0..<5, store)
    try await snapshots.write(store, in: folder.path)
    try await addTeams(5..<8, store)
    // The beginning of a second snapshot, as a gateway leaves it that is killed while it writes.
    for number in 0..<3 { _ = try await engine.publish("cell.snapshot.half.\(number)", Array("half".utf8)) }
    let (other, otherLog) = try await join("two")
    defer { otherLog.stop() }
    #expect(try teams(other) == expected(8))
    // The next snapshot is complete, in spite of that.
    try await snapshots.write(other, in: folder.path)
    let (third, thirdLog) = try await join("three")
    defer { thirdLog.stop() }
    #expect(try teams(third) == expected(8))
    #expect(try await third.replicaPosition() == 8)
  }

  @Test func `one that is not as it was written is refused in one line`() async throws {
    let (store, log) = try await join("one")
    defer { log.stop() }
    try await addTeams(0..<5, store)
    try await snapshots.write(store, in: folder.path)
    let first = try #require(try await engine.streamInfo(ClusterSnapshots.stream)?.state.firstSequence)
    try await engine.delete(ClusterSnapshots.stream, sequence: first)
    let error = await #expect(throws: StoreError.self) { try await join("two") }
    #expect(error?.description == "the cluster's snapshot is incomplete: try again")
    #expect(!FileManager.default.fileExists(atPath: folder.file("two")))
  }

  @Test func `a gateway that was away for longer than the log goes begins with a snapshot`() async throws {
    let (store, log) = try await join("one")
    defer { log.stop() }
    let (away, awayLog) = try await join("two")
    try await addTeams(0..<2, store)
    try await awayLog.catchUp()
    awayLog.stop()
    try away.close()
    for round in 1...3 {
      try await addTeams(round * 10..<round * 10 + 10, store)
      try await snapshots.write(store, in: folder.path)
    }
    let (back, backLog) = try await join("two")
    defer { backLog.stop() }
    #expect(try teams(back) == teams(store))
    #expect(try await back.replicaPosition() == 32)
  }
}
