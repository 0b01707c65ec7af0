import Foundation
import NATSClient
import NATSTesting
import PushTesting

@testable import PushCluster
@testable import PushCore
@testable import PushStorage

/// The shared data of the gateways other than mailboxes, in replicas with all devices of the simulation.
final class ScaleReplica: Sendable {
  /// The replica of one gateway.
  private final class Member: Sendable {
    let store: SQLiteStore
    let log: ClusterLog
    let registrations: SQLiteRegistrations
    let channels: Channels

    init(_ store: SQLiteStore, _ log: ClusterLog) throws {
      (self.store, self.log) = (store, log)
      registrations = try SQLiteRegistrations(store: store)
      channels = try Channels(store: store, logger: .silent)
    }
  }

  /// The measurements of the replicas.
  struct Results: Sendable {
    /// The size of a snapshot in bytes.
    var snapshotSize = 0
    /// The costs of storing a snapshot, of applying it to a new replica and of loading it into memory.
    var stored = Measurement(count: 0)
    var taken = Measurement(count: 0)
    var loaded = Measurement(count: 0)
    /// Registrations through the log: the cost at the registering gateway and at a follower together.
    var registered = Measurement(count: 0)
    /// One broadcast to all subscribers, and its acknowledgements.
    var published = Measurement(count: 0)
    var acknowledged = Measurement(count: 0)
    /// The follower's share of the time of an acknowledgement, in seconds per acknowledgement.
    var acknowledgementsTaken = Measurement(count: 0)
  }

  private let size: ScaleSize
  private let cluster: ScaleCluster
  private let folder: TemporaryFolder
  private let identity: ClusterIdentity
  private static let topic = "com.example.scale"

  init(_ cluster: ScaleCluster) async throws {
    (self.cluster, size, folder) = (cluster, cluster.size, try TemporaryFolder())
    let engine = JetStream(cluster.gateways[0].link)
    identity = try await ClusterIdentity.find(engine, partitions: size.partitions, replicas: 3)
    _ = try await engine.ensureStream(ClusterLog.configuration(replicas: 3))
    _ = try await engine.ensureStream(ClusterSnapshots.configuration(replicas: 3))
  }

  func run() async throws -> Results {
    var results = Results()
    let first = try await fill(&results)
    let second = try await take(&results)
    try await register(first, second, &results)
    try await broadcast(first, second, &results)
    for member in [first, second] {
      member.log.stop()
      try member.store.close()
    }
    return results
  }

  // MARK: Snapshots

  /// Returns a replica with all devices, and stores a snapshot of it, as a restore does.
  private func fill(_ results: inout Results) async throws -> Member {
    let engine = JetStream(cluster.gateways[0].link)
    let store = try await ClusterStore.open(folder.file("first"), of: identity, engine: engine, durability: .normal)
    let registrations = try SQLiteRegistrations(store: store)
    _ = try await registrations.putApp(
      topic: Self.topic, name: "Scale", icon: "S", policyMode: .report, isStrict: false, ads: .standard, team: nil)
    for start in stride(from: 0, to: size.devices, by: 50_000) {
      _ = try await registrations.enroll(
        batch: "scale", numbers: start..<min(start + 50_000, size.devices), topic: Self.topic, environment: .production)
    }
    let path = folder.file("copy")
    results.stored = try await cluster.measure(1) {
      let position = try await store.copyReplica(to: path)
      try await ClusterSnapshots(engine).write(path, position: position, schema: store.schema.version)
    }
    results.snapshotSize = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    try FileManager.default.removeItem(atPath: path)
    return try await join(store, cluster.gateways[0])
  }

  private func join(_ store: SQLiteStore, _ gateway: ScaleGateway) async throws -> Member {
    let log = ClusterLog(JetStream(gateway.link), store: store, snapshotIsDue: {}, failed: { _ in })
    try await log.start()
    store.replica.join(log)
    return try Member(store, log)
  }

  /// Returns the replica of a gateway that joins the cluster.
  private func take(_ results: inout Results) async throws -> Member {
    let gateway = cluster.gateways[1]
    var store: SQLiteStore?
    results.taken = try await cluster.measure(1) {
      store = try await ClusterStore.open(
        folder.file("second"), of: identity, engine: JetStream(gateway.link), durability: .normal)
    }
    guard let store else { preconditionFailure("it was opened") }
    var member: Member?
    results.loaded = try await cluster.measure(1) { member = try await join(store, gateway) }
    guard let member else { preconditionFailure("it has joined") }
    return member
  }

  // MARK: The log

  private func register(_ one: Member, _ other: Member, _ results: inout Results) async throws {
    results.registered = try await cluster.measure(size.changes) {
      for number in 1...size.changes {
        let device = DeviceID(row: Int64(number))
        _ = try await one.registrations.register(
          device, topic: Self.topic, environment: .development, expires: nil, now: TestClock.start * 1000)
      }
      try await other.log.catchUp()
    }
  }

  private func broadcast(_ one: Member, _ other: Member, _ results: inout Results) async throws {
    let app = try one.registrations.app(topic: Self.topic).id
    let made = try await one.channels.create(
      app: app, environment: .production, policy: .mostRecentMessage, now: TestClock.start * 1000)
    guard let channel = made.first else { preconditionFailure("a channel was made") }
    let share = size.devices(of: 0)
    for start in stride(from: share.lowerBound, to: share.upperBound, by: 1_000) {
      let some = (start..<min(start + 1_000, share.upperBound)).map { DeviceID(row: Int64($0 + 1)) }
      try await one.channels.subscribe(some, to: channel)
    }
    try await other.log.catchUp()
    results.published = try await cluster.measure(1) {
      try await one.channels.publish(Self.message(channel, app)) { _ in }
      try await other.log.catchUp()
    }
    other.log.stop()
    results.acknowledged = await cluster.measure(share.count) {
      for index in share { _ = one.channels.acknowledge(DeviceID(row: Int64(index + 1)), channel, through: 1) }
      await one.channels.settle()
    }
    let again = ClusterLog(
      JetStream(cluster.gateways[1].link), store: other.store, snapshotIsDue: {}, failed: { _ in })
    results.acknowledgementsTaken = try await cluster.measure(share.count) { try await again.start() }
    again.stop()
  }

  static func message(_ channel: ChannelID, _ app: AppID) -> BroadcastMessage {
    BroadcastMessage(
      channel: channel, app: app, number: 0, id: .number(1), uniqueID: .number(2), received: TestClock.start * 1000,
      expires: TestClock.start + 3600, priority: 10, payload: Array(#"{"aps":{"alert":"to all"}}"#.utf8))
  }
}
