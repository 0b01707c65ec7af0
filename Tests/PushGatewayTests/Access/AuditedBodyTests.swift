import PushTesting
import Testing

@testable import GatewayClient
@testable import PushCore
@testable import PushGateway
@testable import PushPolicy
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct AuditedBodyTests {
  /// A text with the length of a line of PEM.
  private static let line = String(repeating: "k", count: 64)

  private static func kept(_ body: String) -> String {
    String(decoding: AuditedBody(Array(body.utf8)).bytes, as: UTF8.self)
  }

  @Test(arguments: [
    ("", ""), (#" { "name" : "a\u0062" , "n":1, "b":true,"z":null } "#, #"{"name":"ab","n":1,"b":true,"z":null}"#),
    (#"{"list":[1,[2]],"name":"x"}"#, #"{"name":"x","list":[1,[2]]}"#), ("no JSON", #""no JSON""#),
    (
      #"{"x":"-----BEGIN PRIVATE\u0020KEY-----\n\#(line)","name":"n"}"#, #"{"x":"left out: a private key","name":"n"}"#
    ),
    (
      #"["-----BEGIN PRIVATE KEY-----","\#(line)"]"#, #"["-----BEGIN PRIVATE KEY-----","left out: a private key"]"#
    ),
    ("-----BEGIN PRIVATE KEY-----\n" + line, #""left out: a private key""#), ("[]", "[]"), ("2.5", "2.5"),
  ])
  func `a body is kept as it was decoded, without private keys`(_ body: String, _ kept: String) {
    #expect(AuditedBodyTests.kept(body) == kept)
  }

  @Test(arguments: [
    String(repeating: " ", count: 4_000) + #"{"name":"who"}"#,
    #"{"a":"\#(String(repeating: "x", count: 4_000))","name":"who"}"#,
    #"{"a":"e\#(String(repeating: "\u{301}", count: 4_000))","name":"who"}"#,
    #"{"a":[\#(String(repeating: "1,", count: 4_000))1],"name":"who"}"#,
    #"{"a":{"b":[\#(String(repeating: #""text","#, count: 400))1]},"name":"who"}"#,
  ])
  func `nothing in front keeps a name out`(_ body: String) {
    #expect(AuditedBodyTests.kept(body).prefix(Limits.maximumAuditedBody).contains(#""name":"who""#))
  }

  @Test func `what an administrator can't ask for is refused, and the trail names what was made`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      func post(_ path: String, _ body: String) async throws -> Client.Answer {
        try await client.request("POST", path, body: Array(body.utf8))
      }
      for member in [#""x":"PRIVATE KEY""#, #""x":[]"#, #""nmae":"other""#] {
        let answer = try await post("/admin/v1/tokens", #"{"name":"hidden","role":"admin","days":1,\#(member)}"#)
        #expect(answer.status == 400)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("unknown member"))
      }
      #expect(try await post("/admin/v1/tokens", #"{"name":"shown","role":"admin","days":1}"#).status == 201)
      let records = try await gateway.parts.audit.records(before: nil, limit: 10).filter { $0.status == 201 }
      #expect(records.map { $0.body.contains(#""name":"shown""#) } == [true])
    }
  }

  @Test func `who finds a person's texts is not changed by an administrator`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll("laptop"))
      let body = Array(#"{"settings":["log-text=senders"]}"#.utf8)
      let refused = try await client.request("POST", "/admin/v1/devices/laptop/preferences", body: body)
      #expect(refused.status == 403)
      #expect(gateway.registrations.preferences(of: device.id).logText == .devices)
      let others = Array(#"{"settings":["badge=off"]}"#.utf8)
      #expect(try await client.request("POST", "/admin/v1/devices/laptop/preferences", body: others).status == 200)
      let own = try await client.request("POST", "/v1/device/preferences", [device.authorization], body: body)
      #expect(own.status == 200)
      #expect(gateway.registrations.preferences(of: device.id).logText == .senders)
    }
  }
}
