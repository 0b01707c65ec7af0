import PushCore
import Testing

@testable import GatewayProtocol

@Suite struct GatewayAddressTests {
  private static let longest = String(repeating: "a", count: Limits.maximumAddressSize - 6) + ":65535"

  @Test(
    arguments: ["a:1", "gateway.example:2197", "127.0.0.1:65535", "[2001:db8::1]:443", longest])
  func `an address of a line is read, and written as it was`(_ text: String) throws {
    #expect(try #require(GatewayAddress(line: text)).description == text)
  }

  @Test(arguments: [
    "", ":", "a", "a:", "a:0", "a:65536", "a:-1", ":1", "[]:1", "::1:1", "a b:1", "é:1", "a\n:1", "a/b:1", "u@a:1",
    "[a:1",
    "a" + longest,
  ])
  func `what is none is none`(_ text: String) { #expect(GatewayAddress(line: text) == nil) }

  @Test(arguments: [(nil, 7, "7"), ("cell-1", 7, "cell-1:7"), ("a:b", 0, "a:b:0")] as [(String?, UInt64, String)])
  func `a position names its numbering, if there is one`(_ epoch: String?, _ seq: UInt64, _ text: String) {
    let position = NumberedPosition(epoch: epoch.flatMap(NumberingEpoch.init), seq: seq)
    #expect(position.description == text)
    #expect(NumberedPosition(text) == position)
  }

  @Test(arguments: ["", ":", ":7", "7:", "a b:7", "a:-7", "-7", "x"])
  func `any other position is none`(_ text: String) { #expect(NumberedPosition(text) == nil) }

  @Test func `the name of a numbering has a bound`() {
    #expect(NumberingEpoch(String(repeating: "e", count: Limits.maximumEpochSize)) != nil)
    #expect(NumberingEpoch(String(repeating: "e", count: Limits.maximumEpochSize + 1)) == nil)
    #expect(["", "a b", "a\"", "\\", "é"].allSatisfy { NumberingEpoch($0) == nil })
  }
}
