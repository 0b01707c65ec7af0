import Foundation
import GatewayProtocol
import HTTP2Transport
import NIOHTTP1
import PushPolicy
import PushTesting
import Testing

@testable import GatewayClient
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Messages in the form of Web Push.
@Suite(.timeLimit(.minutes(5))) struct WebPushTests {
  private static let origin = "https://push.example.net"

  /// A gateway with an endpoint of a device, and the keys of the device and of a sender.
  private struct Setup {
    let gateway: TestGateway
    let client: Client
    let device: TestDevice
    let messages: HTTP1Messages
    let receiver: ES256Key
    let secret = [UInt8](repeating: 7, count: WebPushEncryption.secretSize)
    let sender: ES256Key
    let path: String

    func encrypted(_ text: String) throws -> [UInt8] {
      try WebPushEncryption.seal(
        Array(text.utf8), for: receiver, secret: secret, by: .generate(), salt: [UInt8](repeating: 1, count: 16))
    }

    /// Returns the field of a token for an origin, valid for an hour.
    func identification(_ origin: String = WebPushTests.origin, by key: ES256Key? = nil) throws -> (String, String) {
      let key = key ?? sender
      let claims = #"{"aud":"\#(origin)","exp":\#(gateway.clock.seconds + 3600)}"#
      let parts = [#"{"typ":"JWT","alg":"ES256"}"#, claims].map { Base64URL.encode(Array($0.utf8)) }
      let signed = parts.joined(separator: ".")
      let signature = Base64URL.encode(try key.signature(of: Array(signed.utf8)))
      return ("Authorization", "vapid t=\(signed).\(signature), k=\(Base64URL.encode(key.publicPoint))")
    }

    func send(
      _ text: String?, _ fields: [(String, String)] = [("TTL", "60")], encoding: String? = "aes128gcm",
      to other: String? = nil
    ) async throws -> Response {
      let body = try text.map { try encrypted($0) } ?? []
      let encodings = encoding.map { [("Content-Encoding", $0)] } ?? []
      return await messages.answer(.POST, other ?? path, fields + encodings, body)
    }

    func lines() async throws -> [TestLine] {
      let stream = try await TestStream.open(client, device)
      return try await stream.lines(upTo: "caught-up").filter { $0.type == "push" }
    }
  }

  private func run(isRestricted: Bool = false, _ body: (Setup) async throws -> Void) async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let device = try await gateway.enroll("phone")
      let sender = try ES256Key.generate()
      let request = EndpointRequest(
        name: "blog", app: SampleRequest.topic, origin: WebPushTests.origin,
        vapid: isRestricted ? Base64URL.encode(sender.publicPoint) : nil)
      let answer = try await client.request(
        "POST", "/v1/device/endpoints", [device.authorization], body: controlJSON(request))
      #expect(answer.status == 201)
      let made = try decodeJSON(CreatedEndpoint.self, from: answer.body)
      #expect(made.url == "\(WebPushTests.origin)/webpush/\(made.id)")
      #expect(Base64URL.decode(made.id.utf8)?.count == 16)
      try await body(
        Setup(
          gateway: gateway, client: client, device: device, messages: try await HTTP1Messages(gateway),
          receiver: try ES256Key.generate(), sender: sender, path: "/webpush/\(made.id)"))
    }
  }

  private func field(_ name: String, of response: Response) -> String? {
    response.fields.first { "\($0.name)" == name }?.value
  }

  private func reason(_ response: Response) -> String? {
    let reason = try? JSONParser().parse(response.body.span) { $0["reason"]?.string }
    return reason ?? nil
  }

  @Test func `an encrypted message is stored and sent as it is, with the urgency outside`() async throws {
    try await run { setup in
      let answer = try await setup.send("Hello", [("TTL", "60"), ("Urgency", "high"), ("Topic", "news_1")])
      #expect(answer.status == 201)
      #expect(field("ttl", of: answer) == "60" && answer.body.isEmpty)
      let place = try #require(field("location", of: answer))
      #expect(place.hasPrefix("\(WebPushTests.origin)\(setup.path)/"))
      let line = try #require(try await setup.lines().first)
      #expect(place.hasSuffix(line.json["id"] as? String ?? "none"))
      #expect((line.json["collapse"] as? String)?.hasSuffix("/news_1") == true)
      #expect((line.json["expires"] as? String)?.hasPrefix("2027-01-15T08:01:00") == true)
      let bytes = Array(line.text.utf8)
      let envelope = try JSONParser(maximumDepth: 100).parse(bytes.span) { root -> WebPushEnvelope? in
        guard let payload = root["payload"] else { return nil }
        return WebPushEnvelope(payload)
      }
      #expect(envelope?.level == .timeSensitive && envelope?.hasSound == true)
      #expect(WebPushEnvelope.tag(endingIn: bytes[...]) == envelope?.endpoint)
      let text = try WebPushEncryption.open(envelope?.content ?? [], by: setup.receiver, secret: setup.secret)
      #expect(String(decoding: text, as: UTF8.self) == "Hello")
      #expect(!line.text.contains("Hello"))
    }
  }

  @Test func `preferences that need no text hold at the gateway`() async throws {
    try await run { setup in
      let person = try #require(setup.gateway.registrations.device(setup.device.id)).person
      _ = try await setup.gateway.parts.devices.changePreferences(
        of: person, assigning: ["sound=off"], app: nil, category: nil, isByOwner: false)
      _ = try await setup.send("Hello")
      let line = try #require(try await setup.lines().first)
      let presentation = try #require(line.json["presentation"] as? [String: Any])
      #expect(presentation["sound"] == nil && presentation["alert"] != nil)
    }
  }

  @Test func `a message without content is an alert, and one of low urgency is quiet`() async throws {
    try await run { setup in
      for urgency in ["very-low", "low", "normal"] {
        let status = try await setup.send(nil, [("TTL", "60"), ("Urgency", urgency)], encoding: nil).status
        #expect(status == 201)
      }
      let texts = try await setup.lines().map(\.text)
      #expect(texts.allSatisfy { $0.contains(#""body":"New message""#) })
      #expect(texts.map { $0.contains(#""interruption-level":"passive""#) } == [true, true, false])
    }
  }

  @Test func `the topic replaces a message, and is that of the endpoint alone`() async throws {
    try await run { setup in
      for text in ["1", "2"] { _ = try await setup.send(text, [("TTL", "60"), ("Topic", "a")]) }
      let count = setup.gateway.parts.mailbox.waitingCount(for: setup.device.id)
      #expect(count == 1)
      let request = EndpointRequest(
        name: "shop", app: SampleRequest.topic, origin: WebPushTests.origin, vapid: nil)
      let answer = try await setup.client.request(
        "POST", "/v1/device/endpoints", [setup.device.authorization], body: controlJSON(request))
      let id = try decodeJSON(CreatedEndpoint.self, from: answer.body).id
      _ = try await setup.send("3", [("TTL", "60"), ("Topic", "a")], to: "/webpush/\(id)")
      #expect(setup.gateway.parts.mailbox.waitingCount(for: setup.device.id) == 2)
    }
  }

  @Test func `a message that lives no time is delivered now or never`() async throws {
    try await run { setup in
      let status1 = try await setup.send("1", [("TTL", "0")]).status
      #expect(status1 == 201 && setup.gateway.parts.mailbox.waitingCount(for: setup.device.id) == 0)
      let stream = try await TestStream.caughtUp(setup.client, setup.device)
      let answer = try await setup.send("2", [("TTL", "0")])
      #expect(answer.status == 201 && field("ttl", of: answer) == "0")
      let line = try #require(try await stream.next())
      #expect(line.type == "push" && line.seq == 0)
    }
  }

  /// A request that is refused: fields, the encoding, and the status.
  static let refused: [([(String, String)], String?, Int)] = [
    ([], "aes128gcm", 400), ([("TTL", "")], "aes128gcm", 400), ([("TTL", "-1")], "aes128gcm", 400),
    ([("TTL", "1.5")], "aes128gcm", 400), ([("TTL", "60"), ("Urgency", "soon")], "aes128gcm", 400),
    ([("TTL", "60"), ("Topic", "a b")], "aes128gcm", 400),
    ([("TTL", "60"), ("Topic", String(repeating: "a", count: 33))], "aes128gcm", 400),
    ([("TTL", "60")], "aesgcm", 415), ([("TTL", "60")], "gzip", 415), ([("TTL", "60")], nil, 415),
    ([("TTL", "60"), ("Authorization", "Bearer x")], "aes128gcm", 401),
    ([("TTL", "60"), ("Authorization", "vapid t=a, k=b")], "aes128gcm", 401),
  ]

  @Test func `a request of another form is refused`() async throws {
    try await run { setup in
      for (fields, encoding, status) in WebPushTests.refused {
        let answer = try await setup.send("x", fields, encoding: encoding)
        #expect(answer.status == status, "\(fields)")
        #expect(field("location", of: answer) == nil)
      }
      let fields = [("TTL", "60"), ("Content-Encoding", "aes128gcm")]
      let sizes = [1, 102, Limits.maximumWebPushSize + 1].map { [UInt8](repeating: 4, count: $0) }
      for (body, status) in zip(sizes, [400, 400, 413]) {
        let answer = await setup.messages.answer(.POST, setup.path, fields, body)
        #expect(answer.status == status)
      }
      let put = await setup.messages.answer(.PUT, setup.path, fields, [])
      #expect(put.status == 405)
      let delete = await setup.messages.answer(.DELETE, setup.path, [], [])
      #expect(delete.status == 404)
      #expect(setup.gateway.parts.mailbox.waitingCount(for: setup.device.id) == 0)
    }
  }

  @Test func `the largest message of a sender, and the longest life, are accepted`() async throws {
    try await run { setup in
      let fields = [("TTL", "99999999999999999999"), ("Topic", String(repeating: "a", count: 32))]
      let answer = try await setup.send(String(repeating: "x", count: 3_993), fields)
      #expect(answer.status == 201 && field("ttl", of: answer) == "\(Limits.maximumLifetime)")
    }
  }

  @Test func `a restricted endpoint takes messages of its sender only`() async throws {
    try await run(isRestricted: true) { setup in
      let ttl = ("TTL", "60")
      let status1 = try await setup.send("x", [ttl, try setup.identification()]).status
      #expect(status1 == 201)
      let status2 = try await setup.send("x", [ttl]).status
      #expect(status2 == 401)
      let status3 = try await setup.send("x", [ttl, try setup.identification(by: try .generate())]).status
      #expect(status3 == 403)
      let status4 = try await setup.send("x", [ttl, try setup.identification("https://other.example")]).status
      #expect(status4 == 403)
      #expect(setup.gateway.parts.mailbox.waitingCount(for: setup.device.id) == 1)
    }
  }

  @Test func `an unknown endpoint is 404, and a removed one 410`() async throws {
    try await run { setup in
      let unknown = try await setup.send("x", to: "/webpush/none")
      #expect(unknown.status == 404 && reason(unknown) == "UnknownEndpoint")
      let other = try await setup.gateway.enroll("other")
      let path = "/v1/device/endpoints/blog"
      let status1 = try await setup.client.request("DELETE", path, [other.authorization]).status
      #expect(status1 == 404)
      let status2 = try await setup.send("x").status
      #expect(status2 == 201)
      let status3 = try await setup.client.request("DELETE", path, [setup.device.authorization]).status
      #expect(status3 == 204)
      let removed = try await setup.send("x")
      #expect(removed.status == 410 && reason(removed) == "EndpointRemoved")
      let list = try await setup.client.request("GET", "/v1/device/endpoints", [setup.device.authorization])
      #expect(try decodeJSON([EndpointRecord].self, from: list.body).isEmpty)
    }
  }

  @Test func `the audit trail has the endpoints that a device makes and removes`() async throws {
    try await run { setup in
      for status in [204, 404] {
        let removed = try await setup.client.request(
          "DELETE", "/v1/device/endpoints/blog", [setup.device.authorization])
        #expect(removed.status == status)
      }
      let rows = try await setup.gateway.parts.audit.records(before: nil, limit: 10)
      #expect(rows.map(\.method) == ["POST", "DELETE", "DELETE"])
      #expect(
        rows.map(\.path) == ["/v1/device/endpoints", "/v1/device/endpoints/blog", "/v1/device/endpoints/blog"])
      #expect(rows.map(\.status) == [201, 204, 404])
      #expect(rows.allSatisfy { $0.who == "phone (device, device)" })
      #expect(rows.first?.body.contains(#""name":"blog""#) == true)
    }
  }

  @Test func `an endpoint ends with the registration, and with its device`() async throws {
    try await run { setup in
      try await setup.gateway.parts.devices.unregister(setup.device.id, topic: SampleRequest.topic)
      let status1 = try await setup.send("x").status
      #expect(status1 == 410)
    }
    try await run { setup in
      try await setup.gateway.parts.devices.remove(setup.device.id)
      let status1 = try await setup.send("x").status
      #expect(status1 == 410)
    }
  }

  @Test func `the rate of an endpoint is a minute's`() async throws {
    try await run { setup in
      for _ in 0..<Limits.endpointRate {
        _ = try await setup.send(nil, [("TTL", "60"), ("Topic", "a")], encoding: nil)
      }
      let answer = try await setup.send(nil, encoding: nil)
      #expect(answer.status == 429 && field("retry-after", of: answer) == "1")
    }
  }

  @Test func `a message is withdrawn by its address, and has a receipt`() async throws {
    try await run { setup in
      let answer = try await setup.send("x", [("TTL", "60"), ("Prefer", "respond-async")])
      #expect(answer.status == 202)
      let place = try #require(field("location", of: answer))
      #expect(field("link", of: answer) == "<\(place)>; rel=\"urn:ietf:params:push:receipt\"")
      let path = String(place.dropFirst(WebPushTests.origin.count))
      let none = "\(setup.path)/\(SampleRequest.id)"
      let requests: [(HTTPMethod, String, Int)] = [
        (.GET, path, 202), (.GET, none, 404), (.DELETE, none, 404), (.DELETE, path, 204), (.GET, path, 410),
      ]
      for (method, path, status) in requests {
        try await setup.gateway.endIterations()
        let answer = await setup.messages.answer(method, path, [], [])
        #expect(answer.status == status, "\(method) \(path)")
      }
      #expect(setup.gateway.parts.mailbox.waitingCount(for: setup.device.id) == 0)
    }
  }

  @Test func `the request for an endpoint is checked`() async throws {
    try await run { setup in
      let topic = SampleRequest.topic
      for (body, status) in [
        (#"{"name":"blog","app":"\#(topic)","origin":"https://a"}"#, 409),
        (#"{"name":"","app":"\#(topic)","origin":"https://a"}"#, 400),
        (#"{"name":"b","app":"com.example.none","origin":"https://a"}"#, 404),
        (#"{"name":"b","app":"\#(topic)","origin":"https://a/b"}"#, 400),
        (#"{"name":"b","app":"\#(topic)","origin":"https://a","vapid":"AAAA"}"#, 400), ("{}", 400),
      ] {
        let answer = try await setup.client.request(
          "POST", "/v1/device/endpoints", [setup.device.authorization], body: Array(body.utf8))
        #expect(answer.status == status, "\(body)")
      }
    }
  }
}
