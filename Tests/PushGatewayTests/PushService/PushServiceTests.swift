import Foundation
import GatewayProtocol
import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The parts of a message to a push service: its content, its fields, its token, and the reading of the answer.
@Suite struct PushServiceTests {
  private static let app = App(id: 1, topic: "com.example.news", name: "News", icon: "N", policyMode: .report)

  private func subscription(_ endpoint: String = "https://push.example/1") throws -> PushSubscription {
    PushSubscription(
      device: 1, endpoint: endpoint, key: try ES256Key.generate().publicPoint,
      secret: [UInt8](repeating: 7, count: 16), origin: "https://gateway.example", created: 1)
  }

  private func push(
    collapse: String = "", priority: UInt8 = 10, lifetime: Int64 = 3600, payload: [UInt8] = Array("{}".utf8)
  ) -> StoredPush {
    StoredPush(
      device: 1, app: 1, id: .number(1), isSenderID: true, uniqueID: .number(2), received: TestClock.start * 1000,
      expires: TestClock.start + lifetime, priority: priority, collapseID: collapse, payload: payload)
  }

  // MARK: Answers

  @Test func `the status of an answer decides`() {
    func outcome(_ status: Int, _ retryAfter: String? = nil) -> PushServiceOutcome {
      EventAnswer(status: status, retryAfter: retryAfter).pushServiceOutcome(at: 784_111_700)
    }
    for status in [200, 201, 202, 204] { #expect(outcome(status) == .accepted) }
    for status in [404, 410] { #expect(outcome(status) == .gone) }
    #expect(outcome(413) == .tooLarge)
    for status in [408, 429, 500, 502, 503] { #expect(outcome(status) == .failed(retryAfter: nil)) }
    #expect(outcome(429, "120") == .failed(retryAfter: .seconds(120)))
    #expect(outcome(503, "Sun, 06 Nov 1994 08:49:37 GMT") == .failed(retryAfter: .seconds(77)))
    #expect(outcome(429, "999999999") == .failed(retryAfter: .seconds(Limits.maximumEventPause)))
    for status in [400, 401, 403, 405, 301, 307] { #expect(outcome(status) == .refused) }
  }

  // MARK: Fields

  @Test(
    arguments: [
      (.critical, 10, .high), (.timeSensitive, 5, .high), (.active, 10, .normal), (.active, 5, .low),
      (.active, 1, .veryLow), (.passive, 10, .low), (.passive, 1, .veryLow),
    ] as [(InterruptionLevel, UInt8, PushServiceFields.Urgency)])
  func `the urgency follows the level and the priority`(
    _ level: InterruptionLevel, _ priority: UInt8, _ urgency: PushServiceFields.Urgency
  ) throws {
    let push = push(priority: priority)
    let fields = PushServiceFields(push, level: level, to: try subscription(), at: TestClock.start)
    #expect(fields.urgency == urgency)
  }

  @Test func `the time to live ends with the push, and has the limit of push services`() throws {
    func lifetime(_ lifetime: Int64, at now: Int64 = TestClock.start) throws -> Int64 {
      PushServiceFields(push(lifetime: lifetime), level: .active, to: try subscription(), at: now).lifetime
    }
    #expect(try lifetime(60) == 60)
    #expect(try lifetime(60, at: TestClock.start + 50) == 10)
    #expect(try lifetime(60, at: TestClock.start + 70) == 0)
    #expect(try lifetime(30 * 86_400) == 28 * 86_400)
  }

  @Test func `the topic hides the collapse id, and differs between devices`() throws {
    let (one, two) = (try subscription(), try subscription())
    var other = two
    other.secret = [UInt8](repeating: 8, count: 16)
    func topic(_ collapse: String, _ subscription: PushSubscription) -> String? {
      PushServiceFields(push(collapse: collapse), level: .active, to: subscription, at: 0).topic
    }
    let topics = [topic("game", one), topic("other", one), topic("game", other)].compactMap(\.self)
    #expect(Set(topics).count == 3)
    for topic in topics {
      #expect(topic.utf8.count == 32 && Base64URL.decode(topic.utf8)?.count == 24 && !topic.contains("game"))
    }
    #expect(topic("game", one) == topic("game", two))
    #expect(topic("", one) == nil)
  }

  @Test func `a request has what RFC 8030 and RFC 8291 require`() throws {
    let receiver = try ES256Key.generate()
    var subscription = try subscription()
    subscription.key = receiver.publicPoint
    let fields = PushServiceFields(push(collapse: "game"), level: .active, to: subscription, at: TestClock.start)
    let request = try fields.request(Array("Hello".utf8), to: subscription, identification: "vapid t=a, k=b")
    let values = Dictionary(request.fields.map { ($0.name, $0.value) }) { first, _ in first }
    #expect(values["ttl"] == "3600" && values["urgency"] == "normal" && values["content-encoding"] == "aes128gcm")
    #expect(values["authorization"] == "vapid t=a, k=b" && values["topic"] == fields.topic)
    #expect(request.contentType == "application/octet-stream")
    let text = try WebPushEncryption.open(request.body, by: receiver, secret: subscription.secret)
    #expect(text == Array("Hello".utf8))
    let plain = PushServiceFields(push(), level: .active, to: subscription, at: TestClock.start)
    let other = try plain.request([], to: subscription, identification: "")
    #expect(!other.fields.contains { $0.name == "topic" })
  }

  // MARK: The token

  @Test func `the token names the push service and the operator, and is used again for an hour`() throws {
    let (key, parser) = (try ES256Key.generate(), JSONParser())
    var tokens = PushServiceTokens()
    func field(_ audience: String, _ now: Int64) throws -> String {
      try tokens.field(audience: audience, contact: "mailto:ada@example.com", by: key, at: now)
    }
    let first = try field("https://push.example", 1000)
    let token = try VAPIDToken(first)
    #expect(token.key == key.publicPoint)
    try token.verify(origin: "https://push.example", parser: parser, now: 1000)
    let claims = try #require(
      Base64URL.decode(first.dropFirst("vapid t=".count).split(separator: ".")[1].utf8))
    let decoded = try #require(try JSONSerialization.jsonObject(with: Data(claims)) as? [String: Any])
    #expect(decoded["sub"] as? String == "mailto:ada@example.com")
    #expect(decoded["exp"] as? Int == 1000 + 12 * 3600)
    #expect(try field("https://push.example", 1000 + 3599) == first)
    #expect(try field("https://push.example", 1000 + 3600) != first)
    #expect(try field("https://other.example", 1000) != first)
  }

  @Test(
    arguments: [
      ("https://push.example/a?b", "https://push.example"), ("https://Push.example:443/a", "https://push.example"),
      ("https://push.example:8443/", "https://push.example:8443"), ("http://127.0.0.1:80/", "http://127.0.0.1"),
      ("https://[2001:db8::1]:8443/a", "https://[2001:db8::1]:8443"),
    ])
  func `an endpoint has an origin`(_ endpoint: String, _ origin: String) throws {
    #expect(try EventURL(endpoint).origin == origin)
  }

  // MARK: Addresses

  @Test func `only a public address is public`() throws {
    for address in ["8.8.8.8", "142.250.1.1", "2a00:1450::1", "100.63.0.1", "172.32.0.1", "64:ff9b::808:808"] {
      #expect(IPAddress(address)?.isPublic == true, "\(address)")
    }
    let others = [
      "0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1",
      "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "255.255.255.255", "::",
      "::1",
      "::ffff:10.0.0.1", "fd00::1", "fe80::1", "ff02::1", "2001:db8::1", "2001::1", "64:ff9b::a00:1", "2002:a00:1::1",
      "3fff::1",
    ]
    for address in others { #expect(IPAddress(address)?.isPublic == false, "\(address)") }
    let (secure, plain) = (try EventURL("https://push.example/"), try EventURL("http://localhost/"))
    #expect(secure.refusal(ofPublic: IPAddress("8.8.8.8")) == nil)
    #expect(secure.refusal(ofPublic: nil) != nil && plain.refusal(ofPublic: IPAddress("8.8.8.8")) != nil)
  }

  @Test func `the contact is an address of mail or of the web`() throws {
    let type = SettingType<String>.contact
    for text in ["mailto:ada@example.com", "https://example.com/contact"] { #expect(try type.read(text) == text) }
    for text in ["", "mailto:", "https://", "ada@example.com", "http://example.com", "mailto:a b", "mailto:ä@b"] {
      #expect(try type.read(text) == nil)
    }
  }

  // MARK: The content

  private func content(
    _ alert: AlertPresentation?, badge: Int? = nil, collapse: String = "", payload: String = "{}",
    size: Int = Limits.maximumPageMessage
  ) throws -> (bytes: Int, json: [String: Any])? {
    let presentation = Presentation(badge: badge, alert: alert, center: AlertPresentation(body: "center"), budget: 3)
    let bytes = PageMessage.push(
      push(collapse: collapse, payload: Array(payload.utf8)), of: PushServiceTests.app, presentation, allowsBadge: true,
      maximumSize: size)
    guard let bytes else { return nil }
    let json = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    return (bytes.count, json)
  }

  private func text(_ json: [String: Any], _ name: String) -> String? {
    let presentation = json["presentation"] as? [String: Any]
    return (presentation?["alert"] as? [String: Any])?[name] as? String
  }

  @Test func `the content is the presentation without the payload`() throws {
    let alert = AlertPresentation(title: "T", subtitle: "S", body: "B")
    let found = try #require(try content(alert, badge: 3, collapse: "game"))
    #expect(found.json["type"] as? String == "push" && found.json["id"] as? String == "\(APNSID.number(1))")
    #expect(found.json["topic"] as? String == "com.example.news" && found.json["collapse"] as? String == "game")
    #expect(["title", "subtitle", "body"].map { text(found.json, $0) } == ["T", "S", "B"])
    let presentation = try #require(found.json["presentation"] as? [String: Any])
    #expect(Set(presentation.keys) == ["badge", "alert"])
    #expect(found.json["payload"] == nil)
  }

  @Test(arguments: [Limits.maximumPageMessage, Limits.shortPageMessage])
  func `long texts are cut at a character, and marked`(_ size: Int) throws {
    for piece in ["a", "é", "👩‍👩‍👧‍👦", "\"", "\u{1}", "\n"] {
      let long = String(repeating: piece, count: 5000)
      for alert in [
        AlertPresentation(body: long), AlertPresentation(title: "Title", subtitle: long, body: long),
        AlertPresentation(title: long, subtitle: long, body: long),
      ] {
        let found = try #require(try content(alert, size: size))
        #expect(found.bytes <= size && found.bytes > size / 2, "\(piece.debugDescription)")
        let body = try #require(text(found.json, "body"))
        #expect(body.hasSuffix("…") && body.dropLast().allSatisfy { String($0) == piece })
        if alert.title == "Title" { #expect(text(found.json, "title") == "Title") }
      }
    }
  }

  @Test func `a push whose actions leave no room for a text has none`() throws {
    var alert = AlertPresentation(title: "Title", body: String(repeating: "b", count: 2000))
    alert.offer((1...4).map { AlertAction(id: "a\($0)", title: String(repeating: "x", count: 240)) })
    let found = try #require(try content(alert, size: Limits.shortPageMessage))
    #expect(found.bytes <= Limits.shortPageMessage && text(found.json, "title") == "Title")
    let shown = (found.json["presentation"] as? [String: Any])?["alert"] as? [String: Any]
    #expect(shown?["actions"] == nil && shown?["buttons"] as? [String] == ["Close", "View"])
  }

  private static let attachment =
    #"{"id":"0123456789abcdef0123456789abcdef","name":"a\"b.txt","type":"text/plain","size":12000}"#

  @Test func `the content has the attachment, and no other member of the payload`() throws {
    let payload = #"{"aps":{"alert":"B"},"secret":"s","attachment":\#(PushServiceTests.attachment)}"#
    let found = try #require(try content(AlertPresentation(body: "B"), payload: payload))
    let members = try #require(found.json["payload"] as? [String: Any])
    #expect(Array(members.keys) == ["attachment"])
    let attachment = try #require(members["attachment"] as? [String: Any])
    #expect(attachment["name"] as? String == "a\"b.txt" && attachment["size"] as? Int == 12_000)
    #expect(attachment["id"] as? String == "0123456789abcdef0123456789abcdef")
    let other = try #require(try content(AlertPresentation(body: "B"), payload: #"{"attachment":"of the app"}"#))
    #expect(other.json["payload"] == nil)
  }

  @Test func `long texts leave room for the attachment, which is left out if it has none`() throws {
    let long = AlertPresentation(title: "Title", body: String(repeating: "b", count: 5000))
    let payload = #"{"attachment":\#(PushServiceTests.attachment)}"#
    for size in [Limits.maximumPageMessage, Limits.shortPageMessage] {
      let found = try #require(try content(long, payload: payload, size: size))
      #expect(found.bytes <= size && found.json["payload"] != nil)
      #expect(text(found.json, "title") == "Title" && text(found.json, "body")?.hasSuffix("…") == true)
    }
    let bare = try #require(try content(AlertPresentation(), payload: "{}"))
    let found = try #require(try content(AlertPresentation(), payload: payload, size: bare.bytes))
    #expect(found.json["payload"] == nil)
  }

  @Test(arguments: [(true, 0), (false, 0), (true, 1)])
  func `an encrypted message is after the line, if it has room`(_ allowsBadge: Bool, _ surplus: Int) throws {
    let content = (0..<3_000).map { UInt8(truncatingIfNeeded: $0) }
    let envelope = WebPushEnvelope(
      endpoint: "0123456789abcdef", content: content, level: .timeSensitive, hasSound: true, holdsAds: false)
    let presentation = Presentation(alert: AlertPresentation(body: WebPushEnvelope.placeholder))
    func message(_ size: Int) throws -> [UInt8] {
      try #require(
        PageMessage.push(
          push(payload: envelope.payload), of: PushServiceTests.app, presentation, allowsBadge: allowsBadge,
          maximumSize: size))
    }
    let whole = try message(Limits.maximumPageMessage)
    let bytes = try message(whole.count - surplus)
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    let json = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
    #expect(text(json, "body") == WebPushEnvelope.placeholder)
    guard surplus == 0 else {
      #expect(line.count == bytes.count && json["payload"] == nil)
      return
    }
    #expect(Array(bytes.dropFirst(line.count + 1)) == content)
    #expect((json["preferences"] as? [String: Any])?["badge"] as? Bool == allowsBadge)
    let payload = try #require(json["payload"] as? [String: [String: Any]])
    #expect(payload["aps"]?["interruption-level"] as? String == "time-sensitive")
    #expect(payload["aps"]?["sound"] as? String == "default")
    #expect(payload["web_push"]?["endpoint"] as? String == "0123456789abcdef")
  }

  @Test(arguments: [("Hello", 5, "Hello"), ("Hello", 4, "H…"), ("Hello", 3, "…"), ("Hello", 2, ""), ("", 0, "")])
  func `a text is cut`(_ text: String, _ size: Int, _ expected: String) {
    #expect(PageMessage.cut(text, to: size) == expected)
  }
}
