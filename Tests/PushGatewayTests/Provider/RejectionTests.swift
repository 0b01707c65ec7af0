import Foundation
import PushPolicy
import PushTesting
import Testing

@testable import GatewayProtocol
@testable import PushGateway

@Suite struct RejectionTests {
  func text(_ rejection: Rejection) -> String { String(decoding: rejection.body, as: UTF8.self) }

  @Test(arguments: Reason.allCases)
  func `a body is compact JSON with the reason alone`(_ reason: Reason) {
    #expect(text(Rejection(reason)) == #"{"reason":"\#(reason.rawValue)"}"#)
  }

  @Test func `a timestamp is a bare integer`() {
    let rejection = Rejection(.unregistered, timestamp: 1_454_948_015_990)
    #expect(text(rejection) == #"{"reason":"Unregistered","timestamp":1454948015990}"#)
  }

  @Test func `a broken rule is named with its place and evidence`() {
    let violation = Violation(
      rule: .b1, pointer: "/aps/badge", message: "a badge is a \"number\"", evidence: ["\"3\"", "é\n"])
    #expect(
      text(Rejection(.forbidden, violation: violation))
        == #"{"reason":"Forbidden","policy":{"rule":"B1","at":"/aps/badge","message":"a badge is a \"number\"","#
        + #""evidence":["\"3\"","é\n"]}}"#
    )
  }

  @Test(arguments: [0, 1, 16, 17, 42, 900, 1100], [1, 20])
  func `the body stays within 1,024 bytes and stays JSON, whatever the evidence`(_ size: Int, _ count: Int) throws {
    for letter in ["a", "é", "\u{1}", "👩‍👩‍👧‍👦"] {
      let evidence = [String](repeating: String(repeating: letter, count: size), count: count)
      let violation = Violation(rule: .s1, pointer: "/aps/sound", message: "a bare name", evidence: evidence)
      let body = Rejection(.forbidden, violation: violation).body
      #expect(body.count <= 1024)
      let object = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
      #expect(object?["reason"] as? String == "Forbidden")
      #expect((object?["policy"] as? [String: Any])?["rule"] as? String == "S1")
    }
  }
}
