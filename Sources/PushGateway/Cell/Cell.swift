import Foundation
import GatewayProtocol
import Logging
import NATSClient
import PushCluster
import PushCore
import PushStorage

/// A gateway's part in a cell: what joins it to the others beside its backend.
final class Cell: GatewayCell {
  let identity: CellIdentity
  let peers: CellPeers
  private let log: CellLog
  private let files: SharedFiles
  private let mailbox: JetStreamMailbox
  private let transport: any EngineTransport

  init(
    _ identity: CellIdentity, peers: CellPeers, log: CellLog, files: SharedFiles, mailbox: JetStreamMailbox,
    transport: any EngineTransport
  ) {
    (self.identity, self.peers, self.log, self.files) = (identity, peers, log, files)
    (self.mailbox, self.transport) = (mailbox, transport)
  }

  /// Makes the folder's authority that of the cell; the first gateway's becomes it.
  func shareAuthority(_ folder: StateFolder) async throws {
    try folder.adoptAuthority(try await files.propose(folder.authorityFiles))
    files.onChange { try? folder.adoptAuthority($0) }
  }

  func publishAuthority(_ folder: StateFolder) async throws { try await files.replace(folder.authorityFiles) }

  func save(_ store: SQLiteStore, _ folder: StateFolder, to path: String) async throws -> Backup.Summary {
    // What others have shared before this was asked for is in it.
    try await log.catchUp()
    return try await Backup.write(store, folder, to: path, now: Date(), waiting: mailbox.save)
  }

  func join(channels: Channels, liveChannels: LiveChannels, router: any PushRouter, schedule: Schedule) throws {
    channels.follow(
      Channels.Follower(
        published: { liveChannels.publish($0) },
        changed: { devices in for device in devices { router.notify(device, .channels) } }))
    schedule.pushes.onAdoption { schedule.wake() }
    _ = try transport.subscribe(Cell.broadcasts, queue: nil) { [peers] message in
      guard message.header("Gateway") != peers.own.id,
        let broadcast = PassingMessages.broadcast(of: message)
      else { return }
      liveChannels.publish(broadcast)
    }
    try peers.start()
  }

  func announce(_ addresses: [String]) { peers.announce(addresses) }

  func leave() { peers.leave() }

  func broadcast(_ message: BroadcastMessage) {
    let (headers, body) = PassingMessages.message(of: message)
    transport.publish(Cell.broadcasts, headers: headers + [(name: "Gateway", value: peers.own.id)], body)
  }

  private static let broadcasts = "cell.broadcast"

  /// What can't be done now.
  var problem: HealthProblem? { log.problem }
}
