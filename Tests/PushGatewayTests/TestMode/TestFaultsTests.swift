import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushPolicy

/// The faults that a test sets for its own token.
@Suite(.timeLimit(.minutes(5))) struct TestFaultsTests {
  let token = RecordingGateway.token
  let other = String(repeating: "cd", count: 32)

  private func set(_ faults: String, _ gateway: RecordingGateway) async throws -> JSONValue {
    let (status, body) = try await gateway.call("PUT", "/tokens/\(token)/faults", #"{"faults":[\#(faults)]}"#)
    #expect(status == 200)
    return body
  }

  @Test func `only the token of the test has the faults, in their order`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      let answer = try await set(
        #"{"reason":"ServiceUnavailable","count":1,"retry-after":7},{"name":"odd","status":418,"count":1}"#, gateway)
      let faults: JSONValue = [
        ["name": "1", "does": "503 ServiceUnavailable, retry-after 7"], ["name": "odd", "does": "418"],
      ]
      #expect(answer == ["token": .string(token), "faults": faults])
      #expect(try await gateway.push(client, to: other).status == 200)
      let first = try await gateway.push(client)
      #expect(first.status == 503 && first.retryAfter == 7)
      #expect(try await gateway.push(client).status == 418)
      #expect(try await gateway.push(client).status == 200)
      let found = try await gateway.expect(#"{"token":"\#(token)","match":{"status":503},"state":"refused"}"#)
      #expect(found.pushes.first?["retry_after"] == 7)
      #expect(found.pushes.first?.value(at: "/events/0/detail") == "1: 503 ServiceUnavailable, retry-after 7")
    }
  }

  @Test func `a connection ends for the push of one test, and the report names the cause`() async throws {
    try await RecordingGateway.run { gateway in
      let (client, second) = (try await gateway.client(), try await gateway.client())
      _ = try await set(#"{"goaway":"Shutdown","count":1}"#, gateway)
      #expect(try await gateway.push(second, to: other).status == 200)
      await #expect(throws: (any Error).self) { _ = try await gateway.push(client) }
      let ended = try await gateway.expect(#"{"token":"\#(token)","match":{"outcome":"reset"},"state":"any"}"#)
      #expect(ended.status == 200)
      let lost = try await gateway.call("GET", "/report").body
      #expect(lost.value(at: "/lines/0/verdict") == "never-retried")
      let number = ended.pushes.first?["number"] ?? .null
      #expect(
        lost.value(at: "/lines/0/text")
          == .string("no answer (push \(number.words), fault 1: GOAWAY Shutdown): lost: not sent again"))
      #expect(try await gateway.push(second).status == 200)
      let handled = try await gateway.call("GET", "/report").body
      #expect(handled.value(at: "/lines/0/verdict") == "handled")
    }
  }

  @Test func `a state replaces the faults, and faults replace the state`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      _ = try await set(#"{"reason":"ServiceUnavailable"}"#, gateway)
      _ = try await gateway.call("PUT", "/tokens/\(token)", #"{"state":"throttled"}"#)
      let throttled = try await gateway.push(client)
      #expect(throttled.status == 429 && throttled.retryAfter == 1)
      _ = try await gateway.call("PUT", "/tokens/\(token)", #"{"state":"unavailable","retry-after":30}"#)
      let unavailable = try await gateway.push(client)
      #expect(unavailable.status == 503 && unavailable.retryAfter == 30)
      _ = try await gateway.call("PUT", "/tokens/\(token)", #"{"state":"unavailable"}"#)
      #expect(try await gateway.push(client).retryAfter == nil)
      _ = try await set(#"{"reason":"InternalServerError"}"#, gateway)
      #expect(try await gateway.push(client).status == 500)
      _ = try await set("", gateway)
      #expect(try await gateway.push(client).status == 200)
    }
  }

  @Test func `the faults end with the device`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      _ = try await gateway.push(client)
      _ = try await set(#"{"reason":"ServiceUnavailable"}"#, gateway)
      #expect(try await gateway.call("DELETE", "/devices/\(token)").status == 204)
      #expect(try await gateway.push(client).status == 410)
    }
  }

  @Test(arguments: [
    ("{}", "faults"), (#"{"faults":{}}"#, "faults"), (#"{"faults":[3]}"#, "faults[0]"),
    (#"{"faults":[{}]}"#, "faults[0]"), (#"{"faults":[{"reason":"Nothing"}]}"#, "faults[0]"),
    (#"{"faults":[{"drop":true},{"delay":"2"}]}"#, "faults[1].delay"),
    (#"{"faults":[{"drop":true,"app":"com.example.train"}]}"#, "faults[0].app"),
    (#"{"faults":[{"drop":1}]}"#, "faults[0].drop"), (#"{"faults":[{"drop":true,"rate":101}]}"#, "faults[0].rate"),
    (#"{"faults":[{"name":"a","drop":true},{"name":"a","drop":true}]}"#, "faults"), (#"{"fault":[]}"#, "faults"),
  ])
  func `malformed faults are refused with their place, and none is set`(_ body: String, _ field: String) async throws {
    try await RecordingGateway.run { gateway in
      let answer = try await gateway.call("PUT", "/tokens/\(token)/faults", body)
      #expect(answer.status == 400)
      #expect(answer.body["field"]?.text == field)
      let client = try await gateway.client()
      #expect(try await gateway.push(client).status == 200)
    }
  }

  @Test func `more faults than a token may have are refused`() async throws {
    try await RecordingGateway.run { gateway in
      let many = Array(repeating: #"{"drop":true}"#, count: TestFaults.maximumCount + 1).joined(separator: ",")
      let answer = try await gateway.call("PUT", "/tokens/\(token)/faults", #"{"faults":[\#(many)]}"#)
      #expect(answer.body["detail"]?.text == #""faults": expected an array of at most 16 objects"#)
    }
  }

  @Test(arguments: ["registered", "unregistered", "other-environment", "accepted-and-dropped"])
  func `only an answer to try again has retry-after`(_ state: String) async throws {
    try await RecordingGateway.run { gateway in
      let answer = try await gateway.call("PUT", "/tokens/\(token)", #"{"state":"\#(state)","retry-after":5}"#)
      #expect(answer.body["field"]?.text == "retry-after")
    }
  }

  /// The value of each key that a fault accepts alone, or with the effect `drop`.
  @Test func `the test API has the keys of a scenario file but its selectors`() async throws {
    let selectors: Set<FaultRule.CodingKeys> = [.app, .token, .key, .connection]
    let keys = Set(FaultRule.CodingKeys.allCases).subtracting(selectors).map(\.rawValue)
    guard case .object(let members)? = TestSchemas.all["Fault"]?["properties"] else {
      Issue.record("there is no schema of a fault")
      return
    }
    #expect(members.keys.sorted() == keys.sorted())
    let faults = [
      #"{"name":"a","status":500,"reason":"Shutdown","retry-after":1,"delay":"1ms","count":1,"for":"1s"}"#,
      #"{"reset":"CANCEL","rate":50,"seed":1}"#, #"{"goaway":"Shutdown","rate":0.5}"#, #"{"drop":true}"#,
      #"{"half-open":true}"#, #"{"stall":true}"#, #"{"streams":0}"#, #"{"throttle":3}"#, #"{"unregister":true}"#,
    ]
    let text = faults.joined()
    #expect(keys.filter { !text.contains("\"\($0)\"") } == [])
    try await RecordingGateway.run { gateway in
      _ = try await set(faults.joined(separator: ","), gateway)
    }
  }
}

extension JSONValue {
  /// An integer in digits.
  fileprivate var words: String {
    guard case .integer(let number) = self else { return "no integer" }
    return String(number)
  }
}
