import NIOCore
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Scheduled pushes of a cluster. Every gateway finds them due.
@Suite(.timeLimit(.minutes(5))) struct ScheduledInClusterTests {
  /// A router without streams that records the pushes of `deliverNow`.
  private final class CountingRouter: PushRouter {
    let handedOver = Mutex<[APNSID]>([])

    func deliverNow(_ push: StoredPush) -> Handover {
      handedOver.withLock { $0.append(push.id) }
      return .forwarded
    }

    func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64 { 0 }
    func detach(_ device: DeviceID, _ number: UInt64) {}
    func count(of device: DeviceID) -> Int { 0 }
    func areConnected(_ entries: [MailboxEntry]) -> [Bool] { entries.map { _ in false } }
    func deliver(_ entries: [MailboxEntry]) {}
    func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {}
    func resync() {}
  }

  private let folder: TemporaryFolder
  private let clock = TestClock()
  private let stores: [SQLiteStore]
  private let members: [MemoryReplicationLog.Member]

  init() async throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    stores = try (0..<2).map { try SQLiteStore(path: folder.file("\($0).sqlite")) }
    let log = MemoryReplicationLog()
    var members: [MemoryReplicationLog.Member] = []
    for store in stores { members.append(try await log.join(store)) }
    self.members = members
  }

  /// Returns the scheduled pushes and the use case of each gateway. The gateways share `router`, which counts their
  /// deliveries together.
  private func deliver(to router: CountingRouter) throws -> [(scheduled: ScheduledPushes, run: DeliverScheduled)] {
    let mailbox = MemoryMailbox(clock: clock) { _ in }
    return try stores.enumerated().map { number, store in
      let scheduled = try ScheduledPushes(store: store)
      let run = DeliverScheduled(
        scheduled: scheduled, groups: try Groups(store: store), registrations: try SQLiteRegistrations(store: store),
        mailbox: mailbox, router: router,
        log: DeliveryLog(path: folder.file("log-\(number)"), retention: 86_400, logger: .silent),
        clock: clock.wallClock, rates: SenderRates())
      return (scheduled, run)
    }
  }

  private func schedule(_ push: StoredPush, at scheduled: ScheduledPushes) async throws {
    _ = try await withCheckedThrowingContinuation { continuation in
      scheduled.add(ScheduledPush(push, at: clock.seconds * 1000, expires: 0, team: nil)) {
        continuation.resume(with: $0)
      }
    }
  }

  private func follow() async throws { for member in members { try await member.catchUp() } }

  @Test func `what is never stored is delivered by one gateway`() async throws {
    let router = CountingRouter()
    let gateways = try deliver(to: router)
    let registrations = gateways[0].run.registrations
    let app = try await registrations.putApp(topic: "com.example.news", name: "News", icon: "N", policyMode: .enforce)
    let device = try await registrations.enroll(name: "phone", person: nil).device
    _ = try await registrations.register(device.id, topic: app.topic, environment: .development)
    try await follow()
    for number in 1...3 {
      let push = StoredPush(
        device: device.id, app: app.id, id: .number(number), isSenderID: true, uniqueID: .number(100 + number),
        received: clock.seconds * 1000, expires: 0, priority: 10, collapseID: "",
        payload: Array(#"{"aps":{"alert":"now or never"}}"#.utf8))
      try await schedule(push, at: gateways[0].scheduled)
      try await follow()
      // The second gateway has not yet been notified that the first delivered the pushes.
      #expect(await gateways[0].run() == .done)
      #expect(await gateways[1].run() == .done)
      #expect(router.handedOver.withLock { $0 } == (1...number).map(APNSID.number))
    }
    try await follow()
    #expect(gateways.map(\.scheduled.count) == [0, 0])
    for gateway in gateways { gateway.run.log.close() }
  }
}
