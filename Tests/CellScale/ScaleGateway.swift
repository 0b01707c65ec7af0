import NATSClient
import NATSTesting
import PushTesting

@testable import PushCluster
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// A gateway of a cluster without its HTTP layer: link, mailbox, router and channels.
final class ScaleGateway: Sendable {
  let link: MeteredLink
  let mailbox: JetStreamMailbox
  let router: ClusterRouter
  let channels = LiveChannels()
  let peers: Membership

  /// The clock of the peers stands still: on a busy machine, a late gateway would count as absent.
  private static let start = ContinuousClock.now

  init(_ engine: ModelEngine, number: Int, _ size: ScaleSize) {
    link = MeteredLink(engine.connect())
    // The model loses no answer. With a short timeout, a busy machine would send a request again, which would be
    // counted twice.
    mailbox = JetStreamMailbox(
      JetStream(link, timeout: .seconds(60)), partitions: size.partitions, replicas: 3, cap: 10_000, logger: .silent,
      now: { TestClock.start }, removed: { _ in })
    router = ClusterRouter(link, mailbox: mailbox, partitions: size.partitions, origin: "\(number)")
    let address = "gateway-\(number).example.com:2197"
    peers = Membership(
      link,
      own: Membership.Peer(id: randomUUID(), folder: randomUUID(), addresses: [address], version: "1", schema: 1),
      now: { ScaleGateway.start })
  }

  /// Ends the gateway as `kill -9` does.
  func kill() {
    router.stop()
    mailbox.close()
    peers.stop()
    link.close()
  }
}
