import GatewayProtocol
import HTTP2Transport
import Logging
import NIOCore
import PushCore
import PushStorage
import Synchronization

/// The handler that passes each request of a loop to its API.
final class GatewayHandler: Handler {
  private let loop: LoopContext
  private let parts: GatewayParts
  /// The objects that the APIs and streams of the loop share.
  let shared: LoopParts
  private let provider: ProviderAPI
  /// The receiver of the refusals of this loop; nil but for a test gateway.
  var refusals: (any RefusalObserver)? {
    get { provider.refusals }
    set { provider.refusals = newValue }
  }
  private let broadcast: BroadcastAPI
  private let faults: FaultTable
  private let faultInjector: FaultInjector
  private let devices: DeviceAPI
  private let deviceRouter: Router
  private let healthRouter: Router
  let adminRouter: Router
  /// The pages in a browser; nil if they are not served.
  let web: WebAPI?
  private let webRouter: Router
  let gate: AdminAuthorizer
  private let logger: Logger
  private let limits: LimitLog

  /// - Parameters:
  ///   - tokens: the provider tokens, shared by all loops.
  ///   - faults: the injected faults, shared by all loops.
  ///   - limits: the log of limits that peers exceeded.
  ///   - web: the pages in a browser; nil if they are not served.
  init(
    loop: LoopContext, parts: GatewayParts, tokens: ProviderTokenCache, faults: FaultTable, admin: AdminAPI,
    limits: LimitLog, logger: Logger, web: WebAPI? = nil
  ) {
    self.limits = limits
    self.web = web
    webRouter = web?.router ?? Router([])
    self.loop = loop
    self.parts = parts
    self.faults = faults
    self.logger = logger
    devices = DeviceAPI(parts)
    healthRouter = Router(HealthAPI(check: parts.healthCheck).routes)
    deviceRouter = Router(devices.router.routes + healthRouter.routes + admin.publicRoutes)
    adminRouter = admin.router
    gate = admin.gate
    let shared = LoopParts(parts, loop: loop, logger: logger)
    self.shared = shared
    let provider = ProviderAPI(
      shared, tokens: tokens,
      dispatcher: Dispatcher(
        loop: loop,
        destinations: .init(
          mailbox: parts.mailbox, router: parts.router, log: parts.log, clock: parts.clock),
        log: shared.log, stages: shared.meter.stages))
    self.provider = provider
    if let forwarder = shared.forwarder {
      provider.forward = { [unowned provider] in provider.forward($0, $1, by: forwarder) }
    }
    let broadcast = BroadcastAPI(shared, provider: provider, logger: logger)
    self.broadcast = broadcast
    faultInjector = FaultInjector(
      faults: faults, log: parts.log, registrations: parts.registrations,
      unregister: { try await parts.devices.unregister($0, topic: $1) }, clock: parts.clock, logger: logger,
      serve: { GatewayHandler.route($0, provider, broadcast) },
      refuse: { provider.refuse($0, $1, isLogged: false) },
      answer: { provider.answer($0, status: $1) })
  }

  /// Lets the API of this loop serve messages over HTTP/1.1.
  func attach(_ relay: MessageRelay) { relay.attach(NIOLoopBound(provider, eventLoop: loop.eventLoop)) }

  func receivedHead(of exchange: Exchange) {
    let request = exchange.request
    if request.has(.path, beginningWith: Paths.devicePush) {
      // One byte more than the largest payload, to detect larger ones.
      request.maximumBodySize = Limits.maximumVoIPPayloadSize + 1
    } else if request.isForBroadcasts {
      request.maximumBodySize = Limits.maximumBroadcastPayloadSize + 1
    } else if request.hasExcessFields {
      exchange.respond(
        Problem(
          431, "Request Header Fields Too Large",
          "too many header fields: expected at most \(Limits.maximumHeaderListSize) bytes, counting 32 more for each field"
        ).response)
    } else if request.isForDeviceStream, !exchange.connection.servesChannelsOnly {
      beginStream(exchange)
    } else if let door = MessageDoor(request) {
      provider.limitBody(of: exchange, door)
    } else {
      request.maximumBodySize = maximumBodySize(exchange)
    }
  }

  /// Returns the maximum body size of a control-plane request, in bytes.
  private func maximumBodySize(_ exchange: Exchange) -> Int {
    let request = exchange.request
    if request.has(.path, beginningWith: AdminAPI.prefix) { return maximumAdminBodySize(exchange) }
    if WebAPI.isFor(request) { return Limits.maximumEnrollmentSize }
    guard request.has(.path, beginningWith: Message.devicePrefix) else { return 0 }
    if request.has(.path, beginningWith: "/v1/device/preferences") {
      // Unauthenticated clients get a lower limit.
      noteCredential(of: exchange)
      return exchange.connection.hasCredential ? Limits.maximumPreferencesBodySize : Limits.maximumDeviceBodySize
    }
    let isEnrollment = request.has(.path, beginningWith: "/v1/devices")
    return isEnrollment ? Limits.maximumEnrollmentSize : Limits.maximumDeviceBodySize
  }

