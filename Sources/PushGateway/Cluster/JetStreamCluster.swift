import Foundation
import GatewayProtocol
import NATSClient
import PushCluster
import PushCore
import PushStorage

/// A gateway's membership in a cluster: its connections to the other gateways, apart from the storage backend.
final class JetStreamCluster: Cluster {
  let peers: Membership
  private let log: ClusterLog
  private let files: SharedFiles
  private let mailbox: JetStreamMailbox
  private let began = ContinuousClock.now
  /// A gateway that restarts at the same time as this one announces itself within this time.
  private static let newTime = Duration.seconds(60)

  var isNew: Bool { .now - began < JetStreamCluster.newTime }

  init(peers: Membership, log: ClusterLog, files: SharedFiles, mailbox: JetStreamMailbox) {
    (self.peers, self.log, self.files, self.mailbox) = (peers, log, files, mailbox)
  }

  func publishAuthority(_ folder: StateFolder) async throws { try await files.replace(folder.authorityFiles) }

  func save(_ store: SQLiteStore, _ folder: StateFolder, to path: String) async throws -> Backup.Summary {
    // The backup includes all changes that other gateways shared before this call.
    try await log.catchUp()
    return try await Backup.write(store, folder, to: path, now: Date(), waiting: mailbox.save)
  }

  func join(channels: Channels, liveChannels: LiveChannels, router: any PushRouter, schedule: Schedule) throws {
    channels.follow(
      published: { liveChannels.publish($0) },
      changed: { devices in for device in devices { router.notify(device, .channels) } })
    schedule.pushes.onAdoption { schedule.wake() }
    try peers.subscribe(JetStreamCluster.broadcasts) { message in
      if let broadcast = EphemeralMessages.broadcast(of: message) { liveChannels.publish(broadcast) }
    }
    try peers.start()
  }

  func announce(_ addresses: [String]) { peers.announce(addresses) }

  func leave() { peers.leave() }

  func broadcast(_ message: BroadcastMessage) {
    let (headers, body) = EphemeralMessages.message(of: message)
    peers.publish(JetStreamCluster.broadcasts, headers: headers, body)
  }

  private static let broadcasts = "broadcast"

  /// The current problem of the shared log; nil if there is none.
  var problem: HealthProblem? { log.problem }

  // MARK: The other gateways

  var gateway: ClusterMember { ClusterMember(peers.own, isPresent: true) }

  var others: [ClusterMember] { peers.others.map { ClusterMember($0.peer, isPresent: $0.isPresent) } }

  /// The addresses of other gateways for devices, reachable ones first. A gateway that is leaving is left out until
  /// it is gone.
  var addresses: [GatewayAddress] {
    var seen: Set<String> = []
    return peers.others.filter { !$0.isPresent || !$0.peer.isLeaving }.flatMap(\.peer.addresses)
      .filter { seen.insert($0).inserted }.prefix(Limits.maximumGateways).compactMap(GatewayAddress.init(line:))
  }

  func answer(_ name: String, _ body: @escaping @Sendable (_ question: [UInt8]) async -> [UInt8]) throws {
    try peers.answer(name, body)
  }

  func ask(
    _ gateway: ClusterMember, _ name: String, _ question: [UInt8], within time: Duration
  ) async -> [UInt8]? {
    guard let process = gateway.process else { return nil }
    return await peers.ask(process, name, question, within: time)
  }

  func subscribe(_ name: String, _ body: @escaping @Sendable (_ message: [UInt8]) -> Void) throws {
    try peers.subscribe(name) { body($0.body) }
  }

  func publish(_ name: String, _ message: [UInt8]) { peers.publish(name, message) }
}

extension ClusterMember {
  fileprivate init(_ peer: Membership.Peer, isPresent: Bool) {
    self.init(
      id: peer.folder ?? peer.id, process: isPresent ? peer.id : nil,
      name: peer.addresses.first ?? peer.folder ?? peer.id)
  }
}
