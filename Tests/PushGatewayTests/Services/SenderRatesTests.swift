import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite struct SenderRatesTests {
  let news = AppID(row: 1)
  let mail = AppID(row: 2)

  @Test func `without a rate there is nothing to count`() {
    #expect(SenderRates(team: nil, app: nil) == nil)
  }

  @Test func `an app may send as many at once as in a second, and others are counted apart`() throws {
    let rates = try #require(SenderRates(team: nil, app: 3))
    #expect((0..<4).map { _ in rates.excess(news, of: "TEAM000001", at: 5000) } == [nil, nil, nil, .appRate])
    #expect(rates.excess(mail, of: "TEAM000001", at: 5000) == nil)
    #expect(rates.excess(news, of: "TEAM000001", at: 5334) == nil)
    #expect(rates.excess(news, of: "TEAM000001", at: 5334) == .appRate)
  }

  @Test func `a team's apps share what it may send, and nobody's are not counted`() throws {
    let rates = try #require(SenderRates(team: 2, app: nil))
    #expect([news, mail, news].map { rates.excess($0, of: "TEAM000001", at: 5000) } == [nil, nil, .teamRate])
    #expect(rates.excess(news, of: "TEAM000002", at: 5000) == nil)
    #expect((0..<9).allSatisfy { _ in rates.excess(news, of: nil, at: 5000) == nil })
  }

  @Test func `what an app may not send does not count against its team`() throws {
    let rates = try #require(SenderRates(team: 3, app: 2))
    #expect((0..<4).map { _ in rates.excess(news, of: "T", at: 5000) } == [nil, nil, .appRate, .appRate])
    #expect(rates.excess(mail, of: "T", at: 5000) == nil)
    #expect(rates.excess(mail, of: "T", at: 5000) == .teamRate)
  }
}
