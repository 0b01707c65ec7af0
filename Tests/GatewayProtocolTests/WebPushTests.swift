import PushPolicy
import Testing

@testable import GatewayProtocol

@Suite struct WebPushTests {
  private let parser = JSONParser()

  /// Returns the payload of a message with this JSON of its alert.
  private static func payload(
    _ alert: String?, _ others: String = #","sound":"default""#, url: String? = nil
  ) -> String {
    let shown = alert.map { #","alert":{\#($0)}"# } ?? ""
    let link = url.map { #","url":"\#($0)""# } ?? ""
    return #"{"aps":{"interruption-level":"active"\#(shown)\#(others)}\#(link)}"#
  }

  private static let both = #""title":"New","body":"Text""#

  static let messages: [(String, String)] = [
    (
      #"{"web_push":8030,"notification":{"title":"New","body":"Text","navigate":"https://example.com/1","lang":"en"}}"#,
      payload(both, url: "https://example.com/1")
    ),
    (
      #"{"web_push":8030,"notification":{"title":"New","navigate":"/1","silent":true,"app_badge":7}}"#,
      payload(#""title":"New""#, #","badge":7"#)
    ),
    (
      #"{"web_push":8030,"notification":{"title":"a"},"app_badge":0}"#,
      payload(#""title":"a""#, #","badge":0,"sound":"default""#)
    ),
    (
      #"{"title":"New","body":"Text","icon":"a.png","url":"https://example.com/2"}"#,
      payload(both, url: "https://example.com/2")
    ),
    (
      #"{"title":"New","options":{"body":"Text","data":{"url":"https://example.com/3"}}}"#,
      payload(both, url: "https://example.com/3")
    ),
    (
      #"{"notification":{"title":"New","body":"Text","data":{"url":"https://example.com/4"}}}"#,
      payload(both, url: "https://example.com/4")
    ),
    // A badge is a number.
    (#"{"title":"a","app_badge":"7"}"#, payload(#""title":"a""#)),
    (#"{"app_badge":3}"#, payload(nil, #","badge":3"#)),
    ("Hello", payload(#""body":"Hello""#)),
    (#""quoted""#, payload(#""body":"\"quoted\"""#)),
    (#"{"type":"sync"}"#, payload(#""body":"{\"type\":\"sync\"}""#)),
    ("{broken", payload(#""body":"{broken""#)),
    ("", payload(#""body":"New message""#)),
  ]

  @Test(arguments: messages) func `a message becomes the payload of a push`(_ text: String, _ payload: String) throws {
    let message = try #require(WebPushNotification.read(Array(text.utf8), parser: parser))
    let made = message.payload(level: .active, hasSound: true)
    #expect(String(decoding: made, as: UTF8.self) == payload)
    let parsed = try parser.payload(made.span)
    #expect(parsed.faults.isEmpty && parsed.violations.isEmpty)
  }

  @Test func `a message that is not a text is none`() {
    #expect(WebPushNotification.read([0xFF, 0xFE], parser: parser) == nil)
  }

  @Test(arguments: [true, false]) func `an envelope returns, and its tag ends the line`(_ holdsAds: Bool) throws {
    let tag = WebPushEnvelope.tag(of: "an id")
    #expect(tag.utf8.count == 16)
    let envelope = WebPushEnvelope(
      endpoint: tag, content: [0, 1, 255], level: .passive, hasSound: false, holdsAds: holdsAds)
    let payload = envelope.payload
    let read = try parser.parse(payload.span) { WebPushEnvelope($0) }
    #expect(read == envelope)
    #expect(try parser.payload(payload.span).faults.isEmpty)
    let line = Array(#"{"type":"push","payload":"#.utf8) + payload + Array("}".utf8)
    #expect(WebPushEnvelope.tag(endingIn: line[...]) == tag)
  }

  @Test(arguments: [
    "", "}}}", #"{"payload":{"aps":{}}}"#, #"{"a":{"endpoint":"0123456789abcdef"}}"#, #"","endpoint":""}}}"#,
  ])
  func `another line has no tag`(_ line: String) {
    #expect(WebPushEnvelope.tag(endingIn: Array(line.utf8)[...]) == nil)
  }

  @Test(arguments: [
    "{}", #"{"web_push":1}"#, #"{"web_push":{"endpoint":"a"}}"#, #"{"web_push":{"endpoint":"a","content":"!"}}"#,
  ])
  func `another payload is no envelope`(_ payload: String) throws {
    let read = try parser.parse(Array(payload.utf8).span) { WebPushEnvelope($0) }
    #expect(read == nil)
  }
}
