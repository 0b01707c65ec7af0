import Testing

@testable import PushCore

@Suite struct LogRateLimiterTests {
  @Test func `so many of a key are logged in an interval, and of the others how many there were`() {
    var gate = LogRateLimiter<String>(count: 2, interval: 60)
    let verdicts = (0..<5).map { gate.note("a", at: 1000 + Int64($0)) }
    #expect(verdicts == [0, 0, nil, nil, nil])
    #expect(gate.note("b", at: 1001) == 0)
    #expect(gate.hasSkipped)
    #expect(gate.note("a", at: 1059) == nil)
    #expect(gate.note("a", at: 1060) == 4)
    #expect(!gate.hasSkipped)
  }

  @Test func `what was not logged can be taken when its interval is over, once`() {
    var gate = LogRateLimiter<String>(count: 1, interval: 60)
    for time in 0..<10 { _ = gate.note("a", at: Int64(time)) }
    #expect(gate.takeSkipped(at: 59).isEmpty)
    let taken = gate.takeSkipped(at: 60)
    #expect(taken.map(\.key) == ["a"] && taken.map(\.count) == [9])
    #expect(gate.takeSkipped(at: 600).isEmpty)
  }

  @Test func `a clock that is set back begins anew`() {
    var gate = LogRateLimiter<String>(count: 1, interval: 60)
    _ = gate.note("a", at: 1000)
    #expect(gate.note("a", at: 500) == 0)
    #expect(gate.note("a", at: Int64.min) == 0)
    #expect(gate.note("a", at: Int64.max) == 0)
  }

  @Test func `it remembers so many keys, and counts the others together`() {
    var gate = LogRateLimiter<Int>(count: 1, interval: 60, maximumKeys: 3)
    for key in 0..<3 { #expect(gate.note(key, at: 0) == 0) }
    for key in 3..<10 { #expect(gate.note(key, at: 1) == nil) }
    #expect(gate.note(50, at: 60) == 0)
    let taken = gate.takeSkipped(at: 61)
    #expect(taken.map(\.key) == [nil] && taken.map(\.count) == [7])
  }
}
