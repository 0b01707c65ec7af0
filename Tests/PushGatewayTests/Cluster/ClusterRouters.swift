import NATSClient
import NATSTesting
import NIOCore
import PushTesting
import Synchronization

@testable import PushCluster
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The routers of a cluster's gateways on a model of JetStream, as one router: each stream is attached to the next
/// gateway in turn.
///
/// Deliveries come from the model, which republishes the messages that it stores. The sender's call returns after that,
/// so that the next operation of the sender happens later.
final class ClusterRouters: PushRouter {
  private struct State {
    var attached = 0
    var streams: [UInt64: (router: Int, number: UInt64)] = [:]
  }

  private let engine = ModelEngine()
  private let broker: ModelLink
  private let routers: [ClusterRouter]
  private let state = Mutex(State())

  init(gateways: Int) {
    broker = engine.connect()
    routers = (0..<gateways).map { [engine] index in
      let link = engine.connect()
      let mailbox = JetStreamMailbox(
        .patient(link), partitions: 1, replicas: 1, cap: 1000, logger: .silent, now: { TestClock.start },
        removed: { _ in })
      return ClusterRouter(link, mailbox: mailbox, partitions: 1, origin: "\(index)")
    }
  }

  // MARK: Streams

  func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64 {
    let attached = state.withLock { state in
      state.attached += 1
      return state.attached
    }
    let router = attached % routers.count
    let number = routers[router].attach(device, subscription, loop: loop)
    state.withLock { $0.streams[UInt64(attached)] = (router, number) }
    return UInt64(attached)
  }

  func detach(_ device: DeviceID, _ number: UInt64) {
    guard let stream = state.withLock({ $0.streams[number] }) else { return }
    routers[stream.router].detach(device, stream.number)
  }

  func count(of device: DeviceID) -> Int { routers.reduce(0) { $0 + $1.count(of: device) } }
  func areConnected(_ entries: [MailboxEntry]) -> [Bool] { routers[0].areConnected(entries) }
  func resync() { for router in routers { router.resync() } }

  // MARK: Deliveries

  func deliver(_ entries: [MailboxEntry]) {
    for entry in entries {
      let headers =
        PushHeaders.write(entry.push, now: TestClock.start) + [
          (name: "Nats-Sequence", value: "\(entry.seq)"), ("Nats-Last-Sequence", "\(entry.previous)"),
        ]
      broker.publish(
        JetStreamMailbox.liveSubject(entry.push.device, partitions: 1), headers: headers, entry.push.payload)
    }
    engine.flush()
    for router in routers { router.deliver(entries) }
  }

  func deliverNow(_ push: StoredPush) -> Handover {
    defer { engine.flush() }
    return (routers.first { $0.count(of: push.device) > 0 } ?? routers[0]).deliverNow(push)
  }

  func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {
    let stream = number.flatMap { number in state.withLock { $0.streams[number] } }
    routers[stream?.router ?? 0].notify(device, notice, except: stream?.number)
    engine.flush()
  }
}
