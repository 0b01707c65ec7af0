import Synchronization
import Testing

@testable import PushCore

@Suite struct CountdownLatchTests {
  @Test func `the last part completes the operation`() {
    let results = Mutex<[Bool]>([])
    let latch = CountdownLatch(3) { result in results.withLock { $0.append(result) } }
    for _ in 0..<2 { latch.countDown() }
    #expect(results.withLock { $0 }.isEmpty)
    latch.countDown()
    #expect(results.withLock { $0 } == [true])
  }

  @Test func `one failed part fails the operation`() {
    let results = Mutex<[Bool]>([])
    let latch = CountdownLatch(2) { result in results.withLock { $0.append(result) } }
    latch.countDown(hasSucceeded: false)
    latch.countDown()
    #expect(results.withLock { $0 } == [false])
  }

  @Test func `a canceled operation completes once, as failed`() {
    let results = Mutex<[Bool]>([])
    let latch = CountdownLatch(1) { result in results.withLock { $0.append(result) } }
    latch.cancel()
    latch.countDown()
    latch.cancel()
    #expect(results.withLock { $0 } == [false])
  }
}
