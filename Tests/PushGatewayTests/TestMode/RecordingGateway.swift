import Logging
import PushTesting

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushPolicy
@testable import PushStorage

/// A gateway in test mode without TLS, on a Unix socket. Requests of the test API are made without a socket.
final class RecordingGateway: Sendable {
  static let topic = "com.example.train"
  static let token = String(repeating: "ab", count: 32)
  static let payload = #"{"aps":{"alert":{"title":"Train in 5 Minutes","body":"Platform 4"},"badge":3}}"#

  let folder: TemporaryFolder
  let mode: TestMode
  let parts: GatewayParts
  let api: TestAPI
  let tls: TLSSource
  private let loops: Loops
  private let listener: Listener
  private let store: SQLiteStore
  private let router: Router
  private let key: ES256Key
  /// The issue time of tokens. A connection may not change its token within 20 minutes, so all of them have the same.
  private let began = WallClock.system.seconds

  init(_ options: TestOptions = TestOptions()) async throws {
    folder = try TemporaryFolder()
    let mode = try TestMode(options)
    self.mode = mode
    let clock = mode.clock.wallClock
    let state = StateFolder(folder.path)
    var configuration = Configuration.defaults
    configuration.state = folder.path
    let log = DeliveryLog(
      path: folder.file("log.sqlite"), retention: 86_400 * 365, logger: mode.rowLogger(.silent))
    mode.observe(log)
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    let mailbox = try SQLiteMailbox(
      store: store, cap: 1000, logger: .silent, now: { clock.seconds },
      removed: { removals in log.append(removals.map { $0.event(at: clock.milliseconds()) }) })
    let backend = GatewayBackend(
      registrations: try SQLiteRegistrations(store: store), mailbox: mailbox, router: DeviceStreamRegistry(),
      durability: .localDisk(.full), close: { mailbox.close() })
    let parts = try GatewayParts(
      configuration, backend: backend, store: store, log: log, clock: clock, logger: .silent, notices: [mode.notice])
    self.parts = parts
    try parts.connect()
    await parts.restore()
    let firstUse = try mode.firstUse(parts, logger: .silent)
    let faults = FaultTable()
    let status = GatewayStatus(listening: [], environment: "", started: "", pid: 0)
    let admin = AdminAPI(parts, status: { status })
    let limits = LimitLog(logger: .silent)
    let tokens = ProviderTokenCache(registrations: backend.registrations, verification: mode.verification)
    try state.prepareCertificates()
    let tls = TLSSource(try state.serverContext(configuration))
    self.tls = tls
    let settings = configuration
    let api = mode.api(
      parts, firstUse: firstUse, faults: faults,
      tls: TestTLS(folder: state, source: tls) { try state.serverContext(settings) })
    self.api = api
    loops = try await Loops(count: 1) { loop in
      let handler = GatewayHandler(
        loop: loop, parts: parts, tokens: tokens, faults: faults, admin: admin, limits: limits, logger: .silent)
      let router = Router(api.routes)
      let wrapped = mode.handler(handler, handler.shared, loop: loop.eventLoop, firstUse: firstUse) {
        [unowned handler] in handler.serve($0, router)
      }
      handler.refusals = wrapped
      return wrapped
    }
    parts.log.beforeReading { [loops] in await loops.completeIterations() }
    router = Router(api.routes)
    var connection = ConnectionOptions()
    connection.environmentRule = .fixed(.development)
    connection.peer = .adminSocket
    listener = try await Listener.listen(
      on: .unix(path: folder.file("socket")), tls: nil, options: connection, loops: loops)
    key = try ES256Key.generate()
  }

  func stop() async {
    await listener.close()
    await loops.drain()
    parts.close()
    await loops.shutdown()
    try? store.close()
    mode.finish()
  }

  /// Runs a test with a gateway, and stops the gateway even if the body throws.
  static func run(
    _ options: TestOptions = TestOptions(), _ body: (RecordingGateway) async throws -> Void
  ) async throws {
    let gateway = try await RecordingGateway(options)
    do {
      try await body(gateway)
    } catch {
      await gateway.stop()
      throw error
    }
    await gateway.stop()
  }

  func client() async throws -> Client { try await Client.connect(to: .admin(path: folder.file("socket"))) }

  /// Returns the field with a provider token of a key that the gateway does not know.
  ///
  /// - Parameter issued: the issue time in seconds since 1970; nil for that of all requests of the test.
  func authorization(keyID: String = "ABC1234567", issued: Int64? = nil) throws -> (HeaderName, String) {
    var recipe = TokenRecipe()
    recipe.header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
    recipe.claims = #"{"iss":"TEAM000001","iat":\#(issued ?? began)}"#
    return (.authorization, "bearer " + (try recipe.text(by: key)))
  }

  /// Sends a push that is accepted without further fields.
  func push(
    _ client: Client, to token: String = RecordingGateway.token, topic: String = RecordingGateway.topic,
    _ fields: [(HeaderName, String)] = [], payload: String = RecordingGateway.payload,
    authorization: (HeaderName, String)? = nil
  ) async throws -> Client.Answer {
    let all = [try authorization ?? self.authorization(), (.apnsTopic, topic)] + fields
    return try await client.request("POST", "/3/device/" + token, all, body: Array(payload.utf8))
  }

  /// Makes a request of the test API.
  ///
  /// - Parameter path: the path below `/test/v1`, with a query.
  func call(
    _ method: String, _ path: String, _ body: String = "", from peer: Connection.Peer = .loopback
  ) async throws -> (status: Int, body: JSONValue) {
    var request = ControlRequest(
      method: method, target: TestRoute.prefix + path, body: Array(body.utf8), authorization: nil, from: peer)
    guard case .found(let route, let parameters) = router.match(method: method, path: request.path) else {
      return (404, .null)
    }
    request.parameters = parameters
    let response: Response
    do {
      response = try await route.serve(request)
    } catch {
      guard let problem = Problem(error) else { throw error }
      response = problem.response
    }
    return (response.status, JSONValue(parsing: response.body, by: JSONParser()) ?? .null)
  }

  /// Makes an expectation; without a time it is one that a busy machine meets.
  func expect(_ body: String) async throws -> (status: Int, pushes: [JSONValue], body: JSONValue) {
    let timed = body.contains("within") ? body : String(body.dropLast()) + #","within":"60s"}"#
    let (status, answer) = try await call("POST", "/expect", timed)
    guard case .array(let pushes)? = answer["pushes"] else { return (status, [], answer) }
    return (status, pushes, answer)
  }
}
