import PushPolicy
import PushTesting
import Testing

@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Invalid tokens, and one token in several spellings.
@Suite(.timeLimit(.minutes(5))) struct AuthenticationLimitTests {
  private let key: ES256Key
  private let cache: ProviderTokenCache
  private let parser = JSONParser()

  init() async throws {
    key = try ES256Key.generate()
    let registrations = MemoryRegistrations()
    try await registrations.addTeam("TEAM000001")
    try await registrations.addKey(
      ProviderKey(id: "ABC123DEFG", team: "TEAM000001", publicKey: key, environment: nil, topics: nil))
    cache = ProviderTokenCache(registrations: registrations)
  }

  private func token(_ issued: Int, size: Int = 0) throws -> [UInt8] {
    var recipe = TokenRecipe()
    recipe.claims = #"{"iss":"TEAM000001","iat":\#(issued),"x":"\#(String(repeating: "x", count: size))"}"#
    return Array(try recipe.text(by: key).utf8)
  }

  private func reason(_ token: [UInt8], _ address: String?, at now: Int64) -> Reason? {
    rejection { () throws(Rejection) in
      let source = UnauthenticatedConnections.Source(text: address)
      _ = try cache.token(token, parser: parser, from: source, at: now)
    }?.reason
  }

  @Test func `an address that fails for ever is not verified any longer, and others are`() throws {
    var wrong = try token(1)
    wrong[wrong.count - 1] = wrong[wrong.count - 1] == UInt8(ascii: "A") ? UInt8(ascii: "Q") : UInt8(ascii: "A")
    let (known, new) = (try token(2), try token(3))
    #expect(reason(known, "10.0.0.1", at: 0) == nil)
    for _ in 0..<Limits.failedAuthentications.burst {
      #expect(reason(wrong, "10.0.0.1", at: 0) == .invalidProviderToken)
    }
    #expect(reason(wrong, "10.0.0.1", at: 0) == .tooManyRequests)
    #expect(reason(new, "10.0.0.1", at: 0) == .tooManyRequests)
    // A token that was verified before uses no budget.
    #expect(reason(known, "10.0.0.1", at: 0) == nil)
    #expect(reason(new, "10.0.0.2", at: 0) == nil)
    #expect(reason(wrong, nil, at: 0) == .invalidProviderToken)
    let back = Int64(1000 / Limits.failedAuthentications.perSecond)
    #expect(reason(wrong, "10.0.0.1", at: back) == .invalidProviderToken)
    #expect(reason(wrong, "10.0.0.1", at: back) == .tooManyRequests)
  }

  @Test func `a token that is good counts as no failure`() throws {
    for number in 0..<Limits.failedAuthentications.burst + 10 {
      #expect(reason(try token(number), "10.0.0.1", at: 0) == nil)
    }
  }

  @Test func `long tokens take no more room than many short ones`() throws {
    let first = try token(0, size: 40_000)
    #expect(reason(first, nil, at: 0) == nil)
    #expect(reason(first, nil, at: 0) == nil)
    #expect(cache.weight == (1, first.count))
    for number in 1..<200 {
      #expect(reason(try token(number, size: 40_000), nil, at: 0) == nil)
      let weight = cache.weight
      #expect(weight.size <= Limits.maximumCachedTokenSize && weight.count > 0)
    }
    #expect(cache.weight.count < 199)
  }

  @Test func `this machine may fail more often, and not for ever`() throws {
    var wrong = try token(1)
    wrong[wrong.count - 1] = wrong[wrong.count - 1] == UInt8(ascii: "A") ? UInt8(ascii: "Q") : UInt8(ascii: "A")
    for _ in 0..<Limits.localFailedAuthentications.burst {
      #expect(reason(wrong, "127.0.0.1", at: 0) == .invalidProviderToken)
    }
    #expect(reason(wrong, "::1", at: 0) == .tooManyRequests)
    #expect(reason(wrong, "10.0.0.1", at: 0) == .invalidProviderToken)
  }

  @Test func `no more tokens are remembered than so many`() throws {
    for number in 0..<Limits.maximumCachedTokens + 2 {
      #expect(reason(try token(number), nil, at: 0) == nil)
      if number >= Limits.maximumCachedTokens - 1 { #expect(cache.weight.count <= Limits.maximumCachedTokens) }
    }
  }
}
