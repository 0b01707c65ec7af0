import Foundation
import GatewayProtocol
import PushCore
import PushPolicy
import PushTesting
import Testing

@testable import GatewayClient

/// Encrypted messages in the lines of pushes, as a device receives them.
@Suite struct WebPushOpenerTests {
  private static let topic = "com.example.news"
  private static let shown =
    #""alert":{"title":"","subtitle":"","body":"Encrypted message","buttons":["Close","View"]}"#

  private let keys: WebPushKeys
  private let tag = WebPushEnvelope.tag(of: "id")

  init() throws { keys = try WebPushKeys(name: "blog", app: Self.topic, url: "https://localhost:2197/webpush/id") }

  /// Returns the line of a push with a message that was encrypted for the keys.
  private func line(
    _ message: String, presentation: String = #"{"sound":"default",\#(WebPushOpenerTests.shown)}"#,
    app: String = WebPushOpenerTests.topic, holdsAds: Bool = false
  ) throws -> String {
    let point = try #require(Base64URL.decode(try keys.publicKey.utf8))
    let secret = try #require(Base64URL.decode(keys.auth.utf8))
    let content = try WebPushEncryption.seal(
      Array(message.utf8), for: ES256Key(publicPoint: point), secret: secret, by: .generate(),
      salt: randomBytes(count: 16))
    let envelope = WebPushEnvelope(endpoint: tag, content: content, level: .active, hasSound: true, holdsAds: holdsAds)
    return
      #"{"type":"push","seq":1,"id":"i","topic":"\#(app)","presentation":\#(presentation),"payload":"#
      + String(decoding: envelope.payload, as: UTF8.self) + "}"
  }

  private func opened(
    _ lines: [String], preferences: Preferences? = Preferences(), knows isKnown: Bool = true
  ) -> [String] {
    let (keys, tag) = (keys, tag)
    var opener = WebPushOpener { isKnown && $0 == tag ? keys : nil }
    opener.preferences = preferences
    var batch = PushBatch()
    for (place, line) in lines.enumerated() { batch.append(Array(line.utf8)[...], seq: UInt64(place + 1)) }
    let opened = opener.open(batch)
    #expect(opened.lines.map(\.seq) == batch.lines.map(\.seq))
    return opened.contents.map { String(decoding: $0, as: UTF8.self) }
  }

  private func push(_ line: String) throws -> DevicePush {
    let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)
    return try #require(DevicePush(line: Array(line.utf8), parser: parser))
  }

  @Test func `a message is shown in place of its encryption, between other pushes`() throws {
    let other = #"{"type":"push","seq":2,"id":"j","topic":"t","presentation":{},"payload":{}}"#
    let message = #"{"title":"New","body":"Line 1\nLine 2","url":"https://example.com/1","app_badge":4}"#
    let lines = opened([other, try line(message), other])
    #expect(lines[0] == other && lines[2] == other)
    let push = try push(lines[1])
    #expect((push.seq, push.id, push.topic) == (1, "i", Self.topic))
    #expect(push.presentation.alert == AlertPresentation(title: "New", body: "Line 1\nLine 2"))
    #expect(push.presentation.badge == 4 && push.presentation.sound == "default")
    #expect(push.link == "https://example.com/1")
    #expect(!lines[1].contains("web_push"))
  }

  @Test func `a line stays without the keys, for other keys, and for another app`() throws {
    let sealed = try line("Hello")
    #expect(opened([sealed], knows: false) == [sealed])
    let elsewhere = try line("Hello", app: "com.example.other")
    #expect(opened([elsewhere]) == [elsewhere])
    let other = try WebPushOpenerTests().line("Hello")
    #expect(opened([other]) == [other])
    let cut = sealed.replacing(#""content":""#, with: #""content":"AAAA"#)
    #expect(opened([cut]) == [cut])
  }

  @Test func `the decision of the gateway holds for the decrypted message`() throws {
    let center = Self.shown.replacing(#""alert":"#, with: #""centre":"#)
    let cases: [(String, String)] = [
      ("{}", "{}"), (#"{"sound":"default"}"#, #"{"sound":"default"}"#),
      ("{\(Self.shown)}", #"{"alert":{"title":"","subtitle":"","body":"Hello","buttons":["Close","View"]}}"#),
      (
        #"{\#(center),"held":{"by":"summary","relevance":0.0}}"#,
        #"{"centre":{"title":"","subtitle":"","body":"Hello","buttons":["Close","View"]},"#
          + #""held":{"by":"summary","relevance":0.0}}"#
      ),
    ]
    for (presentation, expected) in cases {
      let lines = opened([try line("Hello", presentation: presentation)])
      #expect(lines[0].contains(#","presentation":\#(expected),"#), "\(lines)")
    }
  }

  @Test func `a silent message has no sound`() throws {
    let push = try push(opened([try line(#"{"title":"a","silent":true}"#)])[0])
    #expect(push.presentation.sound == nil && push.presentation.alert?.title == "a")
  }

  @Test func `a badge needs the preference of the user`() throws {
    let message = try line(#"{"title":"a","app_badge":4}"#)
    var preferences = Preferences()
    preferences.apps[Self.topic, default: AppPreferences()].parts.badge = false
    #expect(try push(opened([message], preferences: preferences)[0]).presentation.badge == nil)
    #expect(try push(opened([message], preferences: nil)[0]).presentation.badge == nil)
    #expect(try push(opened([message])[0]).presentation.badge == 4)
  }

  @Test func `advertising has no alert and no sound where the app holds it back`() throws {
    let ad = #"{"title":"News","body":"Flash sale! Up to 70% off everything. Shop now before midnight","app_badge":1}"#
    let held = try push(opened([try line(ad, holdsAds: true)])[0])
    #expect(held.presentation == Presentation(badge: 1))
    #expect(try push(opened([try line(ad)])[0]).presentation.alert != nil)
    var preferences = Preferences()
    preferences.apps[Self.topic, default: AppPreferences()].advertising = true
    #expect(try push(opened([try line(ad, holdsAds: true)], preferences: preferences)[0]).presentation.alert != nil)
    #expect(try push(opened([try line("Hello", holdsAds: true)])[0]).presentation.alert != nil)
  }

  @Test func `the keys are stored for their owner alone, and go with the device`() throws {
    let folder = try TemporaryFolder()
    let state = StateFolder(folder.path)
    try keys.save(tag, of: "phone", in: state)
    #expect(WebPushKeys.read(tag, of: "phone", in: state) == keys)
    #expect(WebPushKeys.read(tag, of: "other", in: state) == nil)
    for wrong in ["", "../phone", "0123456789abcdef", "\(tag)/"] {
      #expect(WebPushKeys.read(wrong, of: "phone", in: state) == nil)
    }
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(state.devicesPath)/phone.\(tag).webpush")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(WebPushKeys.all(of: "phone", in: state).map(\.tag) == [tag])
    #expect(Credentials.names(in: state).isEmpty)
    Credentials.remove("phone", from: state)
    #expect(WebPushKeys.all(of: "phone", in: state).isEmpty)
  }
}
