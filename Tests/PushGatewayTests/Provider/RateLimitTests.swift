import Testing

@testable import PushCore
@testable import PushGateway

@Suite struct RateLimitTests {
  let token = DeviceToken.random()

  @Test func `without a limit everything is allowed`() {
    var limit = RateLimit<DeviceToken>()
    let answers = (0..<1000).map { _ in limit.allows(token, now: 5, perSecond: nil) }
    #expect(answers.allSatisfy { $0 })
  }

  @Test func `one more than the limit in a second is refused`() {
    var limit = RateLimit<DeviceToken>()
    let answers = (0..<5).map { _ in limit.allows(token, now: 5, perSecond: 3) }
    #expect(answers == [true, true, true, false, false])
  }

  @Test func `the next second begins anew, also when the clock goes back`() {
    var limit = RateLimit<DeviceToken>()
    let answers = [5, 5, 6, 6, 4, 4].map { limit.allows(token, now: $0, perSecond: 1) }
    #expect(answers == [true, false, true, false, true, false])
  }

  @Test func `tokens are counted apart`() {
    var limit = RateLimit<DeviceToken>()
    let answers = [token, .random(), token].map { limit.allows($0, now: 5, perSecond: 1) }
    #expect(answers == [true, true, false])
  }
}
