import Dispatch
import Foundation
import Testing

@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct EventDescriptorTests {
  @Test func `a wake-up that comes first is not lost, and each lets one wait go on`() {
    let wakeup = EventDescriptor()
    wakeup.signal()
    wakeup.signal()
    wakeup.wait()
    #expect(wakeup.wait(until: .now() + 3600))
    #expect(!wakeup.wait(until: .now()))
  }

  @Test func `a wait ends when its time is up, or when somebody signals`() async {
    let wakeup = EventDescriptor()
    #expect(!wakeup.wait(until: .now() + 0.001))
    let thread = Thread { wakeup.signal() }
    thread.start()
    #expect(wakeup.wait(until: .now() + 3600))
  }
}
