import NATSTesting
import NIOCore
import NIOPosix
import PushTesting
import Synchronization
import Testing

@testable import NATSClient
@testable import PushCluster
@testable import PushCore
@testable import PushGateway

@Suite(.timeLimit(.minutes(5))) struct ClusterRouterTests {
  @Test(arguments: [1, 2], RouterConformance.checks.map(\.name))
  func `the routers of a cell do what every router does`(_ gateways: Int, _ name: String) async throws {
    try await RouterConformance.run(name, on: ClusterRouters(gateways: gateways))
  }

  @Test(arguments: FaultyRouter.Fault.allCases)
  func `a fault that is planted in a cell is found out`(_ fault: FaultyRouter.Fault) async throws {
    let found = Mutex(0)
    try await withKnownIssue(isIntermittent: true) {
      let router = FaultyRouter(fault, ClusterRouters(gateways: 2))
      try await RouterConformance.run(fault.finder, on: router, timeLimit: .milliseconds(200))
    } matching: { _ in
      found.withLock { $0 += 1 }
      return true
    }
    #expect(found.withLock { $0 } > 0)
  }

  @Test func `who missed what nobody told of reads again, and nobody else`() async throws {
    let engine = ModelEngine()
    let link = engine.connect()
    let mailbox = JetStreamMailbox(
      .patient(link), partitions: 4, replicas: 1, cap: 1000, logger: .silent, now: { TestClock.start },
      removed: { _ in })
    try await mailbox.start()
    let router = ClusterRouter(link, mailbox: mailbox, partitions: 4, origin: "0")
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let streams = (1...600).map { row in
      (DeviceID(row: row), RouterConformance.Stream(loop: loop, timeLimit: .seconds(300)))
    }
    try await loop.submit { for (device, stream) in streams { _ = router.attach(device, stream, loop: loop) } }.get()
    // All mailboxes are read again soon, because an earlier read may have been stale.
    for _ in 0..<3 { await router.look() }
    var faults = ModelFaults.none
    faults.losses = 1
    engine.set(faults)
    let missed: Set<DeviceID> = [3, 77, 599]
    _ = await mailbox.append(missed.map { samplePush(to: $0) })
    engine.set(.none)
    for _ in 0..<45 { await router.look() }
    for (device, stream) in streams where missed.contains(device) { try await stream.awaits(.resync) }
    try await loop.submit {}.get()
    for (device, stream) in streams { #expect(stream.events == (missed.contains(device) ? [.resync] : [])) }
  }

  @Test func `where nobody says who has a push, all read again`() async throws {
    let engine = ModelEngine()
    let link = engine.connect()
    let mailbox = JetStreamMailbox(
      .patient(link), partitions: 2, replicas: 1, cap: 1000, logger: .silent, now: { TestClock.start },
      removed: { _ in })
    let router = ClusterRouter(link, mailbox: mailbox, partitions: 2, origin: "0")
    let stream = RouterConformance.Stream(loop: MultiThreadedEventLoopGroup.singleton.next(), timeLimit: .seconds(300))
    _ = try await stream.loop.submit { router.attach(1, stream, loop: stream.loop) }.get()
    link.set(.disconnected)
    for _ in 0..<2 { await router.look() }
    try await stream.awaits(.resync)
  }
}
