import Glibc
import HTTP2Transport
import NIOCore
import PushPolicy
import PushTesting
import Testing

@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The parts of a request to an event target: its address, its body, and the reading of its answer.
@Suite struct EventRequestTests {
  @Test func `an address has a host, a port and a path`() throws {
    let cases: [(text: String, host: String, port: Int, authority: String, path: String)] = [
      ("https://shop.example/events?a=b", "shop.example", 443, "shop.example", "/events?a=b"),
      ("HTTPS://shop.example", "shop.example", 443, "shop.example", "/"),
      ("https://shop.example:8443?x", "shop.example", 8443, "shop.example:8443", "/?x"),
      ("https://[2001:db8::1]:8443/", "2001:db8::1", 8443, "[2001:db8::1]:8443", "/"),
      ("http://127.0.0.1:8080/a", "127.0.0.1", 8080, "127.0.0.1:8080", "/a"),
      ("http://localhost/", "localhost", 80, "localhost", "/"), ("http://[::1]/", "::1", 80, "[::1]", "/"),
    ]
    for one in cases {
      let url = try EventURL(one.text)
      #expect(url.isSecure == one.text.lowercased().hasPrefix("https"))
      #expect(url.host == one.host && url.port == one.port)
      #expect(url.authority == one.authority && url.path == one.path)
    }
  }

  @Test(arguments: [
    "", "shop.example", "ftp://shop.example/", "https:/shop.example", "https://", "https:///path", "https://a b/",
    "https://ä.example/", "https://me:secret@shop.example/", "https://shop.example/#a", "https://shop.example:0/",
    "https://shop.example:65536/", "https://shop.example:x/", "https://[::1/", "https://[shop]/", "https://[::1]8/",
    "http://shop.example/", "http://10.0.0.1/", "http://localhost.example/", "http://[2001:db8::1]/",
    "https://a/\r\nhost: b", "https://a/" + String(repeating: "x", count: Limits.maximumEventAddressSize),
  ])
  func `any other address is refused`(_ text: String) {
    #expect(throws: RegistrationRefusal.self) { try EventURL(text) }
  }

  @Test func `no request is sent to an address that is no server's, or by http to another machine`() throws {
    let (secure, plain) = (try EventURL("https://shop.example/"), try EventURL("http://localhost/"))
    for address in ["192.0.2.1", "10.0.0.1", "127.0.0.1", "2001:db8::1", "fd00::1", "::1"] {
      #expect(secure.refusal(of: IPAddress(address)) == nil)
    }
    for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] { #expect(plain.refusal(of: IPAddress(address)) == nil) }
    let none = ["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "0.0.0.0", "::", "224.0.0.1", "ff02::1"]
    for address in none { #expect(secure.refusal(of: IPAddress(address)) != nil) }
    for address in none + ["10.0.0.1", "2001:db8::1"] { #expect(plain.refusal(of: IPAddress(address)) != nil) }
    #expect(secure.refusal(of: nil) != nil)
  }

  @Test func `the status of an answer decides, and its retry-after is the shortest pause`() {
    func outcome(_ status: Int, _ retryAfter: String? = nil) -> EventAnswer.Outcome {
      EventAnswer(status: status, retryAfter: retryAfter).outcome(at: 784_111_700)
    }
    for status in [200, 202, 204, 299] { #expect(outcome(status) == .delivered) }
    #expect(outcome(410) == .gone)
    for status in [100, 400, 404, 500] { #expect(outcome(status) == .failed("it answered \(status)", retryAfter: nil)) }
    guard case .failed(let words, nil) = outcome(301, "5") else {
      Issue.record("a redirect is a failure")
      return
    }
    #expect(words.contains("redirects are not followed"))
    let pauses: [(String, Duration?)] = [
      ("120", .seconds(120)), ("0", .zero), ("-1", .zero), ("99999999999999", .seconds(Limits.maximumEventPause)),
      ("Sun, 06 Nov 1994 08:49:37 GMT", .seconds(77)), ("Sun, 06 Nov 1994 08:48:00 GMT", .zero), ("soon", nil),
      ("", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sun, 06 Foo 1994 08:49:37 GMT", nil),
    ]
    for (text, pause) in pauses { #expect(outcome(503, text) == .failed("it answered 503", retryAfter: pause)) }
  }

  @Test func `too many open files are an error of this machine, a refused connection is one of the server`() throws {
    let post = HTTPPost(url: try EventURL("https://shop.example/"), fields: [], body: [])
    for code in [EMFILE, ENFILE] {
      let error = post.explained(IOError(errnoCode: code, reason: "socket"))
      #expect(error is DescriptorShortage && "\(error)".contains("too many open files"))
    }
    #expect(post.explained(IOError(errnoCode: ECONNREFUSED, reason: "connect")) is EventError)
  }

  private func event(_ number: Int64, detail: String = "") -> LogRecord {
    LogRecord(
      number: number, at: "2027-01-15T08:00:00.000Z", event: "suppressed", id: "1", uniqueID: nil, status: nil,
      device: "me", topic: "a.b", .words(detail))
  }

  @Test func `a body has the events as the command log prints them`() throws {
    let events = [event(1), event(2, detail: "rule \"Q1\"")]
    let (bytes, count) = EventBody.make(events, target: "shop", skipped: 7)
    #expect(count == 2)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(
      text.hasPrefix(
        #"{"type":"delivery.events","timestamp":"2027-01-15T08:00:00.000Z","data":{"target":"shop","skipped":7,"#))
    struct Body: Decodable {
      struct Events: Decodable { var events: [LogRecord] }
      var data: Events
    }
    let read = try decodeJSON(Body.self, from: bytes).data.events
    #expect(read.map(\.number) == [1, 2] && read.map(\.event) == ["suppressed", "suppressed"])
    let test = EventBody.test(target: "shop", at: 0)
    #expect(try decodeJSON(Body.self, from: test).data.events.count == 1)
  }

  @Test func `a body has as many events as fit, at least one`() {
    let long = String(repeating: "x", count: 100_000)
    #expect(EventBody.make([event(1, detail: long), event(2, detail: long)], target: "a", skipped: 0).count == 1)
    let small = (0..<Int64(Limits.maximumEventBatch)).map { event($0, detail: String(repeating: "x", count: 1000)) }
    let (bytes, count) = EventBody.make(small, target: "a", skipped: 0)
    #expect(bytes.count <= Limits.maximumEventBatchSize && (1..<small.count).contains(count))
    let huge = event(1, detail: String(repeating: long, count: 4))
    #expect(EventBody.make([huge, event(2)], target: "a", skipped: 0).count == 1)
  }
}
