import Synchronization
import Testing

@testable import PushGateway

@Suite struct CutOffWatchTests {
  /// The environment of the watch, and its reports.
  private final class Surroundings: Sendable {
    let state = Mutex(
      (isConnected: true, isOtherReady: false, isBackWhenAsked: false, questions: 0, changes: [Bool]()))

    func watch() -> CutOffWatch {
      CutOffWatch(
        isConnected: { self.state.withLock { $0.isConnected } },
        isOtherReady: {
          self.state.withLock { state in
            state.questions += 1
            if state.isBackWhenAsked { state.isConnected = true }
            return state.isOtherReady
          }
        }, changed: { isCutOff in self.state.withLock { $0.changes.append(isCutOff) } })
    }
  }

  private func look(_ watch: CutOffWatch, times: Int) async { for _ in 0..<times { await watch.look() } }

  @Test func `a gateway without a broker is cut off when another is ready, until a broker is back`() async {
    let around = Surroundings()
    let watch = around.watch()
    await look(watch, times: 10)
    around.state.withLock { ($0.isConnected, $0.isOtherReady) = (false, true) }
    await look(watch, times: 2)
    #expect(!watch.isCutOff && around.state.withLock { $0.questions } == 0)
    await look(watch, times: 10)
    #expect(watch.isCutOff)
    around.state.withLock { $0.isConnected = true }
    await look(watch, times: 2)
    #expect(!watch.isCutOff && around.state.withLock { $0.changes } == [true, false])
  }

  @Test func `while no other gateway is ready devices stay, and come back`() async {
    let around = Surroundings()
    let watch = around.watch()
    around.state.withLock { $0.isConnected = false }
    await look(watch, times: 9)
    #expect(!watch.isCutOff && around.state.withLock { $0.questions } == 3)
    around.state.withLock { $0.isOtherReady = true }
    await look(watch, times: 3)
    #expect(watch.isCutOff)
    around.state.withLock { $0.isOtherReady = false }
    await look(watch, times: 3)
    #expect(!watch.isCutOff && around.state.withLock { $0.changes } == [true, false])
  }

  @Test func `a broker that comes back while other gateways are asked cuts nobody off`() async {
    let around = Surroundings()
    around.state.withLock { ($0.isConnected, $0.isOtherReady, $0.isBackWhenAsked) = (false, true, true) }
    await look(around.watch(), times: 6)
    #expect(around.state.withLock { $0.questions == 1 && $0.changes.isEmpty })
  }

  @Test func `a broker that is changed for another cuts nobody off`() async {
    let around = Surroundings()
    let watch = around.watch()
    around.state.withLock { $0.isOtherReady = true }
    for _ in 0..<5 {
      around.state.withLock { $0.isConnected = false }
      await look(watch, times: 2)
      around.state.withLock { $0.isConnected = true }
      await look(watch, times: 1)
    }
    #expect(around.state.withLock { $0.questions == 0 && $0.changes.isEmpty })
  }
}
