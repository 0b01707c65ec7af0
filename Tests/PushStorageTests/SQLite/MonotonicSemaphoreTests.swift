import Dispatch
import Foundation
import Testing

@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct MonotonicSemaphoreTests {
  @Test func `a signal before the wait is not lost, and each ends one wait`() {
    let semaphore = MonotonicSemaphore()
    semaphore.signal()
    semaphore.signal()
    semaphore.wait()
    #expect(semaphore.wait(until: .now() + 3600))
    #expect(!semaphore.wait(until: .now()))
  }

  @Test func `a wait ends at its time or at a signal`() async {
    let semaphore = MonotonicSemaphore()
    #expect(!semaphore.wait(until: .now() + 0.001))
    let thread = Thread { semaphore.signal() }
    thread.start()
    #expect(semaphore.wait(until: .now() + 3600))
  }
}
