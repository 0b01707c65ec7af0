import PushTesting
import Testing

@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The session of the console, and the API for administrators that it opens.
@Suite(.timeLimit(.minutes(5))) struct ConsoleAPITests {
  /// Returns a request as the console on this machine sends it.
  static func request(_ method: String, _ path: String, _ secret: String? = nil, body: String = "") -> ControlRequest {
    var request = HTTP1PageTests.request(method, path, nil)
    request.body = Array(body.utf8)
    if let secret { request.browser.cookie = "pushgateway-console-01234567=\(secret)" }
    return request
  }

  /// Returns the text of a new session, from a link that a route has made.
  static func signIn(
    _ gateway: TestGateway, _ administrator: Administrator, bearer: String? = nil
  ) async throws -> String {
    let routes = HTTP1PageTests.routes(gateway)
    var asked = ControlRequest(
      method: "POST", target: "/admin/v1/console/links", body: Array("{}".utf8),
      authorization: bearer.map { "bearer " + $0 }, from: .remote)
    asked.administrator = administrator
    guard case .found(let route, _) = gateway.admin.router.match(method: "POST", path: asked.path) else {
      throw Problem.notFound("there is no route for links")
    }
    let response = try await route.serve(asked)
    let made = try decodeJSON(CreatedConsoleLink.self, from: response.body)
    #expect(made.role == administrator.role.rawValue)
    let answer = await routes.answer(request("POST", "/console/session", body: #"{"code":"\#(made.code)"}"#))
    #expect(answer.response.status == 201)
    let field = answer.response.fields.first { "\($0.name)" == "set-cookie" }
    let cookie = try #require(field?.value)
    #expect(cookie.contains("; HttpOnly; SameSite=Strict; Max-Age=43200"))
    return String(cookie.prefix { $0 != ";" }.drop { $0 != "=" }.dropFirst())
  }

  static let socket = Administrator(role: .admin, credential: .socket(user: 0))

  @Test func `the session opens the API for administrators, for its own page alone`() async throws {
    try await TestGateway.run { gateway in
      let routes = HTTP1PageTests.routes(gateway)
      let secret = try await ConsoleAPITests.signIn(gateway, ConsoleAPITests.socket)
      func status(_ request: ControlRequest) async -> Int { await routes.answer(request).response.status }
      let own = ConsoleAPITests.request("GET", "/admin/v1/status", secret)
      #expect(await status(own) == 200)
      #expect(await status(ConsoleAPITests.request("GET", "/admin/v1/status")) == 401)
      #expect(await status(ConsoleAPITests.request("GET", "/admin/v1/status", "unknown")) == 401)
      var foreign = own
      foreign.browser.site = "same-site"
      #expect(await status(foreign) == 403)
      var remote = own
      remote.peer = .remote
      #expect(await status(remote) == 403)
      var change = ConsoleAPITests.request("POST", "/admin/v1/groups", secret, body: #"{"name":"oncall","members":[]}"#)
      change.browser.origin = "http://localhost:1"
      #expect(await status(change) == 403)
      change.browser.origin = "http://localhost:2198"
      #expect(await status(change) == 201)
      // It is no session of the device in a browser.
      #expect(await status(ConsoleAPITests.request("GET", "/v1/device", secret)) == 401)
      let who = await routes.answer(ConsoleAPITests.request("GET", "/console/session", secret)).response
      let session = try decodeJSON(ConsoleSession.self, from: who.body)
      #expect(session.role == "admin")
      #expect(await status(ConsoleAPITests.request("DELETE", "/console/session", secret)) == 204)
      #expect(await status(own) == 401)
    }
  }

  @Test func `a session has the role of its token, and ends with the token`() async throws {
    try await TestGateway.run { gateway in
      let routes = HTTP1PageTests.routes(gateway)
      let remote = gateway.parts.remote
      remote.set(isOn: true)
      let text = AdministratorTokenText.make(fingerprint: "0123456789ABCDEF")
      try await remote.tokens.add(
        AdministratorToken(name: "ada", role: .reader, created: 0, expires: Limits.maximumTime), text: text)
      let ada = Administrator(role: .reader, credential: .token("ada"))
      let secret = try await ConsoleAPITests.signIn(gateway, ada, bearer: text)
      func status(_ method: String, _ path: String) async -> Int {
        await routes.answer(ConsoleAPITests.request(method, path, secret, body: "{}")).response.status
      }
      #expect(await status("GET", "/admin/v1/devices") == 200)
      #expect(await status("GET", "/admin/v1/settings") == 403)
      #expect(await status("POST", "/admin/v1/groups") == 403)
      remote.set(isOn: false)
      #expect(await status("GET", "/admin/v1/devices") == 401)
      remote.set(isOn: true)
      #expect(await status("GET", "/admin/v1/devices") == 200)
      try await remote.tokens.remove("ada")
      #expect(await status("GET", "/admin/v1/devices") == 401)
    }
  }

  @Test func `the console of a test gateway needs no sign-in, for its own page on this machine alone`() async throws {
    try await TestGateway.run { gateway in
      let console = ConsoleAPI(
        session: .console(authority: TestGateway.authority), gate: gateway.admin.gate, isOpen: true)
      let web = WebAPI(
        setting: .loopback, session: WebSession(authority: TestGateway.authority), devices: DeviceAPI(gateway.parts),
        console: console)
      let routes = HTTP1Routes(
        health: HealthAPI(check: gateway.parts.healthCheck), meters: gateway.meters, token: nil, logger: .silent,
        page: HTTP1Page(
          web: web, environment: .development, socket: gateway.folder.file("socket"),
          admin: gateway.admin.router.routes))
      func status(_ request: ControlRequest) async -> Int { await routes.answer(request).response.status }
      let own = ConsoleAPITests.request("GET", "/admin/v1/status")
      #expect(await status(own) == 200)
      var foreign = own
      foreign.browser.site = "same-site"
      #expect(await status(foreign) == 401)
      foreign.browser.site = nil
      #expect(await status(foreign) == 401)
      var rebound = own
      rebound.browser.host = "evil.example:2198"
      #expect(await status(rebound) == 401)
      var remote = own
      remote.peer = .remote
      #expect(await status(remote) == 403)
      var change = ConsoleAPITests.request("POST", "/admin/v1/groups", body: #"{"name":"oncall","members":[]}"#)
      change.browser.origin = "http://localhost:1"
      #expect(await status(change) == 403)
      change.browser.origin = "http://localhost:2198"
      #expect(await status(change) == 201)
      let who = await routes.answer(ConsoleAPITests.request("GET", "/console/session")).response
      let session = try decodeJSON(ConsoleSession.self, from: who.body)
      #expect(session.test == true)
      #expect(session.role == "admin")
    }
  }

  @Test func `HTTP without TLS takes no token`() async throws {
    try await TestGateway.run { gateway in
      let routes = HTTP1PageTests.routes(gateway)
      gateway.parts.remote.set(isOn: true)
      let text = AdministratorTokenText.make(fingerprint: "0123456789ABCDEF")
      try await gateway.parts.remote.tokens.add(
        AdministratorToken(name: "ada", role: .admin, created: 0, expires: Limits.maximumTime), text: text)
      var request = ConsoleAPITests.request("GET", "/admin/v1/status")
      request.bearer = text
      #expect(await routes.answer(request).response.status == 401)
    }
  }

  @Test func `a code that is no link is refused, and counted`() async throws {
    try await TestGateway.run { gateway in
      let routes = HTTP1PageTests.routes(gateway)
      var request = ConsoleAPITests.request("POST", "/console/session", body: #"{"code":"none"}"#)
      #expect(await routes.answer(request).response.status == 410)
      request.browser.site = "cross-site"
      #expect(await routes.answer(request).response.status == 403)
      request.browser.site = "same-origin"
      var statuses: Set<Int> = []
      request.source = UnauthenticatedConnections.Source(text: "192.0.2.1")
      for _ in 0...Limits.failedAuthentications.burst {
        statuses.insert(await routes.answer(request).response.status)
      }
      #expect(statuses == [410, 429])
    }
  }
}
