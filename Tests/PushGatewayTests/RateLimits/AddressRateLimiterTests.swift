import Testing

@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

@Suite struct AddressRateLimiterTests {
  private let budget = AddressRateLimiter(
    remote: .init(burst: 3, perSecond: 1), local: .init(burst: 10, perSecond: 1))

  private func taken(by address: String?, at now: Int64 = 0) -> Int {
    (0..<20).count { _ in budget.take(.init(text: address), at: now) }
  }

  @Test func `each address has its own, and this machine a larger one`() {
    #expect(taken(by: "192.0.2.1") == 3)
    #expect(taken(by: "192.0.2.2") == 3)
    #expect(taken(by: "127.0.0.1") == 10)
    #expect(taken(by: nil) == 0)
    #expect(!budget.has(.init(text: "192.0.2.1"), at: 0))
    #expect(taken(by: "192.0.2.1", at: 1000) == 1)
  }

  @Test func `who has a network of IPv6 has no more than who has an address`() {
    #expect(taken(by: "2001:db8::1") == 3)
    for host in 2..<40 { #expect(taken(by: "2001:db8::\(host)") == 0) }
    #expect(taken(by: "2001:db8:0:1::1") == 3)
    // An IPv4 address counts as one, in either notation.
    #expect(taken(by: "192.0.2.9") == 3)
    #expect(taken(by: "::ffff:192.0.2.9") == 0)
  }
}
