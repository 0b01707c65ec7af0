import Logging
import Testing

@testable import PushGateway

@Suite struct LogThresholdTests {
  @Test func `what was asked for holds until its time is over, and then the settings`() {
    let threshold = LogThreshold(.info)
    threshold.ask(for: .debug, until: 100)
    #expect(threshold.level == .debug && threshold.end == 100 && threshold.configured == .info)
    #expect(!threshold.settle(at: 99))
    #expect(threshold.level == .debug)
    #expect(threshold.settle(at: 100))
    #expect(threshold.level == .info && threshold.end == nil)
    #expect(!threshold.settle(at: 200))
  }

  @Test func `a request ends when the clock is set back before it`() {
    let threshold = LogThreshold(.info)
    threshold.ask(for: .debug, until: 10_060, at: 10_000)
    #expect(!threshold.settle(at: 10_000))
    #expect(threshold.settle(at: 9_999) && threshold.level == .info)
  }

  @Test func `new settings hold as soon as nothing else is asked for`() {
    let threshold = LogThreshold(.info)
    threshold.configure(.warning)
    #expect(threshold.level == .warning)
    threshold.ask(for: .trace)
    threshold.configure(.error)
    #expect(threshold.level == .trace)
    #expect(!threshold.settle(at: .max))
    threshold.ask(for: nil, until: 5)
    #expect(threshold.level == .error && threshold.end == nil)
  }

  @Test(arguments: Logger.Level.allCases)
  func `each level is one`(_ level: Logger.Level) { #expect(LogThreshold(level).level == level) }
}