  // MARK: Credentials

  /// Checks if a request on an unauthenticated connection contains the secret of a device.
  private func noteCredential(of exchange: Exchange) {
    guard !exchange.connection.hasCredential,
      let bearer = try? controlRequest(exchange).bearer,
      parts.registrations.device(secret: bearer) != nil
    else { return }
    exchange.connection.authenticated(as: .device)
  }

  /// Returns the request as a value. A request of a device gets the credential of the page's session, if it has no other.
  ///
  /// - Throws: 403 if another page uses the session.
  private func controlRequest(_ exchange: Exchange) throws(Problem) -> ControlRequest {
    var request = ControlRequest(exchange.request, from: exchange.connection.peer)
    if let web, exchange.request.has(.path, beginningWith: "/v1/device"), web.setting.serves(exchange.connection.peer) {
      try request.adopt(web.session)
    }
    return request
  }

  private static let enrollmentPath = "/v1/devices"

  // MARK: Limits

  func answersExcessFields(of exchange: Exchange) -> Bool { exchange.request.isControl }

  func timeOut(_ exchange: Exchange) {
    guard exchange.request.isControl else { return exchange.connection.session.reset(exchange.stream, .cancel) }
    exchange.respond(
      Problem(
        408, "Request Timeout", "a request has to be complete within \(Limits.requestTime) seconds: send it again"
      )
      .response)
  }

  func exceeded(_ limit: TransportLimit, on connection: Connection) {
    limits.note(limit, peer: connection.remoteAddress, now: parts.clock.seconds)
  }

  func receivedRequest(_ exchange: Exchange) {
    guard !exchange.stream.hasSubmittedHead else { return }
    if !exchange.request.has(.path, beginningWith: Paths.devicePush), servesOther(exchange) { return }
    if faults.isArmed, faultInjector.intercept(exchange) { return }
    GatewayHandler.route(exchange, provider, broadcast)
  }

  /// Serves a request that is not a provider's; returns false for a provider's.
  private func servesOther(_ exchange: Exchange) -> Bool {
    let request = exchange.request
    if request.isForDevices, !exchange.connection.servesChannelsOnly {
      serve(exchange, deviceRouter)
    } else if exchange.connection.peer == .adminSocket, AdminAPI.isFor(request) {
      serve(exchange, adminRouter, for: administrator(of: exchange))
    } else if request.isForHealth {
      serve(exchange, healthRouter)
    } else if request.has(.path, beginningWith: AdminAPI.prefix), !exchange.connection.servesChannelsOnly {
      serveRemoteRequest(exchange)
    } else if !exchange.connection.servesChannelsOnly, let door = MessageDoor(request) {
      provider.serveMessage(exchange, door)
    } else if let web, WebAPI.isFor(request), web.setting.serves(exchange.connection.peer),
      !exchange.connection.servesChannelsOnly
    {
      serve(exchange, webRouter)
    } else {
      return false
    }
    return true
  }

  /// Passes a request of a provider to its API.
  private static func route(_ exchange: Exchange, _ provider: ProviderAPI, _ broadcast: BroadcastAPI) {
    if exchange.request.has(.path, beginningWith: Paths.devicePush), !exchange.connection.servesChannelsOnly {
      provider.serve(exchange)
    } else if exchange.request.isForBroadcasts {
      let isSend = exchange.request.has(.path, beginningWith: "/4/")
      guard !isSend || !exchange.connection.servesChannelsOnly else { return provider.refuse(exchange, .badPath) }
      broadcast.serve(exchange)
    } else if exchange.connection.servesChannelsOnly {
      provider.refuse(exchange, .badPath)
    } else if exchange.request.has(.path, beginningWith: Paths.pushes) {
      provider.retract(exchange)
    } else {
      provider.serve(exchange)
    }
  }

  // MARK: Ends of connections

  func cause(toRefuse connection: Connection) -> CloseReason? {
    guard let identity = connection.identity else { return nil }
    let isRevoked = parts.registrations.isRevoked(certificate: identity.fingerprint)
    let isOver = identity.expires <= parts.clock.seconds
    if let fault = identity.fault ?? (isRevoked ? "it was revoked" : isOver ? "it has expired" : nil) {
      logger.log(
        .clientCertificateRefused, "refused a client certificate: \(fault)",
        metadata: ["topic": "\(identity.topic ?? "")"])
      return .badCertificate
    }
    return identity.environments.contains(connection.environment) ? nil : .wrongEnvironment
  }

  func began(_ connection: Connection) {
    guard faults.isArmed else { return }
    FaultInjector.inject(connection, faults: faults, now: parts.clock.milliseconds(), logger: logger)
  }

  func abandon(_ exchange: Exchange, for cause: CloseReason) {
    guard exchange.request.isControl else { return provider.refuse(exchange, cause.reason) }
    exchange.respond(
      Problem(503, "Service Unavailable", "the connection was closed before the request was complete: send it again")
        .response)
  }

