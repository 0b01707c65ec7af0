import GatewayProtocol
import HTTP2Transport
import Logging
import NIOCore
import PushCore
import PushPolicy
import PushStorage

/// Executes the faults that match requests and connections of one loop.
///
/// Not `Sendable`: it belongs to the loop of its handler.
final class FaultInjector {
  private let faults: FaultTable
  private let log: DeliveryLog
  private let registrations: any Registrations
  /// Ends the registration of a device for a topic.
  private let unregister: @Sendable (DeviceID, _ topic: String) async throws -> Void
  private let clock: WallClock
  private let logger: Logger
  /// Serves a request without a fault.
  private let serve: (Exchange) -> Void
  /// Responds to a request with a rejection.
  private let refuse: (Exchange, Rejection) -> Void
  /// Responds to a request with a status and no body.
  private let answer: (Exchange, _ status: Int) -> Void
  private var random = SplitMix64(state: .random(in: 0 ... .max))

  init(
    faults: FaultTable, log: DeliveryLog, registrations: any Registrations,
    unregister: @escaping @Sendable (DeviceID, _ topic: String) async throws -> Void, clock: WallClock, logger: Logger,
    serve: @escaping (Exchange) -> Void, refuse: @escaping (Exchange, Rejection) -> Void,
    answer: @escaping (Exchange, _ status: Int) -> Void
  ) {
    self.faults = faults
    self.log = log
    self.registrations = registrations
    self.unregister = unregister
    self.clock = clock
    self.logger = logger
    self.serve = serve
    self.refuse = refuse
    self.answer = answer
  }

  /// Executes a matching fault for a complete request of a provider.
  ///
  /// - Returns: true if a fault matches; otherwise the request is served as usual.
  func intercept(_ exchange: Exchange) -> Bool {
    let target = FaultTarget(exchange)
    guard let injection = faults.injection(target, now: clock.milliseconds()) else { return false }
    record(injection.fault, target, exchange)
    guard let delay = injection.fault.rule.delay else {
      carryOut(injection, exchange)
      return true
    }
    let later = NIOLoopBound((self, exchange.reference), eventLoop: exchange.connection.loop.eventLoop)
    later.eventLoop.scheduleTask(in: .nanoseconds(Int64(delay * 1e9))) {
      let (injector, reference) = later.value
      if let exchange = reference.exchange { injector.carryOut(injection, exchange) }
    }
    return true
  }

  /// Executes a matching fault for a connection, when the connection begins or when the fault is set.
  ///
  /// - Parameter now: the current time in milliseconds since 1970.
  static func inject(_ connection: Connection, faults: FaultTable, now: Int64, logger: Logger) {
    let target = FaultTarget(connection)
    guard let injection = faults.injection(target, isConnection: true, now: now) else { return }
    logger.log(
      .faultInjected, "fault \(injection.fault.rule.name) injected", metadata: target.metadata(injection.fault))
    apply(injection, to: connection, now: now)
  }

  private func carryOut(_ injection: FaultTable.Injection, _ exchange: Exchange) {
    let connection = exchange.connection
    let now = clock.milliseconds()
    switch injection.fault.effect {
    case .none: serve(exchange)
    case .answer(let status, let reason):
      guard let reason else { return answer(exchange, status) }
      refuse(
        exchange,
        Rejection(
          reason, timestamp: status == 410 ? now : nil, status: status, retryAfter: injection.fault.rule.retryAfter))
    case .throttle: refuse(exchange, Rejection(.tooManyRequests, retryAfter: injection.fault.rule.retryAfter))
    case .reset(let code):
      connection.session.reset(exchange.stream, code: code)
      connection.setNeedsFlush()
    case .goAway(let reason): connection.breakOff(debugData: Rejection(reason).body)
    case .drop: connection.abort()
    case .halfOpen: ConnectionFaults.of(connection).freeze()
    case .stall, .streams:
      FaultInjector.apply(injection, to: connection, now: now)
      serve(exchange)
    case .unregister: endRegistration(exchange)
    }
  }

