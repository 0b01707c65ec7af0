import GatewayProtocol
import HTTP2Transport
import Logging
import NIOCore
import PushCore
import PushStorage

/// Sends each request of a loop to its API.
final class GatewayHandler: Handler {
  private let loop: LoopContext
  private let services: Services
  private let shared: LoopServices
  private let provider: ProviderAPI
  private let broadcast: BroadcastAPI
  private let faults: FaultTable
  private let faultInjector: FaultInjector
  private let devices: DeviceAPI
  private let deviceRouter: Router
  private let adminRouter: Router
  private let logger: Logger

  /// - Parameters:
  ///   - tokens: those of providers, shared by all loops.
  ///   - faults: those that are set, shared by all loops.
  init(
    loop: LoopContext, services: Services, tokens: ProviderTokenCache, faults: FaultTable, admin: AdminAPI,
    logger: Logger
  ) {
    self.loop = loop
    self.services = services
    self.faults = faults
    self.logger = logger
    devices = DeviceAPI(services: services)
    deviceRouter = devices.router
    adminRouter = admin.router
    let shared = LoopServices(services, loop: loop)
    self.shared = shared
    let provider = ProviderAPI(
      shared, tokens: tokens,
      dispatcher: Dispatcher(
        loop: loop,
        destinations: .init(
          mailbox: services.mailbox, router: services.router, log: services.log, clock: services.clock),
        log: shared.log))
    self.provider = provider
    let broadcast = BroadcastAPI(shared, provider: provider, logger: logger)
    self.broadcast = broadcast
    faultInjector = FaultInjector(
      faults: faults, log: services.log, registrations: services.registrations,
      unregister: Unregister(services), clock: services.clock, logger: logger,
      serve: { GatewayHandler.route($0, provider, broadcast) },
      refuse: { provider.refuse($0, $1) },
      answer: { provider.answer($0, status: $1) })
  }

  func receivedHead(of exchange: Exchange) {
    let request = exchange.request
    if request.has(.path, beginningWith: Paths.devicePush) {
      // One byte more than the largest payload, to see that it is too large.
      request.maximumBodySize = Limits.maximumVoIPPayloadSize + 1
    } else if request.isForBroadcasts {
      request.maximumBodySize = Limits.maximumBroadcastPayloadSize + 1
    } else if request.has(.path, Paths.deviceStream), !exchange.connection.servesChannelsOnly {
      beginStream(exchange)
    } else {
      request.maximumBodySize = Limits.maximumControlBodySize
    }
  }

  func receivedRequest(_ exchange: Exchange) {
    guard !exchange.stream.hasSubmittedHead else { return }
    let request = exchange.request
    if request.has(.path, beginningWith: "/v1/"), !exchange.connection.servesChannelsOnly {
      serve(exchange, deviceRouter)
    } else if request.has(.path, beginningWith: AdminAPI.prefix), exchange.connection.peer == .adminSocket {
      serve(exchange, adminRouter)
    } else {
      if faults.isArmed, faultInjector.intercept(exchange) { return }
      GatewayHandler.route(exchange, provider, broadcast)
    }
  }

  /// Sends a request of a provider to its API.
  private static func route(_ exchange: Exchange, _ provider: ProviderAPI, _ broadcast: BroadcastAPI) {
    if exchange.request.has(.path, beginningWith: Paths.devicePush), !exchange.connection.servesChannelsOnly {
      provider.serve(exchange)
    } else if exchange.request.isForBroadcasts {
      let isSend = exchange.request.has(.path, beginningWith: "/4/")
      guard !isSend || !exchange.connection.servesChannelsOnly else { return provider.refuse(exchange, .badPath) }
      broadcast.serve(exchange)
    } else if exchange.connection.servesChannelsOnly {
      provider.refuse(exchange, .badPath)
    } else {
      provider.serve(exchange)
    }
  }

  // MARK: Ends of connections

