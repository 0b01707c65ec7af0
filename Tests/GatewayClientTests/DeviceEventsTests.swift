import Queues
import TaskTesting
import Testing

@testable import GatewayClient

@Suite struct DeviceEventsTests {
  /// Regression: with room for one waiting sender, the second of two senders was lost and the receiver hung.
  @Test func `each of several senders goes on when the queue is taken from`() async {
    let queue = DeviceEvents()
    var full = PushBatch()
    full.append(ArraySlice([UInt8](repeating: 0x20, count: DeviceEvents.maximumSize + 1)), seq: 1)
    await queue.send(.pushes(full))
    let executor = ManualExecutor()
    let senders = (0..<2).map { number in executor.start { await queue.send(.typed("\(number)")) } }
    #expect(senders.allSatisfy { !$0.isDone })
    var taken = await queue.take()?.count ?? 0
    executor.run()
    #expect(senders.allSatisfy { $0.isDone })
    queue.finish()
    while let events = await queue.take() { taken += events.count }
    #expect(taken == 3)
  }
}
