import Testing

@testable import PushGateway

@Suite struct AcknowledgementPaceTests {
  let start = ContinuousClock.now
  var pace = AcknowledgementPace()

  func after(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

  @Test mutating func `a push after a quiet moment is acknowledged at once`() {
    for time in [0, 200, 1000] {
      let seq = UInt64(time + 1)
      #expect(pace.store(seq, at: after(time)) == .tell)
      #expect(pace.tell(at: after(time)) == seq)
    }
  }

  @Test mutating func `what keeps coming is acknowledged together`() {
    _ = pace.store(1, at: start)
    _ = pace.tell(at: start)
    #expect(pace.store(2, at: after(10)) == .wait(until: after(200)))
    #expect(pace.store(3, at: after(20)) == .nothing)
    #expect(pace.tell(at: after(200)) == 3)
    #expect(pace.tell(at: after(200)) == nil)
    #expect(pace.store(4, at: after(201)) == .wait(until: after(400)))
  }

  @Test mutating func `many are acknowledged before the time`() {
    _ = pace.store(1, at: start)
    _ = pace.tell(at: start)
    let many = AcknowledgementPace.maximumPushes
    #expect(pace.store(many, at: after(1)) == .wait(until: after(200)))
    #expect(pace.store(many + 1, at: after(2)) == .tell)
    #expect(pace.tell(at: after(2)) == many + 1)
    #expect(pace.tell(at: after(200)) == nil, "what was waited for has been told")
  }

  @Test mutating func `what has been told is not told again`() {
    #expect(pace.store(0, at: start) == .nothing)
    #expect(pace.tell(at: start) == nil)
    _ = pace.store(5, at: start)
    _ = pace.tell(at: start)
    #expect(pace.store(4, at: after(1000)) == .nothing)
    #expect(pace.store(5, at: after(1000)) == .nothing)
  }
}
