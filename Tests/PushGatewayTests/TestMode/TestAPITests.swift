import Foundation
import PushTesting
import Testing

@testable import GatewayClient
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushPolicy

/// The routes of the test API.
@Suite(.timeLimit(.minutes(5))) struct TestAPITests {
  let token = RecordingGateway.token

  // MARK: Expectations

  @Test func `an expectation that fails has the nearest pushes, field by field`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      _ = try await gateway.push(client)
      _ = try await gateway.push(client, payload: #"{"aps":{"alert":{"title":"Bus"},"badge":1}}"#)
      _ = try await gateway.expect(#"{"count":2,"state":"presented"}"#)
      let failed = try await gateway.expect(#"{"match":{"title":"Train","badge":3},"within":"1ms"}"#)
      #expect(failed.status == 417)
      #expect(failed.body["matched"] == 0)
      #expect(failed.body.value(at: "/nearest/0/push/number") == 1)
      let differences: JSONValue = [["field": "title", "expected": "Train", "found": "Train in 5 Minutes"]]
      #expect(failed.body.value(at: "/nearest/0/differences") == differences)
      #expect(failed.body["detail"]?.text == "expected 1 accepted push, found 0 of 2 within 1ms")
    }
  }

  @Test func `the list of tests has the results of expectations, with the nearest pushes`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      _ = try await gateway.push(client)
      _ = try await gateway.expect(#"{"token":"\#(token)"}"#)
      _ = try await gateway.expect(#"{"token":"\#(token)","match":{"badge":9},"within":"1ms"}"#)
      _ = try await gateway.expect(#"{"count":0,"match":{"badge":9},"within":"1ms"}"#)
      let list = try await gateway.call("GET", "/tests").body
      guard case .array(let tests)? = list["tests"] else { throw Problem.notFound("no tests") }
      let own = try #require(tests.first { $0["token"]?.text == token })
      #expect(own["pushes"] == 1)
      #expect(own["failed"] == 1)
      #expect(own["device"] != nil)
      #expect(own.value(at: "/expectations/0/fulfilled") == true)
      #expect(own.value(at: "/expectations/0/nearest") == [])
      #expect(own.value(at: "/expectations/1/nearest/0/push") == 1)
      #expect(own.value(at: "/expectations/1/nearest/0/differences/0/field") == "badge")
      let others = try #require(tests.first { $0["token"] == nil })
      #expect(others["pushes"] == 0)
      #expect(others["failed"] == 0)
    }
  }

  @Test func `the results of expectations are limited in number`() async throws {
    let log = ExpectationLog()
    let view = PushRecorder(keep: 1).view(of: nil)
    for number in 0...ExpectationLog.maximumCount {
      log.note(ExpectationResult(PushExpectation(), isFulfilled: true, view), at: Int64(number))
    }
    #expect(log.entries.count == ExpectationLog.maximumCount)
    #expect(log.entries.first?.number == 2)
  }

  @Test func `an expectation awaits a push that comes later`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      let expectation = #"{"token":"\#(token)","match":{"title~":"^Train in [0-9]+"},"within":"60s"}"#
      async let expected = gateway.expect(expectation)
      _ = try await gateway.push(client)
      #expect(try await expected.status == 200)
    }
  }

  @Test func `none is expected, or exactly one`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      #expect(try await gateway.expect(#"{"count":0,"within":"1ms"}"#).status == 200)
      _ = try await gateway.push(client)
      #expect(try await gateway.expect(#"{"exactly":true,"idle":"1ms"}"#).status == 200)
      #expect(try await gateway.expect(#"{"count":0,"within":"1ms"}"#).status == 417)
      #expect(try await gateway.expect(#"{"count":0,"within":"1ms","since":1}"#).status == 200)
      _ = try await gateway.push(client)
      #expect(try await gateway.expect(#"{"count":2}"#).status == 200)
      #expect(try await gateway.expect(#"{"exactly":true,"idle":"1ms"}"#).status == 417)
    }
  }

  @Test(arguments: [
    (#"{"match":{"titel":"x"}}"#, "match.titel"), (#"{"match":{"title~":"("}}"#, "match.title~"),
    (#"{"match":{"title~":3}}"#, "match.title~"), (#"{"within":"2"}"#, "within"), (#"{"within":"2h"}"#, "within"),
    (#"{"count":-1}"#, "count"), (#"{"state":"seen"}"#, "state"), (#"{"tokn":"x"}"#, "tokn"),
    (#"{"token":3}"#, "token"), (#"{"match":[]}"#, "match"),
  ])
  func `a malformed expectation is refused with its member`(_ body: String, _ field: String) async throws {
    try await RecordingGateway.run { gateway in
      let answer = try await gateway.call("POST", "/expect", body)
      #expect(answer.status == 400)
      #expect(answer.body["field"]?.text == field)
    }
  }

  @Test(arguments: ["[]", "{", "3"])
  func `a body that is not an object is refused`(_ body: String) async throws {
    try await RecordingGateway.run { gateway in
      let answer1 = try await gateway.call("POST", "/expect", body)
      #expect(answer1.status == 400)
    }
  }

  // MARK: Devices and tokens

  @Test func `a device has the token and the preferences that a test chose`() async throws {
    try await RecordingGateway.run { gateway in
      let preferences = #"{"apps":{"\#(RecordingGateway.topic)":{"alert":false}}}"#
      let body = #"{"token":"\#(token)","topic":"\#(RecordingGateway.topic)","preferences":\#(preferences)}"#
      let made = try await gateway.call("POST", "/devices", body)
      #expect(made.status == 201)
      #expect(made.body["token"]?.text == token)
      #expect(try await gateway.call("POST", "/devices", body).status == 409)
      let client = try await gateway.client()
      _ = try await gateway.push(client)
      let found = try await gateway.expect(#"{"token":"\#(token)","state":"suppressed"}"#)
      #expect(found.pushes.first?["presented"] == ["badge"])
      #expect(found.pushes.first?.value(at: "/suppressed/0/part") == "alert")
      let failed = try await gateway.expect(
        #"{"token":"\#(token)","match":{"badge":4},"state":"presented","within":"1ms"}"#)
      let cause = try #require(failed.body.value(at: "/nearest/0/cause")?.text)
      #expect(cause.hasPrefix("the alert was removed by rule N5"))
    }
  }

  @Test func `a device without a token gets a new one, and none after its removal`() async throws {
    try await RecordingGateway.run { gateway in
      let made = try await gateway.call("POST", "/devices", #"{"topic":"\#(RecordingGateway.topic)"}"#)
      let token = try #require(made.body["token"]?.text)
      let client = try await gateway.client()
      #expect(try await gateway.push(client, to: token).status == 200)
      #expect(try await gateway.call("DELETE", "/devices/\(token)").status == 204)
      #expect(try await gateway.push(client, to: token).status == 410)
      #expect(try await gateway.call("DELETE", "/devices/" + String(repeating: "0", count: 64)).status == 404)
      #expect(try await gateway.call("DELETE", "/devices/x").body["field"] == "token")
    }
  }

  @Test(arguments: [
    ("unregistered", 410, "Unregistered"), ("other-environment", 400, "BadDeviceToken"),
    ("throttled", 429, "TooManyRequests"), ("unavailable", 503, "ServiceUnavailable"),
  ])
  func `a token answers as its state says, until it is registered again`(
    _ state: String, _ status: Int, _ reason: String
  ) async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      #expect(try await gateway.push(client).status == 200)
      #expect(try await gateway.call("PUT", "/tokens/\(token)", #"{"state":"\#(state)"}"#).status == 200)
      #expect(try await gateway.push(client).status == status)
      let found = try await gateway.expect(#"{"match":{"reason":"\#(reason)"},"state":"refused"}"#)
      #expect(found.status == 200)
      #expect(try await gateway.call("PUT", "/tokens/\(token)", #"{"state":"registered"}"#).status == 200)
      #expect(try await gateway.push(client).status == 200)
    }
  }

  @Test func `a push can be accepted and dropped`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      _ = try await gateway.call("PUT", "/tokens/\(token)", #"{"state":"accepted-and-dropped","count":1}"#)
      #expect(try await gateway.push(client).status == 200)
      #expect(try await gateway.push(client).status == 200)
      let found = try await gateway.expect(#"{"count":2}"#)
      #expect(found.pushes.compactMap { $0["outcome"]?.text } == ["dropped", "accepted"])
    }
  }

  @Test func `an answer of the user counts`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      let push = try await gateway.push(client)
      _ = try await gateway.expect(#"{"state":"presented"}"#)
      let answer = try await gateway.call("POST", "/devices/\(token)/answer", #"{"action":"view"}"#)
      #expect(answer.status == 200)
      #expect(answer.body == ["id": .string(push.apnsID ?? ""), "action": "view"])
      #expect(
        try await gateway.call("POST", "/devices/\(token)/answer", #"{"action":"approve"}"#).body["field"] == "action")
      #expect(try await gateway.call("POST", "/devices/\(token)/answer", "{}").status == 400)
    }
  }

  // MARK: Control

  @Test func `a provider token expires when the clock advances, and a new one is accepted`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      let old = try gateway.authorization()
      #expect(try await gateway.push(client, authorization: old).status == 200)
      let clock = try await gateway.call("POST", "/clock", #"{"advance":"61m"}"#)
      #expect(clock.body["offset"] == 3_660_000)
      #expect(try await gateway.push(client, authorization: old).status == 403)
      #expect(
        try await gateway.expect(#"{"match":{"reason":"ExpiredProviderToken"},"state":"refused"}"#).status == 200)
      let new = try gateway.authorization(issued: WallClock.system.seconds + 1)
      #expect(try await gateway.push(client, authorization: new).status == 200)
      #expect(try await gateway.call("POST", "/clock", #"{"reset":true}"#).body["offset"] == 0)
    }
  }

  @Test(arguments: ["{}", #"{"advance":"1s","reset":true}"#, #"{"advance":"366d"}"#, #"{"advance":"-1s"}"#])
  func `the clock is advanced or reset`(_ body: String) async throws {
    try await RecordingGateway.run { gateway in
      let answer2 = try await gateway.call("POST", "/clock", body)
      #expect(answer2.status == 400)
      let answer3 = try await gateway.call("GET", "/clock")
      #expect(answer3.body["offset"] == 0)
    }
  }

  @Test func `a scheduled push comes when the clock advances`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      let time = WallClock.system.seconds + 3600
      #expect(try await gateway.push(client, [(.apnsDeliverAt, String(time))]).status == 200)
      #expect(try await gateway.expect(#"{"state":"presented","within":"1ms"}"#).status == 417)
      _ = try await gateway.call("POST", "/clock", #"{"advance":"61m"}"#)
      #expect(try await gateway.expect(#"{"state":"presented","within":"60s"}"#).status == 200)
    }
  }

  @Test(arguments: TestTLS.Certificate.allCases)
  func `the next connections get another certificate`(_ certificate: TestTLS.Certificate) async throws {
    try await RecordingGateway.run { gateway in
      let before = gateway.tls.context
      let answer = try await gateway.call("PUT", "/tls", #"{"certificate":"\#(certificate.rawValue)"}"#)
      #expect(answer.status == 200)
      #expect(gateway.tls.context !== before)
    }
  }

  @Test func `the report says which refusals the sender ignored`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      _ = try await gateway.push(client)
      _ = try await gateway.call("PUT", "/tokens/\(token)", #"{"state":"unregistered"}"#)
      for _ in 0..<2 { _ = try await gateway.push(client) }
      let report = try await gateway.call("GET", "/report").body
      #expect(report.value(at: "/lines/0/verdict") == "retried")
      #expect(report.value(at: "/lines/0/next") == 3)
      #expect(report.value(at: "/lines/1/verdict") == "handled")
      #expect(report.value(at: "/summary/retried") == 1)
    }
  }

  // MARK: Access

  @Test func `another host name is refused, unless the gateway listens elsewhere`() async throws {
    try await RecordingGateway.run { gateway in
      let answer4 = try await gateway.call("GET", "", from: .remote)
      #expect(answer4.status == 403)
      let answer5 = try await gateway.call("GET", "")
      #expect(answer5.body["mode"] == "test")
    }
    var options = TestOptions()
    options.allowsOtherHosts = true
    try await RecordingGateway.run(options) { gateway in
      let answer6 = try await gateway.call("GET", "", from: .remote)
      #expect(answer6.status == 200)
    }
  }

  @Test(
    arguments: [
      (.loopback, "127.0.0.1:2197", nil, true), (.loopback, "localhost", nil, true), (.loopback, nil, nil, true),
      (.loopback, "evil.example:2197", nil, false), (.remote, "127.0.0.1", nil, false),
      (.adminSocket, "admin", nil, true),
      (.loopback, "127.0.0.1", "https://evil.example", false), (.adminSocket, "admin", "https://127.0.0.1", false),
    ] as [(Connection.Peer, String?, String?, Bool)])
  func `over HTTP 2 a request is for this machine, and not of a web page`(
    _ peer: Connection.Peer, _ authority: String?, _ origin: String?, _ isServed: Bool
  ) {
    var request = ControlRequest(method: "GET", target: TestRoute.prefix, authorization: nil, from: peer)
    (request.browser.authority, request.browser.origin) = (authority, origin)
    var status: Int?
    do { try TestAPI.admit(request, allowsOtherHosts: false) } catch { status = error.status }
    #expect(status == (isServed ? nil : 403))
    // Other names are allowed by an option, web pages by none.
    var other: Int?
    do { try TestAPI.admit(request, allowsOtherHosts: true) } catch { other = error.status }
    #expect(other == (origin == nil ? nil : 403))
  }

  @Test func `the routes are served over HTTP 2, and their requests are not recorded`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      @Sendable func call(
        _ method: String, _ path: String, _ body: String = ""
      ) async throws -> (status: Int, body: JSONValue?) {
        let answer = try await client.request(method, TestRoute.prefix + path, body: Array(body.utf8))
        return (answer.status, JSONValue(parsing: answer.body, by: JSONParser()))
      }
      let expectation = #"{"token":"\#(token)","within":"60s"}"#
      async let expected = call("POST", "/expect", expectation)
      #expect(try await gateway.push(client).status == 200)
      let found = try await expected
      #expect(found.status == 200)
      #expect(found.body?.value(at: "/pushes/0/number") == 1)
      let failed = try await call("POST", "/expect", #"{"match":{"title":"Bus"},"within":"1ms"}"#)
      #expect(failed.status == 417)
      let status = try await call("GET", "")
      #expect(status.body?["recorded"] == 1)
      let document = try await call("GET", "/openapi.json")
      #expect(document.body == gateway.api.document)
      for (method, path, body, status) in [
        ("POST", "/expect", "{", 400), ("GET", "/nothing", "", 404), ("PATCH", "/clock", "", 405),
        ("POST", "/expect", String(repeating: " ", count: Limits.maximumTestBodySize + 1), 413),
      ] {
        let answer = try await call(method, path, body)
        #expect(answer.status == status)
      }
    }
  }

  @Test func `an expectation over HTTP 2 ends with its connection`() async throws {
    try await RecordingGateway.run { gateway in
      let (client, other) = (try await gateway.client(), try await gateway.client())
      #expect(try await other.request("GET", TestRoute.prefix).status == 200)
      let waiting = Task {
        _ = try? await client.request(
          "POST", TestRoute.prefix + "/expect", body: Array(#"{"within":"60s"}"#.utf8))
      }
      await eventually { gateway.mode.recorder.waitCount == 1 }
      client.close()
      await eventually { gateway.mode.recorder.waitCount == 0 }
      await waiting.value
    }
  }

  @Test func `health reports a test gateway`() async throws {
    try await RecordingGateway.run { gateway in
      let health = gateway.parts.healthCheck.health
      #expect(health.status == "ready")
      #expect(health.warnings?.contains { $0.part == "test" } == true)
    }
  }

  @Test func `a list is filtered by fields`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      _ = try await gateway.push(client)
      _ = try await gateway.push(client, payload: #"{"aps":{"alert":"Bus"}}"#)
      func numbers(_ query: String) async throws -> JSONValue? {
        guard case .array(let pushes)? = try await gateway.call("GET", "/pushes?" + query).body["pushes"] else {
          return nil
        }
        return .array(pushes.compactMap { $0["number"] })
      }
      #expect(try await numbers("badge=3") == [1])
      #expect(try await numbers("body=Bus") == [2])
      #expect(try await numbers("title~=%5ETrain&token=\(token)") == [1])
      #expect(try await numbers("since=1&limit=5") == [2])
      #expect(try await numbers("state=refused") == [])
      #expect(try await gateway.call("GET", "/pushes?colour=red").body["field"] == "colour")
      #expect(try await gateway.call("GET", "/pushes?limit=0").body["field"] == "limit")
      #expect(try await gateway.call("GET", "/pushes/9").status == 404)
    }
  }

  @Test(arguments: AlertPicture.Theme.allCases, AlertPicture.Size.allCases)
  func `an alert has a picture`(_ theme: AlertPicture.Theme, _ size: AlertPicture.Size) async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      _ = try await gateway.push(client, payload: #"{"aps":{"alert":{"title":"<Train> & Bus","body":"Platform 4"}}}"#)
      _ = try await gateway.push(client, payload: #"{"aps":{"badge":3}}"#)
      _ = try await gateway.expect(#"{"count":2}"#)
      let push = try #require(gateway.mode.recorder.push(1))
      let picture = try #require(AlertPicture(push, appName: "train", icon: "🧪"))
      let svg = picture.svg(theme, size)
      #expect(svg.contains("&lt;Train&gt; &amp; Bus"))
      #expect(svg.contains("width=\"\(size.width)\""))
      let path = "/pushes/1.svg?theme=\(theme.rawValue)&size=\(size.rawValue)"
      #expect(try await gateway.call("GET", path).status == 200)
      #expect(try await gateway.call("GET", "/pushes/2.svg").status == 404)
      #expect(try await gateway.call("GET", "/pushes/1.svg?size=huge").body["field"] == "size")
    }
  }

  @Test(
    arguments: [
      ("", []), ("Platform 4", ["Platform", "4"]), ("one two three four", ["one two", "three four"]),
      ("abcdefghijklmnop", ["abcdefgh", "ijklmnop"]), ("a b c d e f g h i j k l m n o p q r s t u v", nil),
    ] as [(String, [String]?)])
  func `a text of an alert is wrapped`(_ text: String, _ lines: [String]?) {
    let wrapped = AlertPicture.wrap(text, columns: 4.3, maximum: 3)
    if let lines { #expect(wrapped == lines) } else { #expect(wrapped.count == 3 && wrapped[2].hasSuffix("…")) }
  }

  // MARK: The document

  @Test func `docs-test-api is the OpenAPI document of the routes`() async throws {
    try await RecordingGateway.run { gateway in
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
      let text = String(decoding: try encoder.encode(gateway.api.document), as: UTF8.self) + "\n"
      let page = "../../../../docs/reference/test-api.openapi.json"
      let path = URL(filePath: #filePath).appending(path: page).standardized
      if ProcessInfo.processInfo.environment["PUSHGATEWAY_DOCS"] == "write" {
        try text.write(to: path, atomically: true, encoding: .utf8)
      }
      let stored = try? Data(contentsOf: path)
      let known = stored.flatMap { JSONValue(parsing: Array($0), by: JSONParser()) }
      #expect(known == gateway.api.document, "PUSHGATEWAY_DOCS=write swift test --filter docs writes it again")
    }
  }
}
