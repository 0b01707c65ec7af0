import Queues
import Synchronization
import Testing

@testable import GatewayClient

@Suite struct DeviceEventsTests {
  private final class Counter: Sendable {
    let count = Mutex(0)
  }

  /// With one place for a waiting sender, one of two was lost and the receiver hung.
  @Test func `each of several senders goes on when the queue is taken from`() async throws {
    let queue = DeviceEvents()
    var full = PushBatch()
    full.append(ArraySlice([UInt8](repeating: 0x20, count: DeviceEvents.maximumSize + 1)), seq: 1)
    await queue.send(.pushes(full))
    let sent = Counter()
    for number in 0..<2 {
      Task {
        await queue.send(.typed("\(number)"))
        sent.count.withLock { $0 += 1 }
      }
    }
    // Both wait by then; nothing here may wait for them, since one that is lost never comes.
    try await Task.sleep(for: .milliseconds(100))
    var taken = await queue.take()?.count ?? 0
    let end = ContinuousClock.now + .seconds(5)
    while sent.count.withLock({ $0 }) < 2, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(1)) }
    #expect(sent.count.withLock { $0 } == 2)
    queue.finish()
    while let events = await queue.take() { taken += events.count }
    #expect(taken == 3)
  }
}
