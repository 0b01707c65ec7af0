import Foundation
import HTTP2Transport
import NIOHTTP1
import PushPolicy
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Messages of senders without a provider token.
@Suite(.timeLimit(.minutes(5))) struct MessageTests {
  private static let token = "pgs-TEST"

  /// Runs a test with a gateway that has the sender `backup` of a device and of a group with two further devices.
  private func run(
    rate: Int = 60, _ body: (TestGateway, Client, _ device: TestDevice, _ members: [TestDevice]) async throws -> Void
  ) async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll("phone")
      let members = [
        try await gateway.enroll("desk", person: "ben"), try await gateway.enroll("tablet", person: "ben"),
      ]
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let ben = try gateway.registrations.person(named: "ben").id
      let group = try await gateway.parts.groups.add("ops", [ben])
      _ = try await gateway.parts.groups.register(group, app: app, environment: .development)
      try await gateway.parts.messages.senders.add(
        MessageSender(
          name: "backup", app: app, recipients: [.device(device.id), .group(group.id)], rate: rate, created: 1),
        token: MessageTests.token)
      try await body(gateway, try await gateway.client(), device, members)
    }
  }

  private func send(
    _ client: Client, _ body: String, to name: String = "backup", token: String? = MessageTests.token,
    _ fields: [(HeaderName, String)] = [], method: String = "POST"
  ) async throws -> Client.Answer {
    let own = token.map { [(HeaderName.authorization, "bearer " + $0)] } ?? []
    return try await client.request(method, "/send/" + name, own + fields, body: Array(body.utf8))
  }

  private func json(_ answer: Client.Answer) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
  }

  @Test func `the account of a token is that of its sender, for programs that ask ntfy for it`() async throws {
    try await run { _, client, _, _ in
      let own: [(HeaderName, String)] = [(.authorization, "bearer " + MessageTests.token)]
      let answer = try await client.request("GET", "/ntfy/v1/account", own)
      #expect(answer.status == 200)
      let account = try json(answer)
      #expect(account["username"] as? String == "backup")
      let stats = try #require(account["stats"] as? [String: Int])
      #expect(stats.count == 10)
      #expect(stats["messages_remaining"] == 60)
      let anonymous = try await client.request("GET", "/ntfy/v1/account")
      #expect(anonymous.status == 401)
      for (method, path) in [("GET", "/ntfy/v1/version"), ("POST", "/ntfy/v1/account"), ("GET", "/ntfy/v1/stats")] {
        let unknown = try await client.request(method, path, own)
        #expect(unknown.status == 404)
      }
      let read = try await client.request("GET", "/ntfy/backup", own)
      #expect(read.status == 405)
    }
  }

  @Test func `a message goes to all recipients, and the answer has each device`() async throws {
    try await run { gateway, client, device, members in
      _ = try await gateway.parts.devices.changePreferences(
        of: try #require(gateway.registrations.device(device.id)).person, assigning: ["sound=off"], app: nil,
        category: nil, isByOwner: false)
      let answer = try await send(client, "title=Backup&sound=default")
      #expect(answer.status == 200)
      let record = try json(answer)
      let recipients = try #require(record["recipients"] as? [[String: Any]])
      #expect(recipients.compactMap { $0["recipient"] as? String } == ["phone", "ops"])
      let phone = try #require((recipients[0]["devices"] as? [[String: Any]])?.first)
      #expect(phone["presented"] as? [String] == ["alert"])
      let removed = try #require((phone["removed"] as? [[String: Any]])?.first)
      #expect(removed["part"] as? String == "sound" && removed["rule"] as? String == "N4")
      #expect((removed["reason"] as? String)?.isEmpty == false)
      let desk = try #require(recipients[1]["devices"] as? [[String: Any]])
      #expect(desk.compactMap { $0["device"] as? String } == ["desk", "tablet"])
      #expect(desk.allSatisfy { $0["presented"] as? [String] == ["sound", "alert"] })
      for one in [device] + members { #expect(gateway.parts.mailbox.waitingCount(for: one.id) == 1) }
      let stream = try await TestStream.open(client, device)
      let lines = try await stream.lines(upTo: "caught-up")
      #expect(lines.first { $0.type == "push" }?.json["id"] as? String == record["id"] as? String)
      #expect(gateway.parts.messages.senders.list.first?.lastUsed != nil)
    }
  }

  @Test func `a wrong token and an unknown name have the same answer`() async throws {
    try await run { gateway, client, device, _ in
      for (name, token) in [("backup", "pgs-OTHER"), ("none", MessageTests.token), ("", MessageTests.token)] {
        let answer = try await send(client, "x", to: name, token: token)
        #expect(answer.status == 401, "\(name)")
        #expect(try json(answer)["reason"] as? String == "Unauthorized")
      }
      let status1 = try await send(client, "x", token: nil).status
      #expect(status1 == 401)
      let status2 = try await send(client, "", method: "GET").status
      #expect(status2 == 405)
      _ = try await gateway.parts.messages.senders.rotate("backup", token: "pgs-NEXT")
      let status3 = try await send(client, "x").status
      #expect(status3 == 401)
      let status4 = try await send(client, "x", token: "pgs-NEXT").status
      #expect(status4 == 200)
      try await gateway.parts.messages.senders.remove("backup")
      let status5 = try await send(client, "x", token: "pgs-NEXT").status
      #expect(status5 == 401)
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 1)
    }
  }

  @Test func `the rate of a sender is a minute's, and the answer says when to send again`() async throws {
    try await run(rate: 2) { gateway, client, device, _ in
      let status6 = try await send(client, "1").status
      #expect(status6 == 200)
      let status7 = try await send(client, "2").status
      #expect(status7 == 200)
      let answer = try await send(client, "3")
      #expect(answer.status == 429 && answer.retryAfter == 30)
      #expect(try json(answer)["reason"] as? String == "TooManyRequests")
      gateway.clock.advance(seconds: 30)
      let status8 = try await send(client, "4").status
      #expect(status8 == 200)
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 3)
    }
  }

  @Test(arguments: [
    (#"{"badge":"3"}"#, "B1"),
    (#"{"title":"News","body":"Flash sale! Up to 70% off everything. Shop now before midnight"}"#, "A9"),
  ])
  func `the rules for senders refuse a message as a push`(_ body: String, _ rule: String) async throws {
    try await run { gateway, client, device, _ in
      let answer = try await send(client, body)
      let refusal = try json(answer)
      #expect(answer.status == 403 && refusal["reason"] as? String == "Forbidden")
      #expect(refusal["rule"] as? String == rule)
      #expect((refusal["message"] as? String)?.isEmpty == false)
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 0)
      let rows = try await gateway.rows(.init(device: device.id, events: [.refused])).map(\.row)
      #expect(rows.count == 1)
    }
  }

  @Test func `a message for later is scheduled, and one with a known id is stored once`() async throws {
    try await run { gateway, client, device, _ in
      let later = try await send(client, #"{"body":"Later","in":"10m"}"#)
      #expect(try json(later)["deliver_at"] as? String == "2027-01-15T08:10:00Z")
      #expect(gateway.parts.schedule.pushes.count == 2)
      for _ in 0..<2 {
        let answer = try await send(client, "Once", [(.apnsID, SampleRequest.id)])
        #expect(try json(answer)["id"] as? String == SampleRequest.id)
      }
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 1)
      let status9 = try await send(client, "x", [(.apnsID, "x")]).status
      #expect(status9 == 400)
    }
  }

  @Test func `a recipient that is not registered is named beside the others`() async throws {
    try await run { gateway, client, device, _ in
      try await gateway.registrations.unregister(device.id, topic: SampleRequest.topic, now: 1)
      let recipients = try #require(try json(try await send(client, "x"))["recipients"] as? [[String: Any]])
      let refused = try #require(recipients[0]["refused"] as? [String: Any])
      #expect(refused["reason"] as? String == "NotRegistered")
      #expect(recipients[1]["refused"] == nil)
      let group = try gateway.parts.groups.group(named: "ops")
      try await gateway.parts.groups.remove(group, now: 1)
      let answer = try await send(client, "x")
      #expect(answer.status == 409)
      #expect(try json(answer)["reason"] as? String == "NotRegistered")
    }
  }

  /// A request in the form of ntfy or Gotify, and the answer's members of the error.
  struct Foreign: Sendable {
    var path: String
    var body = "x"
    var token: String? = MessageTests.token
    var method = "POST"
    var fields: [(HeaderName, String)] = []
    var status: Int
    var code: Int
  }

  static let foreign: [Foreign] = [
    Foreign(path: "/ntfy/backup", status: 200, code: 0),
    Foreign(path: "/ntfy/backup?priority=4&title=a+b", method: "PUT", status: 200, code: 0),
    Foreign(path: "/ntfy", body: #"{"topic":"backup","message":"x"}"#, status: 200, code: 0),
    Foreign(path: "/ntfy/?priority=5", body: #"{"topic":"backup"}"#, status: 200, code: 0),
    // The query has `Bearer pgs-TEST`.
    Foreign(path: "/ntfy/backup?auth=QmVhcmVyIHBncy1URVNU", token: nil, status: 200, code: 0),
    Foreign(path: "/ntfy/other", status: 401, code: 40_101),
    Foreign(path: "/ntfy/backup", token: "x", status: 401, code: 40_101),
    Foreign(path: "/ntfy", body: #"{"topic":"other"}"#, status: 401, code: 40_101),
    Foreign(path: "/ntfy", body: "x", status: 400, code: 40_017),
    Foreign(path: "/ntfy/backup/json", status: 404, code: 40_401), Foreign(path: "/ntfyx", status: 404, code: 40_401),
    Foreign(path: "/ntfy/backup", method: "GET", status: 405, code: 40_501),
    Foreign(
      path: "/ntfy/backup?title=News", body: "Flash sale! Up to 70% off everything. Shop now before midnight",
      status: 403,
      code: 40_301),
    Foreign(path: "/ntfy/backup", body: String(repeating: "x", count: 4097), status: 413, code: 41_301),
    Foreign(path: "/ntfy/backup", body: String(repeating: " ", count: 32_769), status: 413, code: 41_301),
    Foreign(path: "/gotify/message?token=pgs-TEST&message=x", body: "", token: nil, status: 200, code: 0),
    Foreign(
      path: "/gotify/message", body: #"{"message":"x"}"#, fields: [(.contentType, "application/json")], status: 200,
      code: 0),
    Foreign(path: "/gotify/message?token=x", body: #"{"message":"x"}"#, token: nil, status: 401, code: 401),
    Foreign(path: "/gotify/message", body: "{}", status: 400, code: 400),
    Foreign(path: "/gotify/message/1", status: 404, code: 404),
    Foreign(path: "/gotify/message", method: "PUT", status: 405, code: 405),
  ]

  @Test func `the forms of ntfy and Gotify have the same pipeline and their own answers`() async throws {
    try await run { gateway, client, device, _ in
      var stored = 0
      for one in MessageTests.foreign {
        let own = one.token.map { [(HeaderName.authorization, "bearer " + $0)] } ?? []
        let answer = try await client.request(
          one.method, one.path, own + one.fields, body: one.method == "GET" ? [] : Array(one.body.utf8))
        let record = try json(answer)
        #expect(answer.status == one.status, "\(one.path) \(record)")
        let code = record["code"] as? Int ?? record["errorCode"] as? Int ?? 0
        #expect(code == one.code, "\(one.path)")
        stored += answer.status == 200 ? 1 : 0
        #expect(gateway.parts.mailbox.waitingCount(for: device.id) == stored, "\(one.path)")
      }
      let answer = try await client.request(
        "POST", "/ntfy/backup?in=10m&tags=warning", [(.authorization, "bearer " + MessageTests.token)],
        body: Array("Later".utf8))
      let record = try json(answer)
      #expect(record["time"] as? Int == Int(gateway.clock.seconds) + 600)
      #expect(record["topic"] as? String == "backup" && record["event"] as? String == "message")
      #expect(gateway.parts.schedule.pushes.count == 2)
    }
  }

  @Test func `messages are served over HTTP 1_1, and JSON of ntfy also at the root`() async throws {
    try await run { gateway, _, device, _ in
      let messages = try await HTTP1Messages(gateway)
      func answer(_ method: HTTPMethod, _ uri: String, _ fields: [(String, String)], _ body: String) async throws -> Int
      {
        await messages.answer(method, uri, fields, Array(body.utf8)).status
      }
      let bearer = ("Authorization", "Bearer " + MessageTests.token)
      let statuses = [
        try await answer(.POST, "/send/backup", [bearer], "x"),
        try await answer(.PUT, "/ntfy/backup", [bearer, ("Title", "a"), ("X-Priority", "5")], "x"),
        try await answer(.POST, "/", [bearer, ("x-tags", "cd")], #"{"topic":"backup"}"#),
        try await answer(.POST, "/gotify/message", [("X-Gotify-Key", MessageTests.token)], #"{"message":"x"}"#),
      ]
      #expect(statuses == [200, 200, 200, 200])
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 4)
      let refusals = [
        try await answer(.POST, "/ntfy/backup", [], "x"),
        try await answer(.POST, "/ntfy/backup", [bearer, bearer], "x"),
        try await answer(.GET, "/", [], ""), try await answer(.DELETE, "/ntfy/backup", [bearer], ""),
        try await answer(.POST, "/ntfy/backup", [bearer, ("origin", "https://example.com")], "x"),
        try await answer(.POST, "/send/backup", [bearer], String(repeating: "x", count: 4097)),
      ]
      #expect(refusals == [401, 400, 404, 405, 403, 413])
    }
  }

  @Test func `the type of the body counts, and so does its size`() async throws {
    try await run { _, client, _, _ in
      let status10 = try await send(client, "x", [(.contentType, "image/png")]).status
      #expect(status10 == 415)
      let status11 = try await send(client, "title=x", [(.contentType, "text/plain")]).status
      #expect(status11 == 200)
      let large = String(repeating: "x", count: Limits.maximumMessageSize + 1)
      let status12 = try await send(client, large, [(.contentType, "text/plain")]).status
      #expect(status12 == 413)
    }
  }

  @Test func `administrators add, list, rotate and remove senders`() async throws {
    try await run { gateway, client, _, _ in
      func ask(_ method: String, _ path: String, _ body: String = "{}") async throws -> Client.Answer {
        try await client.request(method, path, body: method == "POST" ? Array(body.utf8) : [])
      }
      let topic = SampleRequest.topic
      let made = try await ask(
        "POST", AdminPath.senders(), #"{"name":"ci","app":"\#(topic)","recipients":["ops","phone","ops"],"rate":5}"#)
      #expect(made.status == 201)
      let token = try decodeJSON(CreatedSender.self, from: made.body).token
      #expect(token.hasPrefix(SenderTokenText.prefix))
      let status13 = try await send(client, "x", to: "ci", token: token).status
      #expect(status13 == 200)
      let list = try decodeJSON([SenderRecord].self, from: try await ask("GET", AdminPath.senders()).body)
      #expect(list.map(\.name) == ["backup", "ci"])
      #expect(list[1].recipients == ["ops", "phone"] && list[1].rate == 5 && list[1].app == topic)
      let next = try await ask("POST", AdminPath.senderToken("ci"))
      let status14 = try await send(client, "x", to: "ci", token: token).status
      #expect(status14 == 401)
      let other = try decodeJSON(CreatedSender.self, from: next.body).token
      let status15 = try await send(client, "x", to: "ci", token: other).status
      #expect(status15 == 200)
      #expect(try await ask("DELETE", AdminPath.sender("ci")).status == 204)
      for (body, status) in [
        (#"{"name":"backup","app":"\#(topic)","recipients":["phone"]}"#, 409),
        (#"{"name":"a/b","app":"\#(topic)","recipients":["phone"]}"#, 400),
        (#"{"name":"c","app":"\#(topic)","recipients":[]}"#, 400),
        (#"{"name":"c","app":"\#(topic)","recipients":["nobody"]}"#, 404),
        (#"{"name":"c","app":"com.example.none","recipients":["phone"]}"#, 404),
        (#"{"name":"c","app":"\#(topic)","recipients":["phone"],"rate":0}"#, 400),
        (#"{"name":"c","app":"\#(topic)","recipients":["phone"],"combine":0}"#, 400),
      ] {
        #expect(try await ask("POST", AdminPath.senders(), body).status == status, "\(body)")
      }
    }
  }

  @Test func `equal messages of a sender that combines them are one alert with their number`() async throws {
    try await run { gateway, client, device, members in
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let group = try gateway.parts.groups.group(named: "ops").id
      try await gateway.parts.messages.senders.add(
        MessageSender(
          name: "disk", app: app, recipients: [.device(device.id), .group(group)], rate: 60, created: 1, combine: 600),
        token: "pgs-DISK")
      for number in 1...3 {
        let record = try json(try await send(client, "Disk full", to: "disk", token: "pgs-DISK"))
        #expect(record["times"] as? Int == (number == 1 ? nil : number))
      }
      for one in [device] + members { #expect(gateway.parts.mailbox.waitingCount(for: one.id) == 1) }
      let rows = try await gateway.rows(.init(device: device.id, events: [.accepted])).map(\.row.detail)
      #expect(rows == [.nothing, .repeated(2), .repeated(3)])
      let stream = try await TestStream.open(client, device)
      let push = try await stream.lines(upTo: "caught-up").first { $0.type == "push" }
      #expect(push?.text.contains("Disk full (3 times)") == true)
      // Another text, and the same text after the window, are alerts of their own.
      _ = try await send(client, "Disk empty", to: "disk", token: "pgs-DISK")
      gateway.clock.advance(seconds: 600)
      let record = try json(try await send(client, "Disk full", to: "disk", token: "pgs-DISK"))
      #expect(record["times"] == nil)
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 3)
      // Other senders send each message.
      for _ in 0..<2 { _ = try await send(client, "Equal") }
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 5)
    }
  }

  @Test func `a removed app takes its senders along`() async throws {
    try await run { gateway, client, _, _ in
      try await gateway.parts.apps.remove(try gateway.registrations.app(topic: SampleRequest.topic))
      #expect(gateway.parts.messages.senders.list.isEmpty)
      let status16 = try await send(client, "x").status
      #expect(status16 == 401)
    }
  }
}
