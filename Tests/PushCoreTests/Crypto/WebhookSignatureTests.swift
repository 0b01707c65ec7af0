import Testing

@testable import PushCore

@Suite struct WebhookSignatureTests {
  /// The example of the libraries of Standard Webhooks.
  @Test func `the signature is that of Standard Webhooks`() {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    let field = WebhookSignature.field(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8),
      secrets: [secret])
    #expect(field == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test func `each secret has a signature of its own`() {
    let (first, second) = (WebhookSignature.makeSecret(), WebhookSignature.makeSecret())
    #expect(first != second && first.hasPrefix("whsec_"))
    #expect(Base64URL.decode(first.dropFirst(6).utf8)?.count == 32)
    func field(_ secrets: [String]) -> String {
      WebhookSignature.field(id: "a", timestamp: 1, body: [1, 2], secrets: secrets)
    }
    #expect(field([first, second]) == field([first]) + " " + field([second]))
  }
}
