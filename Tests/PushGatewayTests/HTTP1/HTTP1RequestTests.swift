import NIOHTTP1
import Testing

@testable import HTTP2Transport
@testable import PushGateway

/// The checks of the head of an HTTP/1.1 request, without a socket.
@Suite struct HTTP1RequestTests {
  func request(
    _ fields: [(String, String)] = [("host", "127.0.0.1:2198")], method: HTTPMethod = .GET, uri: String = "/metrics",
    version: HTTPVersion = .http1_1, isLoopback: Bool = true
  ) -> HTTP1Request {
    HTTP1Request(
      HTTPRequestHead(version: version, method: method, uri: uri, headers: HTTPHeaders(fields)), isLoopback: isLoopback)
  }

  /// Returns the status of a refusal, or nil if the request is served.
  func refusal(_ request: HTTP1Request) -> Int? {
    if case .refused(let problem) = request { problem.status } else { nil }
  }

  func served(_ request: HTTP1Request) throws -> ControlRequest {
    guard case .served(let request, _) = request else { throw RequestIsRefused() }
    return request
  }

  struct RequestIsRefused: Error {}

  @Test func `a request is read as it came`() throws {
    let request = try served(
      self.request(
        [("Host", "localhost"), ("Authorization", "Bearer abc"), ("Accept", "text/plain"), ("Accept", "x/y")],
        uri: "/metrics?a=%20b"))
    #expect(request.method == "GET")
    #expect(request.path == "/metrics")
    #expect(request.query == ["a": " b"])
    #expect(request.bearer == "abc")
    #expect(request.accept == "text/plain,x/y")
    #expect(request.peer == .loopback)
  }

  @Test(arguments: [
    ("localhost", true), ("LOCALHOST:2198", true), ("push.localhost", true), ("127.0.0.1", true),
    ("127.8.9.255:80", true), ("[::1]", true), ("[::1]:2198", true), ("[::1]evil.example", false), ("[::1", false),
    ("example.com", false), ("127.0.0.1.example.com", false), ("localhost.example.com", false), ("127.0.0.256", false),
    ("127.0.0", false), ("10.0.0.1", false), ("[::2]:2198", false), ("xlocalhost", false), ("", false),
  ])
  func `whoever says another name is a stranger, for a name server may have sent it`(_ host: String, _ isLocal: Bool)
    throws
  {
    #expect(try served(request([("host", host)])).peer == (isLocal ? .loopback : .remote))
    #expect(try served(request([("host", host)], isLoopback: false)).peer == .remote)
  }

  @Test(arguments: ["forwarded", "X-Forwarded-For", "via"])
  func `whoever comes by a proxy is a stranger`(_ name: String) throws {
    #expect(try served(request([("host", "localhost"), (name, "10.0.0.1")])).peer == .remote)
  }

  @Test func `a request of HTTP 1_0 needs no host, and one of 1_1 exactly one`() throws {
    #expect(try served(request([], version: .http1_0)).peer == .loopback)
    #expect(refusal(request([])) == 400)
    #expect(refusal(request([("host", "localhost"), ("host", "localhost")])) == 400)
    #expect(refusal(request([("host", "localhost"), ("host", "x")], version: .http1_0)) == 400)
  }

  @Test(arguments: [
    ("content-length", "1", 413), ("content-length", "x", 413), ("transfer-encoding", "chunked", 413),
    ("upgrade", "h2c", 400), ("origin", "https://example.com", 403), ("origin", "null", 403),
  ])
  func `a body, another protocol and another site's page are refused`(_ name: String, _ value: String, _ status: Int) {
    #expect(refusal(request([("host", "localhost"), (name, value)])) == status)
  }

  @Test func `a body of no bytes is none`() {
    #expect(refusal(request([("host", "localhost"), ("content-length", "0")])) == nil)
    #expect(refusal(request([("host", "localhost"), ("content-length", "0"), ("content-length", "5")])) == 413)
  }

  @Test(arguments: ["*", "localhost:80", "http://localhost/metrics", ""])
  func `what is no path is refused`(_ uri: String) { #expect(refusal(request(uri: uri)) == 400) }

  @Test func `CONNECT is refused, and HEAD is GET without a body`() throws {
    #expect(refusal(request(method: .CONNECT, uri: "localhost:80")) == 400)
    guard case .served(let head, let isHead) = request(method: .HEAD) else { throw RequestIsRefused() }
    #expect(head.method == "GET" && isHead)
    #expect(try served(request(method: .POST)).method == "POST")
  }

  @Test(
    arguments: [
      ([("content-length", "10")], nil), ([("content-length", "11")], 413), ([("content-length", "x")], 413), ([], nil),
      ([("transfer-encoding", "chunked")], 411),
    ] as [([(String, String)], Int?)])
  func `a body is accepted up to its maximum size`(_ fields: [(String, String)], _ status: Int?) {
    let head = HTTPRequestHead(
      version: .http1_1, method: .POST, uri: "/test/v1/expect", headers: HTTPHeaders([("host", "localhost")] + fields))
    #expect(refusal(HTTP1Request(head, isLoopback: true, maximumBodySize: 10)) == status)
  }

  @Test(
    arguments: [
      ("/hooks/code", 256 << 10, nil), ("/hooks/code?token=x", 256 << 10, nil), ("/hooks/code", (256 << 10) + 1, 413),
      ("/ntfy/backup", 32 << 10, nil), ("/ntfy/backup", (32 << 10) + 1, 413), ("/send/backup", 4097, 413),
      ("/hooks", 1, 413),
    ] as [(String, Int, Int?)])
  func `a body of a message is accepted up to the maximum size of its form`(
    _ uri: String, _ size: Int, _ status: Int?
  ) {
    let head = HTTPRequestHead(
      version: .http1_1, method: .POST, uri: uri,
      headers: HTTPHeaders([("host", "localhost"), ("content-length", "\(size)")]))
    #expect(refusal(HTTP1Request(head, isLoopback: true, servesMessages: true)) == status)
    #expect(refusal(HTTP1Request(head, isLoopback: true)) == 413)
  }
}
