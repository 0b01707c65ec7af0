import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway

/// The decoding of messages in the form of ntfy. The examples are those of ntfy's page on publishing.
@Suite struct NtfyMessageTests {
  private static let now: Int64 = 1_800_000_000
  private let parser = JSONParser()

  static func request(_ query: String, _ fields: [String: String], _ body: String) -> ControlRequest {
    var request = ControlRequest(
      method: "POST", target: "/ntfy/backup?\(query)", body: Array(body.utf8), authorization: nil, from: .remote)
    request.fields = fields
    return request
  }

  private func message(
    _ body: String, _ fields: [String: String] = [:], query: String = "", topic: String? = "backup"
  ) throws(MessageRefusal) -> NtfyMessage {
    try NtfyMessage(
      NtfyMessageTests.request(query, fields, body), topic: topic, parser: parser, now: NtfyMessageTests.now)
  }

  private func refusal(
    _ body: String, _ fields: [String: String] = [:], query: String = "", topic: String? = "backup"
  ) -> MessageRefusal? {
    do throws(MessageRefusal) {
      _ = try message(body, fields, query: query, topic: topic)
      return nil
    } catch {
      return error
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var body: String
    var fields: [String: String]
    var query: String
    var payload: String

    init(_ body: String, _ fields: [String: String] = [:], query: String = "", becomes payload: String) {
      (self.body, self.fields, self.query, self.payload) = (body, fields, query, payload)
    }

    var testDescription: String { "\(fields) \(query) \(body)" }
  }

  private static let normal = #""sound":"default","interruption-level":"active""#
  private static let urgent = #""sound":"default","interruption-level":"time-sensitive""#
  private static let quiet = #""interruption-level":"passive""#

  static let cases: [Case] = [
    Case("Backup successful 😀", becomes: #"{"aps":{"alert":{"body":"Backup successful 😀"},\#(normal)}}"#),
    Case("", becomes: #"{"aps":{"alert":{"body":"triggered"},\#(normal)}}"#),
    Case(
      "Remote access to phils-laptop detected. Act right away.",
      ["title": "Unauthorized access detected", "priority": "urgent", "tags": "warning,skull"],
      becomes: #"{"aps":{"alert":{"title":"⚠️ 💀 Unauthorized access detected","#
        + #""body":"Remote access to phils-laptop detected. Act right away."},\#(urgent)}}"#),
    // Tags without an emoji are after the text, and without a title the emoji is before the text.
    Case(
      "Backup failed", ["x-tags": "mailsrv13, warning,daily-backup"],
      becomes: #"{"aps":{"alert":{"body":"⚠️ Backup failed\nTags: mailsrv13, daily-backup"},\#(normal)}}"#),
    Case("x", ["priority": "1"], becomes: #"{"aps":{"alert":{"body":"x"},\#(quiet)}}"#),
    Case("x", ["prio": "low"], becomes: #"{"aps":{"alert":{"body":"x"},\#(quiet)}}"#),
    Case("x", ["p": "4"], becomes: #"{"aps":{"alert":{"body":"x"},\#(urgent)}}"#),
    Case("x", ["priority": "u=1, i"], becomes: #"{"aps":{"alert":{"body":"x"},\#(normal)}}"#),
    // The parameters of the query, also without a body.
    Case(
      "", query: "message=Webhook+triggered&priority=high&tags=warning,cd&t=a%26b",
      becomes: #"{"aps":{"alert":{"title":"⚠️ 💿 a&b","body":"Webhook triggered"},\#(urgent)}}"#),
    Case("body", ["message": "field"], becomes: #"{"aps":{"alert":{"body":"body"},\#(normal)}}"#),
    Case("", ["message": #"two\nlines"#], becomes: #"{"aps":{"alert":{"body":"two\nlines"},\#(normal)}}"#),
    Case("x", ["title": "a"], query: "title=b", becomes: #"{"aps":{"alert":{"title":"a","body":"x"},\#(normal)}}"#),
    Case(
      "x", ["title": "=?UTF-8?B?8J+HqfCfh6o=?= =?utf-8?q?f=C3=BCr_dich?= da"],
      becomes: #"{"aps":{"alert":{"title":"🇩🇪für dich da","body":"x"},\#(normal)}}"#),
    // The link: the click, else the first view; other addresses are lines.
    Case(
      "New messages on Reddit", ["click": "https://www.reddit.com/message/messages"],
      becomes: #"{"aps":{"alert":{"body":"New messages on Reddit"},\#(normal)},"#
        + #""url":"https://www.reddit.com/message/messages"}"#),
    Case(
      "You left the house. Turn down the A/C?",
      [
        "actions": "view, Open portal, https://home.nest.com/, clear=true; "
          + #"http, Turn down, https://api.nest.com/, body='{"temperature": 65}'"#
      ],
      becomes: #"{"aps":{"alert":{"body":"You left the house. Turn down the A/C?"},\#(normal)},"#
        + #""url":"https://home.nest.com/"}"#),
    Case(
      "x", ["click": "mailto:a@example.com", "x-actions": "view, A, https://a.example; view, B, geo:0"],
      becomes: #"{"aps":{"alert":{"body":"x\nLink: mailto:a@example.com\nB: geo:0"},\#(normal)},"#
        + #""url":"https://a.example"}"#),
    Case(
      "x", ["attach": "https://example.com/a.jpg", "filename": "a.jpg", "icon": "https://example.com/i.png"],
      becomes: #"{"aps":{"alert":{"body":"x\nAttachment: https://example.com/a.jpg"},\#(normal)}}"#),
    // A webhook of Grafana.
    Case(
      #"{"status":"resolved","alerts":[{}],"title":"[RESOLVED] Load","message":"**Resolved**"}"#,
      query: "template=grafana",
      becomes: #"{"aps":{"alert":{"title":"✅ [RESOLVED] Load","body":"**Resolved**"},\#(normal)}}"#),
  ]

  @Test(
    arguments: [
      (["filename": "a.jpg", "message": "Look"], "", "a.jpg", "image/jpeg", "Look"),
      (["x-filename": "../b"], "", "b", "application/octet-stream", "You received a file: b"),
      ([:], "f=c.txt&title=T", "c.txt", "text/plain", "You received a file: c.txt"),
      (["file": "=?utf-8?q?=C3=A4?=", "content-type": "image/png"], "", "ä", "image/png", "You received a file: ä"),
    ] as [([String: String], String, String, String, String)])
  func `with the name of a file the body is the file`(
    _ fields: [String: String], _ query: String, _ name: String, _ type: String, _ text: String
  ) throws {
    var request = NtfyMessageTests.request(query, fields, "")
    request.body = [0xFF, 0xD8]
    let found = try NtfyMessage(request, topic: "backup", parser: parser, now: 0)
    let attachment = try #require(found.sent.attachment)
    #expect(attachment.content == [0xFF, 0xD8])
    #expect(attachment.reference.name == name && attachment.reference.type.rawValue == type)
    #expect(attachment.reference.size == 2 && found.message == text)
  }

  @Test(arguments: cases) func `a request to a topic becomes the payload of a push`(_ one: Case) throws {
    let found = try message(one.body, one.fields, query: one.query)
    #expect(String(decoding: found.sent.payload, as: UTF8.self) == one.payload)
    #expect(found.sent.deliverAt == nil && found.topic == "backup")
    #expect(throws: Never.self) { _ = try parser.payload(found.sent.payload.span) }
  }

  private static let published = #"""
    {"topic":"backup","message":"Disk space is low at 5.1 GB","title":"Low disk space alert","tags":["warning","cd"],\#
    "priority":4,"attach":"https://filesrv.lan/space.jpg","filename":"diskspace.jpg",\#
    "click":"https://homecamera.lan/xasds1h2xsSsa/",\#
    "actions":[{"action":"view","label":"Admin panel","url":"https://filesrv.lan/admin"}]}
    """#
  private static let publishedPayload = #"""
    {"aps":{"alert":{"title":"⚠️ 💿 Low disk space alert","body":"Disk space is low at 5.1 GB\n\#
    Admin panel: https://filesrv.lan/admin\nAttachment: https://filesrv.lan/space.jpg"},\#
    "sound":"default","interruption-level":"time-sensitive"},"url":"https://homecamera.lan/xasds1h2xsSsa/"}
    """#
  /// A message of Home Assistant, with all members.
  private static let homeAssistant = #"""
    {"topic":"backup","message":"Done","title":null,"tags":[],"priority":null,"actions":[],"click":null,"attach":null,\#
    "markdown":false,"icon":null,"filename":null,"delay":null,"email":null,"call":null,"sequence_id":null}
    """#

  static let documents: [(String, [String: String], String)] = [
    (published, [:], publishedPayload),
    (homeAssistant, [:], #"{"aps":{"alert":{"body":"Done"},\#(normal)}}"#),
    // apprise: a body with the texts, and fields with the rest.
    (
      #"{"topic":"backup","title":"a","message":"b"}"#, ["x-priority": "5", "x-tags": "warning"],
      #"{"aps":{"alert":{"title":"⚠️ a","body":"b"},\#(urgent)}}"#
    ),
    (#"{"topic":"backup","priority":0}"#, [:], #"{"aps":{"alert":{"body":"triggered"},\#(normal)}}"#),
  ]

  @Test(arguments: documents) func `a JSON object becomes the payload of a push`(
    _ body: String, _ fields: [String: String], _ payload: String
  ) throws {
    let found = try message(body, fields, topic: nil)
    #expect(String(decoding: found.sent.payload, as: UTF8.self) == payload)
    #expect(found.topic == "backup")
  }

  @Test(
    arguments: [
      ("30m", 1800), ("2 hours", 7200), ("1h30m", 5400), ("3 days", 259_200), ("10s", 10), ("1800000060", 60),
      ("5", nil), ("1 min", 60),
    ] as [(String, Int64?)])
  func `a delay schedules the message`(_ text: String, _ seconds: Int64?) throws {
    let time = seconds.map { NtfyMessageTests.now + $0 }
    #expect(try message("x", ["delay": text]).sent.deliverAt == time)
    #expect(try message("x", query: "in=" + text.replacing(" ", with: "+")).sent.deliverAt == time)
    #expect(try message(#"{"topic":"t","delay":"\#(text)"}"#, topic: nil).sent.deliverAt == time)
  }

  @Test(
    arguments: [
      ("", ["priority": "6"], "", 40_007, "priority: expected 1 to 5"), ("", ["delay": "soon"], "", 40_004, "delay"),
      ("", ["delay": "tomorrow, 10am"], "", 40_004, "delay"), ("", [:], "in=31d", 40_000, "30 days"),
      ("", ["delay": "99999999999999999999d"], "", 40_004, "delay"),
      ("", ["delay": "9999999999999999d"], "", 40_004, "delay"),
      ("", ["actions": "call, A, https://a"], "", 40_018, "unknown action call"),
      ("", ["actions": "view, A"], "", 40_018, "has no url"), ("", ["actions": "view"], "", 40_018, "no label"),
      ("", ["actions": "view, A, https://a, b"], "", 40_018, "unknown text b"),
      ("", ["actions": "view, 'A"], "", 40_018, "no end"),
      ("", ["actions": "view, 'A' b"], "", 40_018, "after a quoted"),
      ("", ["actions": "[{}"], "", 40_018, "not JSON"),
      ("", ["actions": "view,A,x;view,A,x;view,A,x;view,A,x"], "", 40_018, "at most 3"),
      ("", ["email": "a@example.com"], "", 40_001, "e-mail"), ("", ["x-call": "yes"], "", 40_032, "phone calls"),
      ("{}", [:], "tpl=github", 40_000, "expected grafana"),
      ("x", [:], "template=grafana", 40_017, "not JSON"), ("{}", [:], "template=grafana", 40_017, "invalid webhook"),
    ] as [(String, [String: String], String, Int, String)])
  func `a mistake has the number of ntfy and one line`(
    _ body: String, _ fields: [String: String], _ query: String, _ code: Int, _ words: String
  ) throws {
    let error = NtfyError(try #require(refusal(body, fields, query: query)))
    #expect(error.code == code && error.http == 400)
    #expect(error.error.contains(words) && !error.error.contains("\n"), "\(error.error)")
  }

  @Test(arguments: [
    ("", 40_017), ("[]", 40_017), ("x", 40_017), (#"{"message":"x"}"#, 40_009), (#"{"topic":5}"#, 40_009),
    (#"{"topic":"t","title":{}}"#, 40_017), (#"{"topic":"t","priority":9}"#, 40_007),
    (#"{"topic":"t","actions":[{"action":"view","label":"A"}]}"#, 40_018),
  ])
  func `a wrong JSON object has the number of ntfy`(_ body: String, _ code: Int) throws {
    #expect(NtfyError(try #require(refusal(body, topic: nil))).code == code)
  }

  @Test func `a text that is too large or not UTF-8 is refused`() {
    #expect(refusal(String(repeating: "x", count: 4096))?.status == 413)
    var request = NtfyMessageTests.request("", [:], "")
    request.body = [0xFF, 0xD8]
    do throws(MessageRefusal) {
      _ = try NtfyMessage(request, topic: "backup", parser: parser, now: 0)
      Issue.record("accepted")
    } catch {
      #expect(NtfyError(error).code == 40_011)
    }
  }

  @Test(
    arguments: [
      (["authorization": "Bearer pgs-A"], "", "pgs-A"), (["authorization": "bearer pgs-A"], "", "pgs-A"),
      // `user:pgs-A`, `:pgs-A` and `pgs-A:`
      (["authorization": "Basic dXNlcjpwZ3MtQQ=="], "", "pgs-A"), (["authorization": "Basic OnBncy1B"], "", "pgs-A"),
      (["authorization": "Basic cGdzLUE6"], "", "pgs-A"),
      // `Basic OnBncy1B` and `Bearer pgs-A`
      ([:], "auth=QmFzaWMgT25CbmN5MUI", "pgs-A"), ([:], "auth=QmVhcmVyIHBncy1B", "pgs-A"), ([:], "", nil),
      (["authorization": "Basic ???"], "", nil), (["authorization": "pgs-A"], "", nil), ([:], "auth=%FF", nil),
    ] as [([String: String], String, String?)])
  func `the token is in a field or in the query`(_ fields: [String: String], _ query: String, _ token: String?) {
    #expect(NtfyMessage.token(of: NtfyMessageTests.request(query, fields, "")) == token)
  }

  @Test func `the actions of ntfy's short form`() throws {
    func list(_ text: String) throws -> [NtfyAction] { try NtfyAction.list(text, parser: parser) }
    #expect(
      try list(#"action=http, label="Look ma, \"quotes\"; too", url=https://a/?b=c"#)
        == [NtfyAction(kind: "http", label: #"Look ma, "quotes"; too"#, url: "https://a/?b=c")])
    #expect(
      try list("broadcast, Take picture, extras.cmd=pic, extras.camera=front; copy, Copy, value=1")
        == [NtfyAction(kind: "broadcast", label: "Take picture"), NtfyAction(kind: "copy", label: "Copy")])
    #expect(
      try list(#"[{"action":"VIEW","label":"Open","url":"https://a","clear":true}]"#)
        == [NtfyAction(kind: "view", label: "Open", url: "https://a")])
    #expect(try list("").isEmpty)
  }

  @Test(arguments: [
    ("plain", "plain"), ("=?UTF-8?Q?a=20b_c?=", "a b c"), ("=?utf-8?b?w7w=?= x", "ü x"),
    ("=?utf-8?b?w7w", "=?utf-8?b?w7w"),
    ("=?iso-8859-1?q?=FC?=", "=?iso-8859-1?q?=FC?="), ("=?utf-8?x?a?=", "=?utf-8?x?a?="), ("a=b ?= c", "a=b ?= c"),
    ("=?utf-8?b?%?=", "=?utf-8?b?%?="),
  ])
  func `an encoded word is decoded, and all other text stays`(_ text: String, _ decoded: String) {
    #expect(EncodedWords.decoded(text) == decoded)
  }

  @Test func `the answer has the members of ntfy`() throws {
    let found = try message(
      "Disk is full", ["title": "Alert", "tags": "warning,db", "priority": "high", "click": "https://a.example"])
    let answer = controlJSON(NtfyAnswer(found, id: "ID", now: NtfyMessageTests.now))
    #expect(
      String(decoding: answer, as: UTF8.self)
        == #"{"click":"https://a.example","event":"message","expires":1802592000,"id":"ID","message":"Disk is full","#
        + #""priority":4,"tags":["warning","db"],"time":1800000000,"title":"Alert","topic":"backup"}"#)
    let error = controlJSON(NtfyError(.unauthorized))
    #expect(String(decoding: error, as: UTF8.self).hasPrefix(#"{"code":40101,"error":"missing or wrong token"#))
  }

  @Test func `the answer describes the file that the gateway has`() throws {
    var request = NtfyMessageTests.request("", ["filename": "../a.jpg", "delay": "30m"], "")
    request.body = [0xFF, 0xD8]
    let found = try NtfyMessage(request, topic: "backup", parser: parser, now: NtfyMessageTests.now)
    let id = try #require(found.sent.attachment).reference.id
    let text = String(decoding: controlJSON(NtfyAnswer(found, id: "ID", now: NtfyMessageTests.now)), as: UTF8.self)
    #expect(
      text.hasPrefix(
        #"{"attachment":{"expires":1800088200,"name":"a.jpg","size":2,"type":"image/jpeg","#
          + #""url":"/v1/device/attachments/\#(id)"},"event":"#))
  }

  @Test(
    arguments: [
      ("https://example.com/space%20a.jpg?b=/c", nil, "space a.jpg"), ("https://example.com/a/", nil, "attachment"),
      ("https://example.com", nil, "attachment"), ("https://example.com/a.jpg", "=?utf-8?q?=C3=A4?=", "ä"),
    ] as [(String, String?, String)])
  func `the answer describes a file at an address`(_ address: String, _ name: String?, _ expected: String) throws {
    var fields = ["attach": address]
    fields["filename"] = name
    let attachment = try #require(try message("x", fields).attachment)
    #expect(attachment.name == expected && attachment.url == address)
    #expect(attachment.type == nil && attachment.size == nil && attachment.expires == nil)
    let text = String(decoding: controlJSON(attachment), as: UTF8.self)
    #expect(!text.contains("expires") && !text.contains("size"))
  }

  @Test func `a message without a file has no attachment in its answer`() throws {
    #expect(try message("x", ["filename": "", "attach": "mailto:a@example.com"]).attachment == nil)
    #expect(try message("x").attachment == nil)
  }
}
