import Logging
import Synchronization
import Testing

@testable import PushCore
@testable import PushGateway

@Suite struct DiskWatchTests {
  @Test func `little room is said once, and so is enough of it`() throws {
    let lines = LimitLogTests.Lines()
    let free = Mutex<Int64?>(2000)
    let watch = DiskWatch("/s", threshold: 1000, logger: lines.logger, freeSize: { _ in free.withLock { $0 } })
    func look(_ room: Int64?, at now: Int64) -> HealthProblem? {
      free.withLock { $0 = room }
      watch.look(at: now)
      return watch.warning
    }
    #expect(look(1000, at: 1) == nil)
    let first = try #require(look(999, at: 2))
    #expect(first.part == "disk" && first.since == 2 && first.problem.hasPrefix("only 999 bytes free"))
    #expect(look(100, at: 3)?.since == 2)
    #expect(look(nil, at: 4)?.since == 2)
    // A small increase, as after the removal of a temporary file, does not end the warning.
    #expect(look(1100, at: 5) != nil)
    #expect(look(1125, at: 6) == nil)
    #expect(look(5000, at: 7) == nil)
    #expect(lines.all == ["event=disk-low", "event=disk-enough"])
    #expect(look(1, at: 8)?.since == 8)
    watch.configure(nil)
    #expect(look(1, at: 9) == nil)
  }

  @Test func `a disk says how much is left`() {
    #expect((DiskWatch.freeSize(of: "/") ?? 0) > 0)
    #expect(DiskWatch.freeSize(of: "/there/is/none") == nil)
  }
}
