import PushPolicy
import Testing

@testable import PushCore
@testable import PushGateway

/// The decoding of a message's body to a payload.
@Suite struct SentMessageTests {
  private static let now: Int64 = 1_800_000_000
  private let parser = JSONParser()

  private func message(_ body: some Sequence<UInt8>, _ type: String?) throws(MessageRefusal) -> SentMessage {
    try SentMessage(Array(body), contentType: type, parser: parser, now: SentMessageTests.now)
  }

  private func refusal(_ body: some Sequence<UInt8>, _ type: String?) -> MessageRefusal? {
    do throws(MessageRefusal) {
      _ = try message(body, type)
      return nil
    } catch {
      return error
    }
  }

  /// The type that `curl -d` sends.
  private static let form = "application/x-www-form-urlencoded"
  private static let json = "application/json; charset=utf-8"

  struct Case: Sendable, CustomTestStringConvertible {
    var body: String
    var type: String?
    var payload: String

    init(_ type: String?, _ body: String, _ payload: String) {
      (self.type, self.body, self.payload) = (type, body, payload)
    }

    var testDescription: String { "\(type ?? "no type"): \(body)" }
  }

  static let cases: [Case] = [
    // A text.
    Case("text/plain", "Backup done\n", #"{"aps":{"alert":{"body":"Backup done"}}}"#),
    Case("Text/Plain; charset=utf-8", "title=x", #"{"aps":{"alert":{"body":"title=x"}}}"#),
    Case("text/plain", #"{"title":"x"}"#, #"{"aps":{"alert":{"body":"{\"title\":\"x\"}"}}}"#),
    Case(nil, "Backup done", #"{"aps":{"alert":{"body":"Backup done"}}}"#),
    Case(form, "Backup done", #"{"aps":{"alert":{"body":"Backup done"}}}"#),
    Case(form, "50% done + 1 & more", #"{"aps":{"alert":{"body":"50% done + 1 & more"}}}"#),
    Case(form, "exit=1", #"{"aps":{"alert":{"body":"exit=1"}}}"#),
    Case(form, "{done}", #"{"aps":{"alert":{"body":"{done}"}}}"#),
    Case("", "a\tb", #"{"aps":{"alert":{"body":"a\tb"}}}"#),
    // A form.
    Case(
      form, "title=Backup&body=Done+at%20noon&badge=3\n",
      #"{"aps":{"alert":{"title":"Backup","body":"Done at noon"},"badge":3}}"#),
    Case(form, "body=100%&sound=default", #"{"aps":{"alert":{"body":"100%"},"sound":"default"}}"#),
    Case(form, "badge=007", #"{"aps":{"badge":7}}"#),
    Case(form, "badge=three", #"{"aps":{"badge":"three"}}"#),
    Case(
      form, "link=https%3A%2F%2Fexample.com%2Fa%26b&category=DONE&thread=nightly&level=time-sensitive",
      #"{"aps":{"category":"DONE","thread-id":"nightly","interruption-level":"time-sensitive"},"#
        + #""url":"https://example.com/a&b"}"#),
    // JSON, also with the type that curl sends.
    Case(
      json, #"{"title":"Backup","subtitle":"db","body":"Done"}"#,
      #"{"aps":{"alert":{"title":"Backup","subtitle":"db","body":"Done"}}}"#),
    Case(form, #" {"body":"Done","badge":0}"#, #"{"aps":{"alert":{"body":"Done"},"badge":0}}"#),
    Case(
      json, #"{"body":"Done","badge":"3","title":null,"sound":""}"#,
      #"{"aps":{"alert":{"body":"Done"},"badge":"3"}}"#),
    Case(json, #"{"badge":2.5}"#, #"{"aps":{"badge":2.5}}"#),
  ]

  @Test(arguments: cases) func `a message becomes the payload of a push`(_ one: Case) throws {
    let found = try message(one.body.utf8, one.type)
    #expect(String(decoding: found.payload, as: UTF8.self) == one.payload)
    #expect(found.deliverAt == nil)
    #expect(throws: Never.self) { _ = try parser.payload(found.payload.span) }
  }

  @Test(
    arguments: [
      (#"{"body":"x","in":"10m"}"#, 600), (#"{"body":"x","in":90}"#, 90), (#"{"body":"x","at":1800000060}"#, 60),
      (#"{"body":"x","at":"2027-01-15T08:00:30Z"}"#, 30), ("body=x&in=1h", 3600), (#"{"body":"x","at":5}"#, nil),
      (#"{"body":"x","in":"0s"}"#, nil), (#"{"body":"x","at":"2027-01-15T08:00:30.500Z"}"#, 30),
    ] as [(String, Int64?)])
  func `a time is relative or absolute, and a past one is now`(_ body: String, _ seconds: Int64?) throws {
    #expect(try message(body.utf8, nil).deliverAt == seconds.map { SentMessageTests.now + $0 })
  }

  @Test(
    arguments: [
      ("", nil, "nothing to show"), ("\n", "text/plain", "nothing to show"), ("{}", json, "nothing to show"),
      (#"{"level":"active"}"#, json, "nothing to show"), ("body=", form, "nothing to show"),
      ("[1]", json, "not a JSON object"), ("{", json, "not JSON: line 1"), ("Done", json, "not JSON"),
      (#"{"titel":"x"}"#, json, "unknown field titel: expected title"), ("title=x&y", form, "unknown field y"),
      (#"{"attachment":"x"}"#, json, "unknown field attachment"), ("body=a&body=b", form, "body is given twice"),
      (#"{"body":"a","body":"b"}"#, json, "body is given twice"), (#"{"body":1}"#, json, "body: expected a text"),
      (#"{"title":["x"]}"#, json, "title: expected a text"),
      (#"{"badge":true}"#, json, "badge: expected a whole number"),
      (#"{"body":"x","level":"loud"}"#, json, "level: expected passive, active"),
      (#"{"body":"x","link":"javascript:alert(1)"}"#, json, "link: expected an address"),
      (#"{"body":"x","link":"https://a b"}"#, json, "link: expected an address"),
      (#"{"body":"x","at":1,"in":1}"#, json, "only one"),
      (#"{"body":"x","in":"soon"}"#, json, "in: expected a duration"),
      (#"{"body":"x","at":"tomorrow"}"#, json, "at: expected a time"), (#"{"body":"x","in":"31d"}"#, json, "30 days"),
      (#"{"body":"x","at":9223372036854775807}"#, json, "30 days"), (#"{"body":"x","at":1e300}"#, json, "at: expected"),
      ("body=%FF", form, "not valid UTF-8"),
    ] as [(String, String?, String)])
  func `a mistake is named in one line`(_ body: String, _ type: String?, _ words: String) throws {
    let found = try #require(refusal(body.utf8, type))
    #expect(found.status == 400 && found.reason == "BadMessage")
    #expect(found.message.contains(words) && !found.message.contains("\n"), "\(found.message)")
  }

  @Test func `another type, and a message whose payload is too large, are refused`() {
    #expect(refusal("x".utf8, "multipart/mixed; boundary=x")?.status == 415)
    #expect(refusal("x".utf8, "image/png")?.reason == "UnsupportedContentType")
    // Each byte is six in JSON.
    #expect(refusal([UInt8](repeating: 1, count: 4096), "text/plain")?.status == 413)
    #expect(refusal([0xFF, 0xFE] as [UInt8], "text/plain")?.status == 400)
  }

  private static let parts = "multipart/form-data; boundary=b"
  private static let start = "--b\r\nContent-Disposition: form-data; name="

  /// Returns a form with fields, and with a file if there is one.
  private static func multipart(_ fields: [(String, String)], file: String = "") -> String {
    fields.map { "\(start)\"\($0.0)\"\r\n\r\n\($0.1)\r\n" }.joined() + file + "--b--\r\n"
  }

  private static func file(_ name: String, _ content: String, field: String = "attachment") -> String {
    "\(start)\"\(field)\"; filename=\"\(name)\"\r\nContent-Type: text/plain\r\n\r\n\(content)\r\n"
  }

  @Test func `a form of parts has a file, which the payload describes`() throws {
    let body = Self.multipart([("title", "Backup"), ("badge", "3")], file: Self.file("../report.txt", "done\n"))
    let found = try message(body.utf8, Self.parts)
    let attachment = try #require(found.attachment)
    #expect(attachment.content == Array("done\n".utf8))
    #expect(AttachmentReference.isID(attachment.reference.id))
    let id = attachment.reference.id
    #expect(
      String(decoding: found.payload, as: UTF8.self)
        == #"{"aps":{"alert":{"title":"Backup"},"badge":3},"attachment":{"id":"\#(id)","name":"report.txt","#
        + #""type":"text/plain","size":5}}"#)
    #expect(throws: Never.self) { _ = try parser.payload(found.payload.span) }
    let again = try message(body.utf8, Self.parts)
    #expect(again.attachment?.reference.id != id)
  }

  @Test func `a file without a text is named, and a form of parts needs no file`() throws {
    let named = try message(Self.multipart([("title", "")], file: Self.file("a.txt", "x")).utf8, Self.parts)
    #expect(
      String(decoding: named.payload, as: UTF8.self).hasPrefix(
        #"{"aps":{"alert":{"body":"You received a file: a.txt"}}"#))
    let plain = try message(Self.multipart([("body", "x")], file: Self.file("", "")).utf8, Self.parts)
    #expect(plain.attachment == nil)
    #expect(String(decoding: plain.payload, as: UTF8.self) == #"{"aps":{"alert":{"body":"x"}}}"#)
  }

  @Test(
    arguments: [
      (multipart([("body", "x")], file: file("a", "1") + file("b", "2")), 400, "one attachment"),
      (multipart([], file: file("a", "1", field: "file")), 400, "the part with the file is attachment"),
      (multipart([("attachment", "x")]), 400, "attachment: expected a file"),
      (multipart([("titel", "x")]), 400, "unknown field"),
      (multipart([("body", "x"), ("body", "y")]), 400, "given twice"), (multipart([]), 400, "nothing to show"),
      (multipart([("body", String(repeating: "x", count: 4097))]), 413, "4096"),
      (multipart([], file: file("a", String(repeating: "x", count: Limits.maximumAttachmentSize + 1))), 413, "1 MiB"),
      (multipart([("body", String(repeating: "x", count: 4000))], file: file("a", "1")), 413, "4096"),
      ("--b", 400, "boundary"),
    ] as [(String, Int, String)])
  func `a form of parts with a mistake is refused`(_ body: String, _ status: Int, _ words: String) throws {
    let found = try #require(refusal(body.utf8, Self.parts))
    #expect(found.status == status && found.message.contains(words), "\(found.message)")
  }

  @Test(arguments: [nil, form, json, "text/plain", parts]) func `no body ends the process`(_ type: String?) {
    let pieces = [
      "&", "=", "%", "%f", "body=", "+", "{", "}", "[", "\"", "\\", ":", ",", "\u{0}", "null", "1e999", "-0",
      #"{"body":"#, #"{"badge":"#, "title=%00", #"{"a":"#,
    ]
    for piece in pieces {
      for count in [1, 2, 63, 64, 65, 1000] {
        let body = Array(String(repeating: piece, count: count).utf8.prefix(4096))
        for end in [[], [0xFF], [0xC3], Array("}".utf8), Array("\"x\"}".utf8)] as [[UInt8]] {
          guard let found = try? message(body + end, type) else { continue }
          #expect(throws: Never.self, "\(piece) \(count)") { _ = try parser.payload(found.payload.span) }
          #expect(found.payload.count <= Limits.maximumPayloadSize)
        }
      }
    }
  }

  @Test(arguments: [
    ("Done", #"{"aps":{"alert":{"body":"Done (3 times)"}}}"#),
    ("title=Backup&body=Failed", #"{"aps":{"alert":{"title":"Backup","body":"Failed (3 times)"}}}"#),
    ("title=Backup&badge=2", #"{"aps":{"alert":{"title":"Backup (3 times)"},"badge":2}}"#),
    ("badge=2", #"{"aps":{"badge":2}}"#),
  ])
  func `the number of equal messages is at the end of the text`(_ body: String, _ payload: String) throws {
    let found = try message(body.utf8, SentMessageTests.form)
    #expect(String(decoding: found.payload(times: 3), as: UTF8.self) == payload)
    #expect(found.payload(times: 1) == found.payload)
  }

  @Test func `a text without space for the number stays as it is`() throws {
    let body = [UInt8](repeating: UInt8(ascii: "x"), count: Limits.maximumPayloadSize - 32)
    let found = try message(body, "text/plain")
    #expect(found.payload(times: 1_000_000) == found.payload)
  }
}
