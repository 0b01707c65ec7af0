import NIOCore
import PushTesting
import Synchronization
import Testing

@testable import GatewayClient
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct DispatcherTests {
  /// A router that counts the answered pushes at the time when the log rows of a push are created, after the earlier
  /// tasks of the loop.
  private final class CountingRouter: PushRouter {
    private let registry = DeviceStreamRegistry()
    private let loop = Mutex<(any EventLoop)?>(nil)
    let answerCount = Mutex<@Sendable () -> UInt64>({ 0 })
    let counts = Mutex<[UInt64]>([])

    func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64 {
      self.loop.withLock { $0 = loop }
      return registry.attach(device, subscription, loop: loop)
    }

    func areConnected(_ entries: [MailboxEntry]) -> [Bool] {
      try? loop.withLock { $0 }?.submit {}.wait()
      let count = answerCount.withLock { $0() }
      counts.withLock { $0.append(count) }
      return registry.areConnected(entries)
    }

    func detach(_ device: DeviceID, _ number: UInt64) { registry.detach(device, number) }
    func count(of device: DeviceID) -> Int { registry.count(of: device) }
    func deliver(_ entries: [MailboxEntry]) { registry.deliver(entries) }
    func deliverNow(_ push: StoredPush) -> Handover { registry.deliverNow(push) }
    func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {
      registry.notify(device, notice, except: number)
    }
    func resync() { registry.resync() }
  }

  @Test func `a push that is answered is in the log`() async throws {
    let router = CountingRouter()
    let home = try SQLiteHome(clock: TestClock())
    let backend = GatewayBackend(
      registrations: MemoryRegistrations(), mailbox: home.mailbox, router: router, durability: .localDisk(.full),
      close: { home.mailbox.close() })
    try await TestGateway.run(backend: backend) { gateway in
      router.answerCount.withLock { count in
        count = { [meter = gateway.parts.meter] in meter.loops.flatMap(\.acceptances).reduce(0, +) }
      }
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.open(client, device)
      _ = try await stream.lines(upTo: "caught-up")
      #expect(try await gateway.push(client, to: device.token).status == 200)
      #expect(router.counts.withLock { $0 } == [0])
    }
  }
}
