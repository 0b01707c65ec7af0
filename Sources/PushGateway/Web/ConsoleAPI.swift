import GatewayProtocol
import HTTP2Transport
import PushCore

/// The routes of the console: its files, and its session. Its other requests use the routes of ``AdminAPI``.
struct ConsoleAPI: Sendable {
  let session: WebSession
  /// Checks the credential of the session.
  let gate: AdminAuthorizer
  /// True for a test gateway: its console needs no sign-in on this machine.
  var isOpen = false

  private static let sessionPath = "/console/session"

  static func isFor(_ request: Message) -> Bool { request.has(.path, beginningWith: "/console") }

  /// Returns true if the path of a request over HTTP/1.1 belongs to the console, or to the API that it uses.
  static func isFor(path: Substring) -> Bool {
    path == "/console" || path.hasPrefix("/console/") || path.hasPrefix("\(AdminAPI.prefix)")
  }

  var routes: [Router.Route] {
    [
      .init("GET", "/console") { try WebFiles.file("console/index.html", $0) },
      .init("POST", ConsoleAPI.sessionPath, begin),
      .init("GET", ConsoleAPI.sessionPath, show),
      .init("DELETE", ConsoleAPI.sessionPath, end),
      .init("GET", "/console/{file}") { try WebFiles.file("console/" + $0.parameters[0], $0) },
    ]
  }

  /// Returns the administrator of a request's session; nil if it has no session, or another credential.
  ///
  /// - Throws: 403 if another page sent the request, 401 if the session has ended.
  func administrator(of request: ControlRequest) throws(Problem) -> Administrator? {
    guard request.bearer == nil else { return nil }
    guard session.secret(request.browser) != nil else { return try guest(request) }
    return try current(request).administrator
  }

  /// Returns the administrator for a request of a test gateway's own page without a session; nil for any other request.
  ///
  /// A request of another site has another value of `sec-fetch-site`. A name that a name server maps to this machine's address
  /// has another form than a loopback name.
  ///
  /// - Throws: 403 for a change with another origin.
  private func guest(_ request: ControlRequest) throws(Problem) -> Administrator? {
    let browser = request.browser
    guard isOpen, request.peer == .loopback, browser.site == "same-origin",
      let host = browser.host ?? browser.authority, BrowserFields.isLoopbackName(host)
    else { return nil }
    try session.check(request.method, browser)
    return Administrator(role: .admin, credential: .testPage)
  }

  private func current(_ request: ControlRequest) throws(Problem) -> (administrator: Administrator, expires: Int64) {
    guard let secret = session.secret(request.browser) else { throw ConsoleAPI.ended }
    try session.check(request.method, request.browser)
    guard let entry = gate.remote.console.session(secret, now: gate.clock.seconds),
      let administrator = gate.administrator(entry.grant, from: request.peer)
    else { throw ConsoleAPI.ended }
    return (administrator, entry.expires)
  }

  /// Begins a session with the code of a link.
  private func begin(_ request: ControlRequest) throws(Problem) -> Response {
    try session.check(request.method, request.browser)
    let body: ConsoleSignIn = try request.decoded()
    guard let begun = gate.remote.console.begin(body.code, now: gate.clock.seconds) else {
      guard gate.remote.countFailure(from: request.source, at: gate.clock.milliseconds()) else {
        throw .tooManyRequests("too many wrong links from this address: try again in a minute")
      }
      throw ConsoleAPI.used
    }
    guard let administrator = gate.administrator(begun.entry.grant, from: request.peer) else {
      throw AdminAuthorizer.closed
    }
    var response = Response(record(administrator, begun.entry.expires), status: 201)
    response.fields = session.fields(begun.secret, request.browser)
    return response
  }

  private func show(_ request: ControlRequest) throws(Problem) -> Response {
    if session.secret(request.browser) == nil, let visitor = try guest(request) {
      return Response(record(visitor, gate.clock.seconds + Limits.consoleSessionTime))
    }
    let (administrator, expires) = try current(request)
    return Response(record(administrator, expires))
  }

  /// Ends the session of this browser and each copy of it.
  private func end(_ request: ControlRequest) throws(Problem) -> Response {
    try session.check(request.method, request.browser)
    if let secret = session.secret(request.browser) { gate.remote.console.end(secret) }
    return Response(status: 204, fields: session.fields(nil, request.browser))
  }

  private func record(_ administrator: Administrator, _ expires: Int64) -> ConsoleSession {
    ConsoleSession(
      who: administrator.shown, role: administrator.role.rawValue, expires: Timestamp.text(seconds: expires),
      test: isOpen ? true : nil)
  }

  private static let used = Problem(
    410, "Gone", "the link was used, or has ended: `pushcli open console` prints another one")

  static let ended = Problem(
    401, "Unauthorized", "the session is missing or has ended: `pushcli open console` prints a link for another one")
}

/// The beginning of a session of the console.
struct ConsoleSignIn: Codable, Sendable {
  /// The code of a link.
  var code: String
}

/// The session of the console.
struct ConsoleSession: Codable, Sendable {
  /// The administrator, as the audit trail shows requests of the session.
  var who: String
  var role: String
  /// The time at which the session ends, RFC 3339, UTC.
  var expires: String
  /// True at a test gateway; nil at any other.
  var test: Bool?
}
