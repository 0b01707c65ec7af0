import NATSClient
import NIOCore
import PushTesting

@testable import PushCluster
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The part of a gateway's cluster interface that asks other gateways which devices are connected.
private final class PresenceCluster: Cluster {
  private let peers: Membership

  init(_ peers: Membership) { self.peers = peers }

  var gateway: ClusterMember { ClusterMember(id: peers.own.id, process: peers.own.id, name: peers.own.id) }

  /// All other gateways: none has left, however late a busy machine delivers its announcements.
  var others: [ClusterMember] {
    peers.others.map { ClusterMember(id: $0.peer.id, process: $0.peer.id, name: $0.peer.id) }
  }

  let isNew = false

  func answer(_ name: String, _ body: @escaping @Sendable (_ question: [UInt8]) async -> [UInt8]) throws {
    try peers.answer(name, body)
  }

  func ask(_ gateway: ClusterMember, _ name: String, _ question: [UInt8], within time: Duration) async -> [UInt8]? {
    // The answers are counted: the timeout is long enough for a busy machine.
    await peers.ask(gateway.id, name, question, within: .seconds(60))
  }

  func subscribe(_ name: String, _ body: @escaping @Sendable (_ message: [UInt8]) -> Void) throws {}
  func publish(_ name: String, _ message: [UInt8]) {}
  func join(channels: Channels, liveChannels: LiveChannels, router: any PushRouter, schedule: Schedule) throws {}
  func announce(_ addresses: [String]) {}
  func leave() {}
  func broadcast(_ message: BroadcastMessage) {}
  func publishAuthority(_ folder: StateFolder) async throws {}
  func save(_ store: SQLiteStore, _ folder: StateFolder, to path: String) async throws -> Backup.Summary {
    throw StoreError("nothing is saved here")
  }
}

extension ScaleCluster {
  private func presence(_ gateway: ScaleGateway) -> ClusterPresence {
    ClusterPresence(
      router: gateway.router, conditions: DeviceConditions(), liveChannels: gateway.channels, mailbox: gateway.mailbox,
      cluster: PresenceCluster(gateway.peers))
  }

  /// Announces the gateways to each other. Returns when each gateway has the announcements of all others.
  func meet() async throws {
    for gateway in gateways {
      let cluster = PresenceCluster(gateway.peers)
      try presence(gateway).join(cluster)
      try gateway.peers.start()
    }
    while gateways.contains(where: { $0.peers.others.count < gateways.count - 1 }) { await settle() }
  }

  /// Announces each gateway once, as happens every second.
  func announceAll() async -> Measurement {
    await measure(1) {
      for (number, gateway) in gateways.enumerated() { gateway.peers.announce(["gateway-\(number):1"]) }
    }
  }

  /// Lists devices with their presence, as one user does.
  func list(_ count: Int) async -> (found: Int, Measurement) {
    let asked = devices.prefix(count).map(\.id)
    let presence = presence(gateways[0])
    var found = 0
    let measured = await measure(count) {
      found = await presence.of(asked).count { $0.streams == 1 }
    }
    return (found, measured)
  }

  /// Sends a broadcast to every open stream.
  func broadcast() async throws -> Measurement {
    let channel = ChannelID.random()
    await withCheckedContinuation { continuation in
      loop.execute { [self] in
        for (number, gateway) in gateways.enumerated() {
          for index in size.devices(of: number) {
            gateway.channels.join(channel, UInt64(index), devices[index], loop: loop)
          }
        }
        continuation.resume()
      }
    }
    for gateway in gateways {
      try gateway.peers.subscribe("broadcast") { message in
        if let broadcast = EphemeralMessages.broadcast(of: message) { gateway.channels.publish(broadcast) }
      }
    }
    let (headers, body) = EphemeralMessages.message(of: ScaleReplica.message(channel, 1))
    return await measure(size.devices) {
      gateways[0].peers.publish("broadcast", headers: headers, body)
      if let own = EphemeralMessages.broadcast(of: .init(subject: "", headers: headers, body: body)) {
        gateways[0].channels.publish(own)
      }
      await tallies.broadcasts.reach(size.devices)
    }
  }
}
