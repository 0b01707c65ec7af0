import Foundation
import HTTP2Transport
import NIOHTTP1
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

  private func json(_ answer: Client.Answer) throws -> [String: Any] { try json(answer.body) }

  private func json(_ body: [UInt8]) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
  }

  /// Returns the field by which GitHub signs a body.
  private static func signature(_ body: [UInt8], _ token: String = HookTests.token) -> (String, String) {
    ("X-Hub-Signature-256", "sha256=" + Digest.hex(Digest.hmacSHA256(body, key: Array(token.utf8))))
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
      let messages = try await HTTP1Messages(gateway)
      func post(_ body: [UInt8], _ fields: [(String, String)], path: String = "/hooks/hook") async -> Response {
        await messages.answer(.POST, path, fields, body)
      }
      let body = try WebhookFormatTests.body("github-pull-request")
      let bearer = ("Authorization", "Bearer " + HookTests.token)
      let (own, other) = (HookTests.signature(body), HookTests.signature(body, "pgs-OTHER"))
      let wrong = [[], [bearer], [other], [HookTests.signature(body + [32])], [other, own], [bearer, other]]
      for fields: [(String, String)] in wrong {
        let status = await post(body, fields).status
        #expect(status == 401, "\(fields)")
      }
      let small = Array("{}".utf8)
      for path in ["/hooks/none", "/hooks/", "/send/hook", "/beat/hook", "/ntfy/hook", "/gotify/message"] {
        let status = await post(small, [HookTests.signature(small)], path: path).status
        #expect(status == 401, "\(path)")
      }
      let overHTTP2 = try await send(client, body).status
      #expect(overHTTP2 == 401)
      #expect(waiting(gateway, devices) == [0, 0])
      let status = await post(body, [("X-GitHub-Event", "pull_request"), own]).status
      #expect(status == 200)
      #expect(waiting(gateway, devices) == [1, 1])
      let ping = try WebhookFormatTests.body("github-ping")
      let ignored = await post(ping, [HookTests.signature(ping)])
      #expect(ignored.status == 200)
      #expect(try json(ignored.body)["result"] as? String == "ignored")
      _ = try await gateway.parts.messages.senders.rotate("hook", token: "pgs-NEXT")
      let old = await post(body, [own]).status
      #expect(old == 401)
      let next = await post(body, [HookTests.signature(body, "pgs-NEXT")]).status
      #expect(next == 200)
    }
  }

  @Test func `a token comes in a field of the service, or in the query`() async throws {
    try await run(Hook(.gitlab)) { gateway, client, devices in
      let messages = try await HTTP1Messages(gateway)
      let body = try WebhookFormatTests.body("gitlab-merge-request")
      let name = "X-Gitlab-Token"
      for (fields, expected) in [
        ([(name, HookTests.token)], 200), ([(name, "pgs-OTHER")], 401), ([], 401),
        // The first field of a name counts. A signature is not a token.
        ([(name, "x"), (name, HookTests.token)], 401), ([HookTests.signature(body)], 401),
      ] as [([(String, String)], Int)] {
        let status = await messages.answer(.POST, "/hooks/hook", fields, body).status
        #expect(status == expected, "\(fields)")
      }
      let query = try await send(client, body, [], path: "/hooks/hook?token=" + HookTests.token).status
      #expect(query == 200)
      let both = try await send(client, body, path: "/hooks/hook?token=x").status
      #expect(both == 200)
      #expect(waiting(gateway, devices) == [3, 3])
    }
  }

  @Test func `a webhook is served over HTTP 1_1, up to the size of its body`() async throws {
    try await run(Hook(.alertmanager)) { gateway, _, devices in
      let messages = try await HTTP1Messages(gateway)
      let bearer = ("Authorization", "Bearer " + HookTests.token)
      func post(_ body: [UInt8], path: String = "/hooks/hook") async -> Response {
        await messages.answer(.POST, path, [bearer, ("Content-Type", "application/json")], body)
      }
      let firing = try WebhookFormatTests.body("alertmanager-firing")
      let padded = firing + [UInt8](repeating: 32, count: Limits.maximumHookSize - firing.count)
      let largest = await post(padded)
      #expect(largest.status == 200)
      let id = try #require(try json(largest.body)["id"] as? String)
      #expect(waiting(gateway, devices) == [1, 1])
      let end = await post(try WebhookFormatTests.body("alertmanager-resolved"))
      #expect(try json(end.body) as? [String: String] == ["result": "retracted", "id": id])
      #expect(waiting(gateway, devices) == [0, 0])
      let others = [
        await post(padded + [32]).status, await post(firing, path: "/hooks/none").status,
        await messages.answer(.GET, "/hooks/hook", [bearer], []).status,
      ]
      #expect(others == [413, 401, 405])
    }
  }

  @Test func `the sender of a webhook has no other path, and no other sender has its path`() async throws {
    let (text, json) = (Array("x".utf8), Array(#"{"topic":"hook","message":"x"}"#.utf8))
    let paths = [("/send/hook", text), ("/ntfy/hook", text), ("/ntfy", json), ("/gotify/message", json)]
    try await run(Hook(.alertmanager)) { gateway, client, devices in
      for (path, body) in paths + [("/beat/hook", text)] {
        let status = try await send(client, body, path: path).status
        #expect(status == 401, "\(path)")
      }
      let method = try await client.request("GET", "/hooks/hook", HookTests.bearer).status
      #expect(method == 405)
      #expect(waiting(gateway, devices) == [0, 0])
    }
    try await run(nil) { gateway, client, devices in
      let status = try await send(client, try WebhookFormatTests.body("alertmanager-firing")).status
      #expect(status == 401)
      #expect(waiting(gateway, devices) == [0, 0])
      for (path, body) in paths {
        let status = try await send(client, body, path: path).status
        #expect(status == 200, "\(path)")
      }
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
      // The token is checked before the size.
      let unknown = try await send(client, padded + [32], [(.authorization, "bearer pgs-OTHER")]).status
      #expect(unknown == 401)
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
      let beats = try await ask("POST", AdminPath.expectations(), #"{"sender":"mon","every":60,"grace":0}"#)
      #expect(beats.status == 409)
      let sender = try await ask("POST", AdminPath.senderTest("hook"), #"{"body":"{}"}"#)
      #expect(sender.status == 409)
      let none = try await ask("POST", AdminPath.senderTest("none"), #"{"body":"{}"}"#)
      #expect(none.status == 404)
      for form in [
        #""kind":"jira""#, #""kind":"json""#, #""kind":"github","fields":{"body":"/m"}"#, #""fields":{"body":"/m"}"#,
        #""kind":"json","fields":{"at":"/m"}"#, #""kind":"json","fields":{"body":"m"}"#,
        #""kind":"gitlab","combine":60"#,
      ] {
        let answer = try await ask(
          "POST", AdminPath.senders(), #"{"name":"x","app":"\#(topic)","recipients":["phone"],\#(form)}"#)
        #expect(answer.status == 400, "\(form)")
      }
    }
  }
}
