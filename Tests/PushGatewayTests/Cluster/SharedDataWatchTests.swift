import PushStorage
import Synchronization
import Testing

@testable import PushGateway

@Suite struct SharedDataWatchTests {
  /// The clock and the shared data of a watch.
  private final class Surroundings: Sendable {
    let state = Mutex((now: ContinuousClock.now, checkTime: Duration.zero, isReached: true, checks: 0))

    func watch() -> SharedDataWatch {
      SharedDataWatch(
        now: { self.state.withLock { $0.now } },
        catchUp: {
          try self.state.withLock { state in
            state.checks += 1
            state.now = state.now + state.checkTime
            if !state.isReached { throw StoreError("no broker") }
          }
        })
    }

    func pass(_ time: Duration) { state.withLock { $0.now = $0.now + time } }
    var checks: Int { state.withLock { $0.checks } }
  }

  @Test func `data is current for a time after a check`() async throws {
    let around = Surroundings()
    let watch = around.watch()
    #expect(!watch.isCurrent)
    try await watch.check()
    around.pass(.milliseconds(4999))
    #expect(watch.isCurrent)
    try await watch.becomeCurrent()
    #expect(around.checks == 1)
    around.pass(.milliseconds(1))
    #expect(!watch.isCurrent)
    try await watch.becomeCurrent()
    #expect(watch.isCurrent && around.checks == 2)
  }

  @Test func `neither a check that fails nor one during which the gateway was stopped counts`() async throws {
    let around = Surroundings()
    let watch = around.watch()
    around.state.withLock { $0.isReached = false }
    await #expect(throws: StoreError.self) { try await watch.check() }
    #expect(!watch.isCurrent)
    around.state.withLock { ($0.isReached, $0.checkTime) = (true, .seconds(5)) }
    try await watch.check()
    #expect(!watch.isCurrent)
  }

  @Test func `all other gateways check, and one that does not answer delays the sender`() async throws {
    let hub = ClusterHub()
    let (own, others) = (hub.cluster("1"), ["2", "3"].map(hub.cluster))
    let surroundings = [Surroundings(), Surroundings()]
    for (cluster, around) in zip(others, surroundings) { try around.watch().answer(cluster) }
    let pauses = Mutex(0)
    let settle = { await SharedDataWatch.settle(own) { _ in pauses.withLock { $0 += 1 } } }
    await settle()
    #expect(surroundings.map(\.checks) == [1, 1] && pauses.withLock { $0 } == 0)
    others[0].isDeaf.withLock { $0 = true }
    await settle()
    surroundings[1].state.withLock { $0.isReached = false }
    others[0].isDeaf.withLock { $0 = false }
    await settle()
    #expect(surroundings.map(\.checks) == [2, 3] && pauses.withLock { $0 } == 2)
  }
}
