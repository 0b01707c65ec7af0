import Foundation
import GatewayProtocol
import Logging
import NATSClient
import PushCluster
import PushCore
import PushStorage

/// A gateway's part in a cell: what joins it to the others beside its backend.
final class Cell: Sendable {
  let identity: CellIdentity
  let peers: CellPeers
  private let log: CellLog
  private let files: SharedFiles
  private let transport: any EngineTransport

  init(
    _ identity: CellIdentity, peers: CellPeers, log: CellLog, files: SharedFiles, transport: any EngineTransport
  ) {
    (self.identity, self.peers, self.log, self.files) = (identity, peers, log, files)
    self.transport = transport
  }

  /// Makes the folder's authority that of the cell; the first gateway's becomes it.
  func shareAuthority(_ folder: StateFolder) async throws {
    try folder.adoptAuthority(try await files.propose(folder.authorityFiles))
    files.onChange { try? folder.adoptAuthority($0) }
  }

  /// Tells the others that the folder's authority has changed.
  func publishAuthority(_ folder: StateFolder) async throws { try await files.replace(folder.authorityFiles) }

  /// Has what other gateways change reach the streams of this one.
  func join(_ services: Services) throws {
    services.channels.follow(
      Channels.Follower(
        published: { services.liveChannels.publish($0) },
        changed: { devices in for device in devices { services.router.notify(device, .channels) } }))
    services.schedule.pushes.onAdoption { services.schedule.wake() }
    _ = try transport.subscribe(Cell.broadcasts, queue: nil) { [peers] message in
      guard message.header("Gateway") != peers.own.id,
        let broadcast = PassingMessages.broadcast(of: message)
      else { return }
      services.liveChannels.publish(broadcast)
    }
    try peers.start()
  }

  /// Says where devices reach this gateway.
  func announce(_ configuration: Configuration, _ listening: [String]) {
    peers.announce(configuration.advertised ?? listening)
  }

  /// Says that this gateway takes on nothing more.
  func leave() { peers.leave() }

  /// Hands a broadcast that is never stored to the streams of the other gateways.
  func broadcast(_ message: BroadcastMessage) {
    let (headers, body) = PassingMessages.message(of: message)
    transport.publish(Cell.broadcasts, headers: headers + [(name: "Gateway", value: peers.own.id)], body)
  }

  private static let broadcasts = "cell.broadcast"

  /// What can't be done now.
  var problem: HealthProblem? { log.problem }
}
