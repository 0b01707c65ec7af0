import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway

/// The decoding of messages in the form of Gotify, and of forms.
@Suite struct GotifyMessageTests {
  private let parser = JSONParser()

  private static func request(_ query: String, _ fields: [String: String], _ body: String) -> ControlRequest {
    var request = ControlRequest(
      method: "POST", target: "/gotify/message?\(query)", body: Array(body.utf8),
      authorization: fields["authorization"], from: .remote)
    request.fields = fields
    return request
  }

  private func message(
    _ body: String, _ type: String?, query: String = ""
  ) throws(MessageRefusal) -> GotifyMessage {
    try GotifyMessage(
      GotifyMessageTests.request(query, type.map { ["content-type": $0] } ?? [:], body), parser: parser, now: 0)
  }

  private static let json = "application/json"
  private static let form = "application/x-www-form-urlencoded"
  private static let multipart = "multipart/form-data; boundary=----b7"
  private static func parts(_ fields: [(String, String)]) -> String {
    let parts = fields.map { name, value in
      "------b7\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
    }
    return parts.joined() + "------b7--\r\n"
  }

  private static let normal = #""sound":"default","interruption-level":"active""#
  private static let urgent = #""sound":"default","interruption-level":"time-sensitive""#

  static let cases: [(String, String?, String, String)] = [
    (
      #"{"title":"Backup","message":"Backup was successfully finished.","priority":5}"#, json, "",
      #"{"aps":{"alert":{"title":"Backup","body":"Backup was successfully finished."},\#(normal)}}"#
    ),
    (#"{"message":"x"}"#, "application/json; charset=utf-8", "", #"{"aps":{"alert":{"body":"x"},\#(normal)}}"#),
    (
      #"{"message":"x","priority":2}"#, json, "",
      #"{"aps":{"alert":{"body":"x"},"interruption-level":"passive"}}"#
    ),
    (#"{"message":"x","priority":10}"#, json, "", #"{"aps":{"alert":{"body":"x"},\#(urgent)}}"#),
    (#"{"message":"x","priority":-1}"#, json, "", #"{"aps":{"alert":{"body":"x"},"interruption-level":"passive"}}"#),
    (
      #"{"message":"x","extras":{"client::notification":{"click":{"url":"https://gotify.net"}},"a":1}}"#, json, "",
      #"{"aps":{"alert":{"body":"x"},\#(normal)},"url":"https://gotify.net"}"#
    ),
    (
      #"{"message":"x","extras":{"client::notification":{"click":{"url":"app:1"}}}}"#, json, "",
      #"{"aps":{"alert":{"body":"x\nLink: app:1"},\#(normal)}}"#
    ),
    (
      "title=my%20title&message=my+message&priority=8", form, "",
      #"{"aps":{"alert":{"title":"my title","body":"my message"},\#(urgent)}}"#
    ),
    (
      parts([("title", "my title"), ("message", "two\r\nlines"), ("priority", "5")]), multipart, "",
      #"{"aps":{"alert":{"title":"my title","body":"two\r\nlines"},\#(normal)}}"#
    ),
    ("", nil, "token=x&message=from+the+query", #"{"aps":{"alert":{"body":"from the query"},\#(normal)}}"#),
    (#"{"message":"x"}"#, nil, "", #"{"aps":{"alert":{"body":"x"},\#(normal)}}"#),
    // A webhook of Grafana.
    (
      #"{"status":"firing","alerts":[{"labels":{}}],"title":"[FIRING:1] CPU","message":"**Firing**"}"#, json, "",
      #"{"aps":{"alert":{"title":"[FIRING:1] CPU","body":"**Firing**"},\#(normal)}}"#
    ),
  ]

  @Test(arguments: cases) func `a message becomes the payload of a push`(
    _ body: String, _ type: String?, _ query: String, _ payload: String
  ) throws {
    let found = try message(body, type, query: query)
    #expect(String(decoding: found.sent.payload, as: UTF8.self) == payload)
    #expect(throws: Never.self) { _ = try parser.payload(found.sent.payload.span) }
  }

  @Test(
    arguments: [
      ("{}", json, 400, "'message' is required"), ("", form, 400, "'message' is required"),
      ("x", json, 400, "not JSON"),
      ("message=x&priority=high", form, 400, "priority: expected"), ("x", multipart, 400, "boundary"),
      ("x", "multipart/form-data", 400, "boundary"), ("x", "image/png", 415, "image/png"),
      (parts([("message", String(repeating: "x", count: 4096))]), multipart, 413, "4096"),
    ] as [(String, String?, Int, String)])
  func `a mistake has the form of Gotify and one line`(
    _ body: String, _ type: String?, _ status: Int, _ words: String
  ) throws {
    do throws(MessageRefusal) {
      _ = try message(body, type)
      Issue.record("accepted")
    } catch {
      let answer = GotifyError(error)
      #expect(answer.errorCode == status && !answer.error.isEmpty)
      #expect(answer.errorDescription.contains(words) && !answer.errorDescription.contains("\n"))
    }
  }

  @Test(
    arguments: [
      ("token=pgs-A", [:], "pgs-A"), ("", ["x-gotify-key": "pgs-A"], "pgs-A"),
      ("", ["authorization": "Bearer pgs-A"], "pgs-A"), ("", [:], nil),
    ] as [(String, [String: String], String?)])
  func `the token is in the query or in a field`(_ query: String, _ fields: [String: String], _ token: String?) {
    #expect(GotifyMessage.token(of: GotifyMessageTests.request(query, fields, "")) == token)
  }

  @Test func `the answer has the members of Gotify`() throws {
    let body =
      #"{"title":"a","message":"b","priority":8,"extras":{"client::notification":{"click":{"url":"https://c"}}}}"#
    let answer = controlJSON(
      GotifyAnswer(
        try message(body, GotifyMessageTests.json), id: "0000002A-0000-0000-0000-000000000000", app: AppID(row: 7),
        now: 1_800_000_000_000))
    #expect(
      String(decoding: answer, as: UTF8.self)
        == #"{"appid":7,"date":"2027-01-15T08:00:00.000Z","extras":{"client::notification":{"click":{"url":"#
        + #""https://c"}}},"id":42,"message":"b","priority":8,"title":"a"}"#)
    #expect(
      String(decoding: controlJSON(GotifyError(.unauthorized)), as: UTF8.self)
        .hasPrefix(#"{"error":"Unauthorized","errorCode":401,"errorDescription":"#))
  }

  @Test func `a multipart form has the first field of each name`() {
    func fields(_ body: String, _ type: String) -> [String: String]? {
      FormData.multipart(Array(body.utf8), contentType: type)
    }
    let type = #"multipart/form-data; charset=utf-8; boundary="b""#
    let head = "Content-Disposition: form-data"
    #expect(fields("--b\n\(head); name=a\n\n1\n--b\n\(head); name=\"a\"\n\n2\n--b--", type) == ["a": "1"])
    #expect(
      fields("before\r\n--b\r\n\(head); filename=\"c.txt\"; name=\"a\"\r\nx: y\r\n\r\n--bb\r\n\r\n--b--after", type)
        == ["a": "--bb\r\n"])
    #expect(fields("--b\r\n\(head)\r\n\r\n1\r\n--b--", type)?.isEmpty == true)
    #expect(fields("--b\r\n\(head); name=a\r\n\r\n1\r\n--b\r\n", type) == nil)
    #expect(fields("--b--", "multipart/form-data; boundary=") == nil)
    #expect(fields("--b--", "multipart/form-data; boundary=" + String(repeating: "b", count: 71)) == nil)
  }
}