  func debugData(of cause: CloseReason) -> [UInt8] { Rejection(cause.reason).body }

  private func beginStream(_ exchange: Exchange) {
    let framing: DeviceStream.Framing
    switch exchange.request.text(.method) {
    case "POST": framing = .lines
    case "GET": framing = .events
    default: return exchange.respond(Problem.methodNotAllowed(["GET", "POST"]).response)
    }
    do {
      let request = try controlRequest(exchange)
      let device = try devices.device(request.bearer)
      guard !parts.backend.isCutOff() else {
        return exchange.respond(
          Problem(
            503, "Service Unavailable", "this gateway reaches no broker of its cluster: connect to another gateway"
          )
          .response)
      }
      let secret = request.bearer ?? ""
      exchange.connection.allowAllStreams()
      exchange.connection.authenticated(as: .device)
      DeviceStream(device: device, secret: secret, shared, framing: framing, exchange: exchange).begin(exchange)
    } catch {
      exchange.respond(error.response)
    }
  }

  /// Serves a control-plane request with values, outside of the loop, and returns to the loop with the response.
  ///
  /// - Parameter administrator: the sender, if already known.
  func serve(_ exchange: Exchange, _ router: Router, for administrator: Administrator? = nil) {
    let connection = exchange.connection
    let maximumSize = exchange.request.maximumBodySize
    // A role that is insufficient for every route is reported as such, instead of the size of the body, which is
    // dropped.
    let isRefused = administrator.map { !Role.administrators.contains($0.role) } ?? false
    guard exchange.request.bodySize <= maximumSize || isRefused else {
      shared.meter.reached(.bodySize)
      return exchange.respond(
        Problem(413, "Content Too Large", "the body is too large: expected at most \(maximumSize) bytes").response)
    }
    var request: ControlRequest
    do {
      request = try controlRequest(exchange)
    } catch {
      return exchange.respond(error.response)
    }
    (request.environment, request.source) = (connection.environment, connection.source)
    noteCredential(of: exchange)
    if let administrator {
      request.administrator = administrator
    } else if request.path == GatewayHandler.enrollmentPath {
      request.administrator = self.administrator(of: exchange)
    }
    // The response to HEAD is that to GET, without the body.
    if request.method == "HEAD" { request.method = "GET" }
    switch router.match(method: request.method, path: request.path) {
    case .unknown:
      exchange.respond(Problem.notFound("unknown path \(request.path)").response)
    case .otherMethods(let methods):
      exchange.respond(Problem.methodNotAllowed(methods).response)
    case .found(let route, let parameters):
      guard let refusal = begin(on: connection) else {
        request.parameters = parameters
        let task = run(request, route.serve, exchange.reference)
        if route.isWaiting { exchange.stream.consumer = WaitingRequest(task) }
        return
      }
      exchange.respond(refusal.response)
    }
  }

  /// The number of control-plane requests of this process in progress.
  private static let running = Atomic<Int>(0)

  /// Counts one more request of a connection. The count includes requests whose streams ended before their work did:
  /// otherwise a client could cause unlimited work by resetting its requests.
  ///
  /// - Returns: the reason for refusing the request; nil if it is accepted.
  private func begin(on connection: Connection) -> Problem? {
    guard connection.runningRequests < Limits.maximumControlRequests else {
      exceeded(.controlRequests, on: connection)
      return Problem(
        429, "Too Many Requests",
        "\(Limits.maximumControlRequests) requests of this connection are in progress: wait for their responses")
    }
    guard connection.session.waitingSize < Limits.maximumWaitingAnswers else {
      exceeded(.waitingAnswers, on: connection)
      return Problem(429, "Too Many Requests", "this connection has unread responses: read them first")
    }
    guard GatewayHandler.running.load(ordering: .relaxed) < Limits.maximumRunningRequests else {
      exceeded(.runningRequests, on: connection)
      return Problem(503, "Service Unavailable", "the gateway has too many requests in progress: try again")
    }
    connection.runningRequests += 1
    GatewayHandler.running.add(1, ordering: .relaxed)
    return nil
  }

  private func run(
    _ request: ControlRequest, _ serve: @escaping Router.Serve, _ reference: StreamReference
  ) -> Task<Void, Never> {
    let reference = NIOLoopBound(reference, eventLoop: loop.eventLoop)
    let logger = logger
    return Task {
      let response = await answer(to: request, by: serve, logger)
      GatewayHandler.running.subtract(1, ordering: .relaxed)
      reference.eventLoop.execute {
        reference.value.connection.runningRequests -= 1
        reference.value.exchange?.respond(response)
      }
    }
  }
}

/// Serves a route and converts its errors to a response; all routes use it.
private func answer(to request: ControlRequest, by serve: Router.Serve, _ logger: Logger) async -> Response {
  do {
    return try await serve(request)
  } catch {
    if let problem = Problem(error) { return problem.response }
    logger.log(.requestFailed, "\(request.method) \(request.path) failed: \(error)")
    return Problem.failure.response
  }
}
