import Foundation
import HTTP2Transport
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Webhooks of services as messages of a sender.
@Suite(.timeLimit(.minutes(5))) struct HookTests {
  private static let token = "pgs-TEST"

  /// Runs a test with a gateway that has the webhook `hook` of a device and of a group with one further device.
  private func run(
    _ hook: Hook?, _ body: (TestGateway, Client, _ devices: [TestDevice]) async throws -> Void
  ) async throws {
    try await TestGateway.run { gateway in
      let devices = [try await gateway.enroll("phone"), try await gateway.enroll("desk", person: "ben")]
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let group = try await gateway.parts.groups.add("ops", [try gateway.registrations.person(named: "ben").id])
      _ = try await gateway.parts.groups.register(group, app: app, environment: .development)
      try await gateway.parts.messages.senders.add(
        MessageSender(
          name: "hook", app: app, recipients: [.device(devices[0].id), .group(group.id)], rate: 60, created: 1,
          hook: hook),
        token: HookTests.token)
      try await body(gateway, try await gateway.client(), devices)
    }
  }

  private static let bearer = [(HeaderName.authorization, "bearer " + HookTests.token)]

  private func send(
    _ client: Client, _ body: [UInt8], _ fields: [(HeaderName, String)] = HookTests.bearer, path: String = "/hooks/hook"
  ) async throws -> Client.Answer {
    try await client.request("POST", path, fields, body: body)
  }

  private func json(_ answer: Client.Answer) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
  }

  private func waiting(_ gateway: TestGateway, _ devices: [TestDevice]) -> [Int] {
    devices.map { gateway.parts.mailbox.waitingCount(for: $0.id) }
  }

  @Test func `a group of alerts is one push, and its end retracts it`() async throws {
    try await run(Hook(.alertmanager)) { gateway, client, devices in
      let firing = try WebhookFormatTests.body("alertmanager-firing")
      let resolved = try WebhookFormatTests.body("alertmanager-resolved")
      let first = try await send(client, firing)
      #expect(first.status == 200)
      let recipients = try #require(try json(first)["recipients"] as? [[String: Any]])
      #expect(recipients.compactMap { $0["recipient"] as? String } == ["phone", "ops"])
      let second = try await send(client, firing)
      let id = try #require(try json(second)["id"] as? String)
      #expect(waiting(gateway, devices) == [1, 1])
      let end = try await send(client, resolved)
      #expect(end.status == 200)
      #expect(try json(end) as? [String: String] == ["result": "retracted", "id": id])
      #expect(waiting(gateway, devices) == [0, 0])
      let again = try await send(client, resolved)
      #expect(try json(again) as? [String: String] == ["result": "unknown"])
      // The group fires once more.
      let third = try await send(client, firing)
      #expect(third.status == 200)
      #expect(waiting(gateway, devices) == [1, 1])
    }
  }

  @Test func `an alert that a device shows leaves its screen when a later push replaces it`() async throws {
    try await run(Hook(.alertmanager)) { gateway, client, devices in
      let firing = try WebhookFormatTests.body("alertmanager-firing")
      let id = try #require(try json(try await send(client, firing))["id"] as? String)
      let stream = try await TestStream.open(client, devices[0])
      let lines = try await stream.lines(upTo: "caught-up")
      #expect(lines.first { $0.type == "push" }?.json["id"] as? String == id)
      _ = try await send(client, firing)
      let later = try await stream.lines(upTo: "push")
      #expect(later.first { $0.type == "retract" }?.json["id"] as? String == id)
    }
  }

  @Test func `a signature of the body is required from a service that signs`() async throws {
    try await run(Hook(.github)) { gateway, client, devices in
      let body = try WebhookFormatTests.body("github-pull-request")
      func signed(_ body: [UInt8], _ token: String = HookTests.token) -> [(HeaderName, String)] {
        [(.hookCredential, "sha256=" + Digest.hex(Digest.hmacSHA256(body, key: Array(token.utf8))))]
      }
      for fields in [[], HookTests.bearer, signed(body, "pgs-OTHER"), signed(body + [32])] {
        let status = try await send(client, body, fields).status
        #expect(status == 401)
      }
      let other = try await send(client, body, signed(body), path: "/hooks/none").status
      #expect(other == 401)
      #expect(waiting(gateway, devices) == [0, 0])
      let status = try await send(client, body, signed(body)).status
      #expect(status == 200)
      #expect(waiting(gateway, devices) == [1, 1])
      let ping = try WebhookFormatTests.body("github-ping")
      let ignored = try await send(client, ping, signed(ping))
      #expect(ignored.status == 200)
      #expect(try json(ignored)["result"] as? String == "ignored")
      _ = try await gateway.parts.messages.senders.rotate("hook", token: "pgs-NEXT")
      let old = try await send(client, body, signed(body)).status
      #expect(old == 401)
      let next = try await send(client, body, signed(body, "pgs-NEXT")).status
      #expect(next == 200)
    }
  }

  @Test func `a token comes in a field of the service, or in the query`() async throws {
    try await run(Hook(.gitlab)) { gateway, client, devices in
      let body = try WebhookFormatTests.body("gitlab-merge-request")
      let own = try await send(client, body, [(.hookCredential, HookTests.token)]).status
      #expect(own == 200)
      let query = try await send(client, body, [], path: "/hooks/hook?token=" + HookTests.token).status
      #expect(query == 200)
      let wrong = try await send(client, body, [(.hookCredential, "pgs-OTHER")]).status
      #expect(wrong == 401)
      let twice = try await send(client, body, [(.hookCredential, "x"), (.hookCredential, HookTests.token)]).status
      #expect(twice == 400)
      #expect(waiting(gateway, devices) == [2, 2])
    }
  }

  @Test func `a webhook and a sender of messages have paths of their own`() async throws {
    try await run(Hook(.alertmanager)) { _, client, _ in
      let status = try await send(client, Array("x".utf8), path: "/send/hook").status
      #expect(status == 401)
      let method = try await client.request("GET", "/hooks/hook", HookTests.bearer).status
      #expect(method == 405)
    }
    try await run(nil) { _, client, _ in
      let status = try await send(client, try WebhookFormatTests.body("alertmanager-firing")).status
      #expect(status == 401)
      let message = try await send(client, Array("x".utf8), path: "/send/hook").status
      #expect(message == 200)
    }
  }

  @Test func `a body has a maximum size, and one of another service is refused`() async throws {
    try await run(Hook(.alertmanager)) { gateway, client, devices in
      let firing = try WebhookFormatTests.body("alertmanager-firing")
      let padded = firing + [UInt8](repeating: 32, count: Limits.maximumHookSize - firing.count)
      let largest = try await send(client, padded).status
      #expect(largest == 200)
      let larger = try await send(client, padded + [32]).status
      #expect(larger == 413)
      let other = try await send(client, try WebhookFormatTests.body("github-push"))
      #expect(other.status == 400)
      #expect(try json(other)["reason"] as? String == "BadMessage")
      #expect(waiting(gateway, devices) == [1, 1])
    }
  }

  @Test func `administrators add webhooks, list them apart, and read a body without sending`() async throws {
    try await run(nil) { gateway, client, devices in
      func ask(_ method: String, _ path: String, _ body: String = "{}") async throws -> Client.Answer {
        try await client.request(method, path, body: method == "POST" ? Array(body.utf8) : [])
      }
      let topic = SampleRequest.topic
      let form = #""kind":"json","fields":{"body":"/m","subject":"/s"}"#
      let made = try await ask(
        "POST", AdminPath.senders(), #"{"name":"mon","app":"\#(topic)","recipients":["phone","ops"],\#(form)}"#)
      #expect(made.status == 201)
      let all = try decodeJSON([SenderRecord].self, from: try await ask("GET", AdminPath.senders()).body)
      let hooks = try decodeJSON(
        [SenderRecord].self, from: try await ask("GET", AdminPath.senders() + "?hooks=all").body)
      #expect(all.count == 2 && hooks.map(\.name) == ["mon"] && hooks[0].kind == "json")
      #expect(hooks[0].fields == ["body": "/m", "subject": "/s"])
      let test = try await ask("POST", AdminPath.senderTest("mon"), #"{"body":"{\"m\":\"Full\",\"s\":1}"}"#)
      let record = try decodeJSON(HookTestRecord.self, from: test.body)
      #expect(record.result == "message" && record.payload == #"{"aps":{"alert":{"body":"Full"}}}"#)
      #expect(record.collapseID?.count == 32)
      #expect(record.recipients?.map(\.recipient) == ["phone", "ops"])
      #expect(record.recipients?.flatMap(\.devices).map(\.device) == ["phone", "desk"])
      #expect(record.recipients?.first?.devices.first?.presented == ["alert"])
      #expect(waiting(gateway, devices) == [0, 0])
      let bad = try await ask("POST", AdminPath.senderTest("mon"), #"{"body":"{}"}"#)
      #expect(bad.status == 400)
      let sender = try await ask("POST", AdminPath.senderTest("hook"), #"{"body":"{}"}"#)
      #expect(sender.status == 409)
      let none = try await ask("POST", AdminPath.senderTest("none"), #"{"body":"{}"}"#)
      #expect(none.status == 404)
      for form in [
        #""kind":"jira""#, #""kind":"json""#, #""kind":"github","fields":{"body":"/m"}"#, #""fields":{"body":"/m"}"#,
        #""kind":"json","fields":{"at":"/m"}"#, #""kind":"json","fields":{"body":"m"}"#,
      ] {
        let answer = try await ask(
          "POST", AdminPath.senders(), #"{"name":"x","app":"\#(topic)","recipients":["phone"],\#(form)}"#)
        #expect(answer.status == 400, "\(form)")
      }
    }
  }
}