  /// Reduces the flow-control credit or the streams of a connection, and restores them when the fault ends.
  private static func apply(_ injection: FaultTable.Injection, to connection: Connection, now: Int64) {
    switch injection.fault.effect {
    case .stall: ConnectionFaults.of(connection).add(.init(fault: injection.number, streamWindow: 0))
    case .streams(let count): ConnectionFaults.of(connection).add(.init(fault: injection.number, streams: count))
    default: return
    }
    guard let end = injection.end else { return }
    let later = NIOLoopBound(connection, eventLoop: connection.loop.eventLoop)
    later.eventLoop.scheduleTask(in: .milliseconds(max(0, end - now))) {
      ConnectionFaults.end([injection.number], on: later.value)
    }
  }

  /// Ends the registration before the response, so that the next push gets the same response.
  private func endRegistration(_ exchange: Exchange) {
    guard let token = exchange.deviceToken, let (registration, app) = registrations.registration(token),
      registration.unregistered == nil
    else { return serve(exchange) }
    let later = NIOLoopBound((self, exchange.reference), eventLoop: exchange.connection.loop.eventLoop)
    let (unregister, logger) = (unregister, logger)
    Task {
      do {
        try await unregister(registration.device, app.topic)
      } catch {
        logger.log(.faultFailed, "a fault could not unregister a token: \(error)")
      }
      later.eventLoop.execute {
        let (injector, reference) = later.value
        // The response follows from the state of the registration, as for every later push.
        if let exchange = reference.exchange { injector.serve(exchange) }
      }
    }
  }

  private func record(_ fault: Fault, _ target: FaultTarget, _ exchange: Exchange) {
    logger.log(.faultInjected, "fault \(fault.rule.name) injected", metadata: target.metadata(fault))
    let registration = exchange.deviceToken.flatMap { registrations.registration($0) }
    let id = exchange.request.text(.apnsID).flatMap { APNSID($0) } ?? APNSID(using: &random)
    log.append([
      DeliveryLog.Row(
        at: clock.milliseconds(), event: .fault, id: id, device: registration?.0.device,
        app: registration?.1.id, detail: .fault(name: fault.rule.name, effect: fault.words))
    ])
  }
}

extension FaultTarget {
  /// The properties of a request that a fault may match, not validated.
  fileprivate init(_ exchange: Exchange) {
    self.init(exchange.connection)
    let path = exchange.request.text(.path) ?? ""
    let parts = path.split(separator: "/")
    switch parts.first {
    case "3":
      token = parts.count > 2 ? parts[2].lowercased() : nil
      app = exchange.request.text(.apnsTopic).map { PushType.split(topic: $0).bundleID }
    case "4": app = parts.count > 3 ? String(parts[3]) : nil
    case "1": app = parts.count > 2 ? String(parts[2]) : nil
    default: break
    }
    if app == nil, let identity = exchange.connection.identity, identity.topics.count == 1 {
      app = identity.topics.first.map { PushType.split(topic: $0).bundleID }
    }
    key = exchange.request.bytes(.authorization).flatMap(FaultTarget.keyID)
  }

  /// The properties of a connection without a request.
  fileprivate init(_ connection: Connection) {
    self.init(address: connection.remoteAddress, connection: connection.number)
  }

  /// Returns the key ID in the header of a provider token.
  private static func keyID(_ field: [UInt8]) -> String? {
    guard let space = field.firstIndex(of: UInt8(ascii: " ")) else { return nil }
    let segment = field[field.index(after: space)...].prefix { $0 != UInt8(ascii: ".") }
    guard let header = Base64URL.decode(segment) else { return nil }
    return (try? JSONParser().parse(header.span) { $0["kid"]?.string }) ?? nil
  }

  fileprivate func metadata(_ fault: Fault) -> Logger.Metadata {
    var metadata: Logger.Metadata = [
      "fault": "\(fault.rule.name)", "does": "\(fault.words)", "connection": "\(connection)",
    ]
    if let address { metadata["peer"] = "\(address)" }
    if let app { metadata["app"] = "\(app)" }
    return metadata
  }
}
