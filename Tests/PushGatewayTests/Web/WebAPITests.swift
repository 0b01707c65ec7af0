import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The routes of the device in a browser, over HTTP/2.
@Suite(.timeLimit(.minutes(5))) struct WebAPITests {
  /// The fields of the gateway's own page; tests connect to the authority `admin`.
  static let own: [(HeaderName, String)] = [(.origin, "https://admin"), (.fetchSite, "same-origin")]

  @Test func `the page, its files and nothing else are served`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      for path in [
        "/phone", "/phone/", "/join", "/phone/app.js", "/phone/style.css", "/console", "/console/app.js",
        "/console/style.css",
      ] {
        let answer = try await client.request("GET", path)
        #expect(answer.status == 200 && !answer.body.isEmpty, "\(path)")
      }
      for path in [
        "/phone/nothing", "/phone/..%2fapp.js", "/phone/a/b", "/console/worker.js", "/console/..%2fphone%2fapp.js",
      ] {
        #expect(try await client.request("GET", path).status == 404, "\(path)")
      }
      #expect(try await client.request("POST", "/phone").status == 405)
    }
  }

  @Test func `each file has the fields that restrict it, a type and a validator`() throws {
    #expect(WebFiles.names.contains("phone/index.html") && WebFiles.names.contains("console/index.html"))
    for name in WebFiles.names {
      let response = try #require(WebFiles.response(name, to: BrowserFields()))
      let fields = Dictionary(uniqueKeysWithValues: response.fields.map { ("\($0.name)", $0.value) })
      #expect(fields["content-security-policy"]?.contains("unsafe") == false)
      #expect(fields["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
      #expect(fields["x-content-type-options"] == "nosniff" && fields["referrer-policy"] == "no-referrer")
      #expect("\(response.contentType)" != "application/octet-stream", "\(name)")
      var browser = BrowserFields()
      browser.known = fields["etag"]
      let again = try #require(WebFiles.response(name, to: browser))
      #expect(again.status == 304 && again.body.isEmpty)
      #expect(again.fields.map { "\($0.name)" } == response.fields.map { "\($0.name)" })
    }
    #expect(WebFiles.response("nothing", to: BrowserFields()) == nil)
  }

  @Test(
    arguments: [
      ("push.example.org", true), ("push.example.org:2197", true), ("192.0.2.1:2197", true),
      ("localhost", false), ("pushgateway.localhost:2197", false), ("127.0.0.1:2197", false), ("[::1]:2197", false),
    ] as [(String, Bool)])
  func `browsers use HTTPS only for a name that is not this machine's own`(_ authority: String, _ isExpected: Bool) {
    var browser = BrowserFields()
    browser.authority = authority
    func age() -> String? {
      WebSecurity.fields(browser).first { "\($0.name)" == "strict-transport-security" }?.value
    }
    #expect(age() == (isExpected ? "max-age=31536000" : nil))
    // Over HTTP/1.1, which has no TLS, the field is invalid (RFC 6797 §7.2).
    (browser.authority, browser.host) = (nil, authority)
    #expect(age() == nil)
  }

  @Test func `the worker begins with the version of the page`() throws {
    let worker = try #require(WebFiles.response("phone/worker.js", to: BrowserFields()))
    #expect(String(decoding: worker.body, as: UTF8.self).hasPrefix("const version = \""))
  }

  @Test(arguments: ["phone", "console"])
  func `a page contains its style sheet`(_ name: String) throws {
    let page = try #require(WebFiles.response(name + "/index.html", to: BrowserFields()))
    let style = try #require(WebFiles.response(name + "/style.css", to: BrowserFields()))
    let text = String(decoding: page.body, as: UTF8.self)
    #expect(text.contains("<style>" + String(decoding: style.body, as: UTF8.self) + "</style>"))
    #expect(!text.contains("stylesheet"))
  }

  @Test func `a browser joins once by an invitation, and its cookie is the device's credential`() async throws {
    try await TestGateway.run(enrollment: .invitation) { gateway in
      let code = try await gateway.registrations.invite(InvitationTerms(expires: .max)).secret
      let body = Array(#"{"name":"browser","invitation":"\#(code)"}"#.utf8)
      let api = TestGateway.web(gateway.parts, gateway.admin)
      guard case .found(let route, _) = api.router.match(method: "POST", path: "/phone/session") else {
        Issue.record("there is no route for sessions")
        return
      }
      var request = ControlRequest(
        method: "POST", target: "/phone/session", body: body, authorization: nil, from: .adminSocket)
      let bare = request
      await #expect(throws: Problem.self) { try await route.serve(bare) }
      (request.browser.origin, request.browser.site) = ("https://localhost", "same-origin")
      request.browser.authority = "localhost"
      let joining = request
      let response = try await route.serve(joining)
      #expect(response.status == 201)
      let field = response.fields.first { "\($0.name)" == "set-cookie" }
      let cookie = try #require(field?.value)
      let pair = String(cookie.prefix { $0 != ";" })
      let secret = String(pair.drop { $0 != "=" }.dropFirst())
      #expect(!secret.isEmpty)
      #expect(!String(decoding: response.body, as: UTF8.self).contains(secret))
      // The invitation is used up, and the page has no permission of the admin socket.
      await #expect(throws: (any Error).self) { try await route.serve(joining) }
      let client = try await gateway.client()
      let own = WebAPITests.own + [(.cookie, pair)]
      #expect(try await client.request("GET", "/v1/device", own).status == 200)
      #expect(try await client.request("GET", "/v1/device", [(.cookie, pair)]).status == 403)
    }
  }

  @Test func `signing out ends the session everywhere, and the device stays`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll("browser")
      let client = try await gateway.client()
      let cookie: [(HeaderName, String)] = [(.cookie, "__Host-pushgateway-01234567=\(device.secret)")]
      let own = WebAPITests.own + cookie
      #expect(try await client.request("DELETE", "/phone/session", cookie).status == 403)
      #expect(try await client.request("GET", "/v1/device", own).status == 200)
      let answer = try await client.request("DELETE", "/phone/session", own)
      #expect(answer.status == 204)
      #expect(try await client.request("GET", "/v1/device", own).status == 401)
      #expect(try gateway.registrations.device(named: "browser").name == "browser")
      // The session has ended already.
      #expect(try await client.request("DELETE", "/phone/session", own).status == 204)
    }
  }

  @Test func `a report is answered with the action that counts`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let client = try await gateway.client()
      let unknown = #"{"type":"answer","id":"\#(SampleRequest.id)","action":"view"}"#
      let lines = Array("\(unknown)\nnot a line\n\n{}\n".utf8)
      let answer = try await client.request("POST", "/v1/device/reports", [device.authorization], body: lines)
      #expect(answer.status == 200)
      let id = try #require(APNSID("\(SampleRequest.id)"))
      #expect(String(decoding: answer.body, as: UTF8.self) == "{\"type\":\"answered\",\"id\":\"\(id)\"}\n")
    }
  }
}
