import Testing

@testable import GatewayClient

@Suite struct BackoffTests {
  /// A generator that returns only the highest or the lowest number.
  private struct Constant: RandomNumberGenerator {
    var value: UInt64
    func next() -> UInt64 { value }
  }

  @Test func `the longest pause doubles up to the last one, and is the first again after a success`() {
    var backoff = Backoff(first: .seconds(1), last: .seconds(5))
    var generator = Constant(value: .max)
    func next() -> Double { backoff.next(using: &generator) / .seconds(1) }
    for bound in [1.0, 2, 4, 5, 5] { #expect(abs(next() - bound) < 0.01) }
    backoff.reset()
    #expect(abs(next() - 1) < 0.01)
  }

  @Test func `a pause may be short, but is never none`() {
    var backoff = Backoff(first: .milliseconds(50), last: .seconds(60))
    var generator = Constant(value: 0)
    for _ in 0..<100 { #expect(backoff.next(using: &generator) == Backoff.shortest) }
  }

  @Test func `pauses differ`() {
    var backoff = Backoff(first: .seconds(60), last: .seconds(60))
    #expect(Set((0..<100).map { _ in backoff.next() }).count > 90)
  }
}
