import Testing

@testable import GatewayClient

@Suite struct AcknowledgementPaceTests {
  let start = ContinuousClock.now
  var pace = AcknowledgementPace()

  func after(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

  /// Stores pushes until the pace defers one. Returns the number of that push and the end of its delay.
  mutating func exhaust(at time: Int) -> (seq: UInt64, until: ContinuousClock.Instant)? {
    for seq in 1...20 as ClosedRange<UInt64> {
      switch pace.store(seq, at: after(time)) {
      case .acknowledge: #expect(pace.acknowledge(at: after(time)) == seq)
      case .wait(let until): return (seq, until)
      case .nothing: Issue.record("\(seq) is forgotten")
      }
    }
    return nil
  }

  @Test mutating func `a push now and then is acknowledged at once`() {
    for time in stride(from: 0, through: 4000, by: 200) {
      let seq = UInt64(time + 1)
      #expect(pace.store(seq, at: after(time)) == .acknowledge)
      #expect(pace.acknowledge(at: after(time)) == seq)
    }
  }

  @Test mutating func `a few are acknowledged at once, and then what keeps coming together`() throws {
    let first = try #require(exhaust(at: 0))
    #expect(first.seq == UInt64(AcknowledgementPace.burst) + 1)
    #expect(first.until == after(200))
    #expect(pace.store(7, at: after(20)) == .nothing)
    #expect(pace.acknowledge(at: after(200)) == 7)
    #expect(pace.acknowledge(at: after(200)) == nil)
    #expect(pace.store(8, at: after(201)) == .wait(until: after(400)))
  }

  @Test mutating func `after a quiet while a few may go at once again`() throws {
    _ = try #require(exhaust(at: 0))
    _ = pace.acknowledge(at: after(200))
    for seq in 101...105 as ClosedRange<UInt64> {
      #expect(pace.store(seq, at: after(2000)) == .acknowledge)
      _ = pace.acknowledge(at: after(2000))
    }
    #expect(pace.store(106, at: after(2000)) == .wait(until: after(2200)))
  }

  @Test mutating func `many are acknowledged before the time`() throws {
    let (seq, until) = try #require(exhaust(at: 0))
    let many = seq - 1 + AcknowledgementPace.maximumPushes
    #expect(pace.store(many - 1, at: after(1)) == .nothing)
    #expect(pace.store(many, at: after(2)) == .acknowledge)
    #expect(pace.acknowledge(at: after(2)) == many)
    #expect(pace.acknowledge(at: until) == nil, "what was waited for has been told")
  }

  @Test mutating func `a device that has caught up waits no longer than others`() {
    for number in 1...1000 as ClosedRange<UInt64> {
      #expect(pace.store(number * AcknowledgementPace.maximumPushes, at: start) == .acknowledge)
      _ = pace.acknowledge(at: start)
    }
    #expect(pace.store(1_000_000, at: start) == .acknowledge)
    _ = pace.acknowledge(at: start)
    #expect(pace.store(1_000_001, at: after(1)) == .wait(until: after(200)))
  }

  @Test mutating func `what has been told is not told again`() {
    #expect(pace.store(0, at: start) == .nothing)
    #expect(pace.acknowledge(at: start) == nil)
    _ = pace.store(5, at: start)
    _ = pace.acknowledge(at: start)
    #expect(pace.store(4, at: after(1000)) == .nothing)
    #expect(pace.store(5, at: after(1000)) == .nothing)
  }
}
