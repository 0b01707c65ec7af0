import NIOCore
import PushTesting
import Synchronization
import Testing

@testable import GatewayClient
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// A stream that has ended leaves no object behind.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionLifetimeTests {
  /// A router that observes if the first attached stream is still in memory.
  private final class WatchingRouter: PushRouter {
    private struct Watched: @unchecked Sendable { weak var subscription: (any LiveSubscription)? }

    private let registry = DeviceStreamRegistry()
    private let watched = Mutex<Watched?>(nil)

    var isAlive: Bool { watched.withLock { $0?.subscription != nil } }

    func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64 {
      let first = Watched(subscription: subscription)
      watched.withLock { $0 = $0 ?? first }
      return registry.attach(device, subscription, loop: loop)
    }

    func detach(_ device: DeviceID, _ number: UInt64) { registry.detach(device, number) }
    func count(of device: DeviceID) -> Int { registry.count(of: device) }
    func areConnected(_ entries: [MailboxEntry]) -> [Bool] { registry.areConnected(entries) }
    func deliver(_ entries: [MailboxEntry]) { registry.deliver(entries) }
    func deliverNow(_ push: StoredPush) -> Handover { registry.deliverNow(push) }
    func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {
      registry.notify(device, notice, except: number)
    }
    func resync() { registry.resync() }
  }

  @Test func `a stream whose device spoke of a push that it was never sent leaves nothing`() async throws {
    let router = WatchingRouter()
    let backend = GatewayBackend(
      registrations: MemoryRegistrations(), mailbox: MemoryMailbox(clock: TestClock()) { _ in }, router: router,
      durability: .localDisk(.full), close: {})
    try await TestGateway.run(backend: backend) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      #expect(router.isAlive)
      stream.send(OwnershipTests.answer("view").replacing("ID", with: SampleRequest.id))
      _ = try await stream.lines(upTo: "answered")
      stream.finish()
      _ = try await stream.lines(upTo: "bye")
      // A task that read for the stream may release it last. If it stays in memory, the time limit of the suite fails
      // this test.
      await eventually { !router.isAlive }
    }
  }
}
