import GatewayClient
import GatewayProtocol
import Testing

@testable import pushcli

@Suite struct RefusalAdviceTests {
  @Test(arguments: Reason.allCases)
  func `advice is what the table of reasons says, in one clause`(_ reason: Reason) {
    let advice = ProviderRefusal.advice(for: reason.rawValue, payload: Array(#"{"aps":{}}"#.utf8))
    #expect(advice?.hasSuffix(reason.advice ?? "?") ?? (reason.advice == nil))
    #expect(advice.map { !$0.hasSuffix(".") && !$0.contains("\n") } ?? true)
  }

  @Test func `of a payload it says what is wrong with this one`() {
    let large = [UInt8](repeating: 0x20, count: 5000)
    #expect(
      ProviderRefusal.advice(for: "PayloadTooLarge", payload: large)
        == "the payload has 5000 bytes; expected at most 4096 bytes, 5120 for voip")
    #expect(ProviderRefusal.advice(for: "PayloadEmpty", payload: []) == "the payload is empty")
    #expect(
      ProviderRefusal.advice(for: "PayloadEmpty", payload: Array("[1]".utf8))
        == "the payload is JSON, but not an object: expected {\"aps\":{…}}")
  }

  @Test func `an unknown token may be one of the other environment`() throws {
    let advice = try #require(ProviderRefusal.advice(for: "BadDeviceToken", payload: []))
    #expect(advice.contains("in this environment") && advice.contains("--environment ENVIRONMENT"))
  }

  @Test func `a reason that no one knows has no advice`() {
    #expect(ProviderRefusal.advice(for: "NoReason", payload: []) == nil)
  }
}
