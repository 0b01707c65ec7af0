import NIOHTTP1
import Testing

@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

/// The session of a page, as values.
@Suite struct WebSessionTests {
  let session = WebSession(authority: "0123456789ABCDEF")

  func fields(_ change: (inout BrowserFields) -> Void = { _ in }) -> BrowserFields {
    var fields = BrowserFields()
    fields.site = "same-origin"
    change(&fields)
    return fields
  }

  @Test func `over TLS the cookie is bound to the host and to TLS`() {
    #expect(
      session.cookie("abc", fields())
        == "__Host-pushgateway-01234567=abc; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=34560000")
    #expect(
      session.cookie(nil, fields { $0.host = "localhost:2198" })
        == "pushgateway-01234567=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0")
  }

  @Test func `the console has a cookie of its own, for twelve hours`() {
    let console = WebSession.console(authority: "0123456789ABCDEF")
    let cookie = console.cookie("abc", fields())
    #expect(
      cookie == "__Host-pushgateway-console-01234567=abc; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200")
    #expect(session.secret(fields { $0.cookie = "__Host-pushgateway-console-01234567=abc" }) == nil)
    #expect(console.secret(fields { $0.cookie = "__Host-pushgateway-01234567=abc" }) == nil)
    #expect(console.secret(fields { $0.cookie = "__Host-pushgateway-console-01234567=abc" }) == "abc")
  }

  @Test(
    arguments: [
      ("__Host-pushgateway-01234567=abc", "abc"), ("a=b; __Host-pushgateway-01234567=abc; c=d", "abc"),
      ("a=b;__Host-pushgateway-01234567=a=b", "a=b"), ("pushgateway-01234567=abc", nil),
      ("__Host-pushgateway-ffffffff=abc", nil), ("x__Host-pushgateway-01234567=abc", nil), ("", nil), (";;=", nil),
      ("__Host-pushgateway-01234567=", nil),
    ] as [(String, String?)])
  func `the secret is that of the gateway's own cookie`(_ cookie: String, _ secret: String?) {
    #expect(session.secret(fields { $0.cookie = cookie }) == secret)
  }

  @Test(
    arguments: [
      ("GET", "same-origin", nil, nil, true), ("GET", "same-site", nil, nil, false), ("GET", nil, nil, nil, false),
      ("GET", "none", nil, nil, false), ("POST", "same-origin", "https://gateway.example", nil, true),
      ("POST", "same-origin", "https://gateway.example:2197", nil, false),
      ("POST", "same-origin", "https://evil.example", nil, false),
      ("POST", "same-origin", "http://gateway.example", nil, false),
      ("POST", "same-origin", nil, nil, false), ("POST", "same-origin", "null", nil, false),
      ("POST", "cross-site", "https://gateway.example", nil, false),
      ("POST", "same-origin", "http://localhost:2198", "localhost:2198", true),
      ("POST", "same-origin", "http://localhost:3000", "localhost:2198", false),
      ("PUT", "same-origin", "http://evil.example:2198", "localhost:2198", false),
      ("DELETE", "same-origin", "https://localhost:2198", "localhost:2198", false),
    ] as [(String, String?, String?, String?, Bool)])
  func `a session is for the gateway's own page`(
    _ method: String, _ site: String?, _ origin: String?, _ host: String?, _ isServed: Bool
  ) {
    let fields = fields {
      ($0.site, $0.origin, $0.host) = (site, origin, host)
      if host == nil { $0.authority = "gateway.example" }
    }
    var status: Int?
    do { try session.check(method, fields) } catch { status = error.status }
    #expect(status == (isServed ? nil : 403))
  }

  @Test func `a change without a host is refused`() {
    let fields = fields { $0.origin = "https://gateway.example" }
    #expect(throws: Problem.self) { try session.check("POST", fields) }
  }

  @Test func `a credential in the request takes precedence over the session`() throws {
    var request = ControlRequest(method: "GET", target: "/v1/device", authorization: "bearer own", from: .loopback)
    request.browser = fields { $0.cookie = "__Host-pushgateway-01234567=abc" }
    try request.adopt(session)
    #expect(request.bearer == "own")
    request.bearer = nil
    try request.adopt(session)
    #expect(request.bearer == "abc")
  }

  @Test func `cookies of several fields over HTTP 1 are read together`() {
    let fields = BrowserFields(
      HTTPHeaders([("host", "localhost"), ("cookie", "a=b"), ("Cookie", "pushgateway-01234567=abc")]))
    #expect(session.secret(fields) == "abc")
  }

  @Test(
    arguments: [
      (.on, [true, true, true]), (.loopback, [true, true, false]), (.off, [false, false, false]),
    ] as [(WebSetting, [Bool])])
  func `the setting decides who gets the page`(_ setting: WebSetting, _ isServed: [Bool]) {
    #expect([Connection.Peer.adminSocket, .loopback, .remote].map(setting.serves) == isServed)
  }
}
