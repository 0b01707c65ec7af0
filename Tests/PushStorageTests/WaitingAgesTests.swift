import PushCore
import Testing

@testable import PushStorage

/// The number and the ages of pending pushes.
@Suite struct WaitingAgesTests {
  /// Returns a time in milliseconds since 1970, `seconds` after a fixed time.
  func time(_ seconds: Int64) -> Int64 { 1_800_000_000_000 + seconds * 1000 }

  @Test func `nothing waits at first`() {
    let ages = WaitingAges()
    #expect(ages.count == 0 && ages.oldest == nil)
  }

  @Test func `the oldest that still waits counts, up to four seconds late`() throws {
    var ages = WaitingAges()
    for seconds: Int64 in [0, 60, 120] { ages.enter(time(seconds)) }
    #expect(ages.count == 3)
    #expect((0...4096).contains(try #require(ages.oldest) - time(0)))
    ages.leave(time(60))
    #expect((0...4096).contains(try #require(ages.oldest) - time(0)))
    ages.leave(time(0))
    #expect((0...4096).contains(try #require(ages.oldest) - time(120)))
    ages.leave(time(120))
    #expect(ages.count == 0 && ages.oldest == nil)
  }

  @Test func `one that came before all others becomes the oldest`() throws {
    var ages = WaitingAges()
    ages.enter(time(600))
    ages.enter(time(0))
    #expect((0...4096).contains(try #require(ages.oldest) - time(0)))
    ages.leave(time(0))
    #expect((0...4096).contains(try #require(ages.oldest) - time(600)))
  }

  @Test func `times that lie too far apart, after a clock was wrong, take no room and end nothing`() throws {
    var ages = WaitingAges()
    let years = Int64(Limits.maximumLifetime) * 400
    let times = [time(0), time(years), 0, 1 << 60, time(1)]
    for time in times { ages.enter(time) }
    #expect(ages.count == times.count)
    #expect((0...4096).contains(try #require(ages.oldest) - time(0)))
    for time in times { ages.leave(time) }
    #expect(ages.count == 0 && ages.oldest == nil)
  }

  @Test func `many come and go, and the oldest is right each time`() {
    var ages = WaitingAges()
    var generator = SystemRandomNumberGenerator()
    var waiting: [Int64] = []
    for step: Int64 in 0..<2_000 {
      if waiting.isEmpty || Bool.random(using: &generator) {
        waiting.append(time(step * 3))
        ages.enter(time(step * 3))
      } else {
        ages.leave(waiting.remove(at: Int.random(in: waiting.indices, using: &generator)))
      }
      #expect(ages.count == waiting.count)
      let due = waiting.min().map { (($0 >> 12) + 1) << 12 }
      #expect(ages.oldest == due)
    }
  }
}
