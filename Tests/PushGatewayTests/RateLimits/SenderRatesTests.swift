import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite struct SenderRatesTests {
  let news = AppID(row: 1)
  let mail = AppID(row: 2)

  @Test func `without a rate nothing is refused, and nobody counts`() {
    let rates = SenderRates()
    #expect(!rates.boundsSenders && rates.perToken == nil)
    #expect((0..<9).allSatisfy { _ in rates.excess(news, of: "T", at: 5000) == nil })
  }

  @Test func `other rates hold at once, and begin anew`() {
    let rates = SenderRates(RateLimits(perTeam: 1))
    #expect(rates.boundsSenders && rates.excess(news, of: "T", at: 5000) == nil)
    #expect(rates.excess(news, of: "T", at: 5000) == .teamRate)
    rates.set(RateLimits(perToken: 7, perApp: 1))
    #expect(rates.boundsSenders && rates.perToken == TokenBucket.Rate(perSecond: 7))
    #expect([1, 2].map { _ in rates.excess(news, of: "T", at: 5000) } == [nil, .appRate])
    rates.set(RateLimits())
    #expect(!rates.boundsSenders && rates.perToken == nil && rates.excess(news, of: "T", at: 5000) == nil)
  }

  @Test func `an app may send as many at once as in a second, and others are counted apart`() {
    let rates = SenderRates(RateLimits(perApp: 3))
    #expect((0..<4).map { _ in rates.excess(news, of: "TEAM000001", at: 5000) } == [nil, nil, nil, .appRate])
    #expect(rates.excess(mail, of: "TEAM000001", at: 5000) == nil)
    #expect(rates.excess(news, of: "TEAM000001", at: 5334) == nil)
    #expect(rates.excess(news, of: "TEAM000001", at: 5334) == .appRate)
  }

  @Test func `a team's apps share what it may send, and nobody's are not counted`() {
    let rates = SenderRates(RateLimits(perTeam: 2))
    #expect([news, mail, news].map { rates.excess($0, of: "TEAM000001", at: 5000) } == [nil, nil, .teamRate])
    #expect(rates.excess(news, of: "TEAM000002", at: 5000) == nil)
    #expect((0..<9).allSatisfy { _ in rates.excess(news, of: nil, at: 5000) == nil })
  }

  @Test func `the copies of a push to a group are owed by its app and its team`() {
    let rates = SenderRates(RateLimits(perTeam: 4, perApp: 2))
    #expect(rates.excess(news, of: "T", at: 5000) == nil)
    rates.charge(news, of: "T", copies: 4, at: 5000)
    #expect([news, mail].map { rates.excess($0, of: "T", at: 5000) } == [.appRate, .teamRate])
    #expect(rates.excess(mail, of: "T", at: 5750) == nil)
    #expect([7000, 7001].map { rates.excess(news, of: "U", at: $0) } == [nil, .appRate])
    rates.charge(news, of: "T", copies: 0, at: 9000)
    #expect(rates.excess(news, of: "T", at: 9000) == nil)
  }

  @Test func `what an app may not send does not count against its team`() {
    let rates = SenderRates(RateLimits(perTeam: 3, perApp: 2))
    #expect((0..<4).map { _ in rates.excess(news, of: "T", at: 5000) } == [nil, nil, .appRate, .appRate])
    #expect(rates.excess(mail, of: "T", at: 5000) == nil)
    #expect(rates.excess(mail, of: "T", at: 5000) == .teamRate)
  }
}
