import PushCore
import Testing

@testable import PushGateway

@Suite struct VouchedTokensTests {
  private func token(_ number: Int) -> [UInt8] { Array("bearer \(number)".utf8) }

  @Test func `a token is remembered for its validity, and until the upstream refuses it`() {
    let tokens = VouchedTokens()
    #expect(!tokens.contains(token(1), at: 100))
    tokens.insert(token(1), at: 100)
    tokens.insert(token(2), at: 100)
    #expect(tokens.contains(token(1), at: 100 + Int64(Limits.maximumTokenAge) - 1))
    #expect(!tokens.contains(token(1), at: 100 + Int64(Limits.maximumTokenAge)))
    tokens.remove(token(2))
    #expect(!tokens.contains(token(2), at: 100))
  }

  @Test func `a full memory keeps the newest token`() {
    let tokens = VouchedTokens()
    for number in 0...Limits.maximumVouchedTokens { tokens.insert(token(number), at: 100) }
    #expect(tokens.contains(token(Limits.maximumVouchedTokens), at: 100))
    #expect(!tokens.contains(token(0), at: 100))
  }
}