  func cause(toRefuse connection: Connection) -> ConnectionEnd? {
    guard let identity = connection.identity else { return nil }
    let isRevoked = services.registrations.isRevoked(certificate: identity.fingerprint)
    let isOver = identity.expires <= services.clock.seconds
    if let fault = identity.fault ?? (isRevoked ? "it was revoked" : isOver ? "its time is over" : nil) {
      logger.notice("refused a client certificate: \(fault)", metadata: ["topic": "\(identity.topic ?? "")"])
      return .badCertificate
    }
    return identity.environments.contains(connection.environment) ? nil : .wrongEnvironment
  }

  func began(_ connection: Connection) {
    guard faults.isArmed else { return }
    FaultInjector.strike(connection, faults: faults, now: services.clock.milliseconds(), logger: logger)
  }

  func abandon(_ exchange: Exchange, for cause: ConnectionEnd) {
    let request = exchange.request
    guard request.has(.path, beginningWith: "/v1/") || request.has(.path, beginningWith: AdminAPI.prefix) else {
      return provider.refuse(exchange, cause.reason)
    }
    exchange.respond(
      Problem(503, "Service Unavailable", "the connection ends, and the request was not complete: send it again")
        .response)
  }

  func debugData(of cause: ConnectionEnd) -> [UInt8] { Rejection(cause.reason).body }

  private func beginStream(_ exchange: Exchange) {
    let request = ControlRequest(exchange.request, isLocal: false)
    let framing: Subscription.Framing
    switch request.method {
    case "POST": framing = .lines
    case "GET": framing = .events
    default: return exchange.respond(methodNotAllowed(["GET", "POST"]))
    }
    do {
      let device = try devices.device(request.bearer)
      exchange.connection.allowAllStreams()
      Subscription(device: device, shared, framing: framing, exchange: exchange).begin(exchange)
    } catch {
      exchange.respond(error.response)
    }
  }

  /// The control plane works on values, off the loop, and comes back with the answer.
  private func serve(_ exchange: Exchange, _ router: Router) {
    guard exchange.request.bodySize <= Limits.maximumControlBodySize else {
      shared.meter.reached(.bodySize)
      return exchange.respond(
        Problem(413, "Content Too Large", "a request holds at most \(Limits.maximumControlBodySize) bytes").response)
    }
    var request = ControlRequest(exchange.request, isLocal: exchange.connection.peer != .remote)
    request.environment = exchange.connection.environment
    switch router.match(method: request.method, path: request.path) {
    case .unknown:
      exchange.respond(Problem.notFound("there is nothing at \(request.path)").response)
    case .otherMethods(let methods):
      exchange.respond(methodNotAllowed(methods))
    case .found(let serve, let parameters):
      request.parameters = parameters
      let reference = NIOLoopBound(exchange.reference, eventLoop: loop.eventLoop)
      let (logger, final) = (logger, request)
      Task {
        let response = await answer(to: final, by: serve, logger)
        reference.eventLoop.execute { reference.value.exchange?.respond(response) }
      }
    }
  }

  private func methodNotAllowed(_ methods: [String]) -> Response {
    Problem(405, "Method Not Allowed", "this takes \(methods.joined(separator: " and "))").response
  }
}

extension ConnectionEnd {
  /// What providers are told of it.
  fileprivate var reason: Reason {
    switch self {
    case .shutdown: .shutdown
    case .idle: .idleTimeout
    case .badCertificate: .badCertificate
    case .wrongEnvironment: .badCertificateEnvironment
    }
  }
}

/// Runs a route and turns what it throws into an answer, in one place.
private func answer(to request: ControlRequest, by serve: Router.Serve, _ logger: Logger) async -> Response {
  do {
    return try await serve(request)
  } catch let problem as Problem {
    return problem.response
  } catch let refusal as RegistrationRefusal {
    switch refusal.kind {
    case .invalid: return Problem.badRequest(refusal.description).response
    case .unknown: return Problem.notFound(refusal.description).response
    case .conflict: return Problem(409, "Conflict", refusal.description).response
    }
  } catch let error as StoreError {
    return Problem(503, "Service Unavailable", error.description).response
  } catch {
    logger.error("\(request.method) \(request.path) failed: \(error)")
    return Problem(500, "Internal Server Error", "the gateway failed at this; its log says why").response
  }
}
