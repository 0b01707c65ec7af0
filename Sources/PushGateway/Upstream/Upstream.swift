import HTTP2Transport
import Logging
import NIOCore
import NIOPosix
import PushCore
import Synchronization

/// The service to which pushes for unknown device tokens are forwarded: the parts that all event loops share.
final class Upstream: Sendable {
  private struct State {
    /// The unreachable environments, each with the beginning of its outage in seconds since 1970.
    var outages: [Environment: Int64] = [:]
    /// The fingerprints of the certificates of senders that were logged.
    var certificates: Set<[UInt8]> = []
  }

  let targets: UpstreamTargets
  let meter: UpstreamMeter
  let vouched = VouchedTokens()
  private let clock: WallClock
  private let logger: Logger
  private let unverified = AddressRateLimiter(
    remote: Limits.unverifiedForwards, local: Limits.allUnverifiedForwards)
  private let allUnverified = Mutex(TokenBucket(Limits.allUnverifiedForwards, at: 0))
  private let state = Mutex(State())
  private let forwarders = Mutex<[NIOLoopBound<Forwarder>]>([])

  private static let maximumCertificates = 1_000

  init(_ targets: UpstreamTargets, meter: UpstreamMeter, clock: WallClock, logger: Logger) {
    (self.targets, self.meter, self.clock, self.logger) = (targets, meter, clock, logger)
  }

  /// Creates the forwarder of an event loop; called on it.
  func join(_ loop: any EventLoop) -> Forwarder {
    let forwarder = Forwarder(self, loop: loop, dial: UpstreamDialer.dial)
    forwarders.withLock { $0.append(NIOLoopBound(forwarder, eventLoop: loop)) }
    return forwarder
  }

  /// Counts a push with an unknown key and with a token that the upstream has not accepted yet; false if it exceeds the
  /// limit.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsUnverified(from source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    unverified.take(source, at: now) && allUnverified.withLock { $0.take(at: now) }
  }

  // MARK: Reports

  /// The warning for health: the first outage; nil if the last attempts succeeded. It is not a failure, because the gateway
  /// still accepts pushes for its own devices.
  var warning: HealthProblem? {
    let outages = state.withLock { $0.outages }
    guard let (environment, since) = outages.min(by: { $0.value < $1.value }) else { return nil }
    return HealthProblem(
      part: "upstream",
      problem: "\(targets[environment].authority) can't be reached: pushes for its device tokens are answered 503",
      since: since)
  }

  /// Records that an attempt to reach the upstream failed, and logs the first failure of an outage.
  func lost(_ environment: Environment, _ error: (any Error)?) {
    let now = clock.seconds
    let isNew = state.withLock { state in
      guard state.outages[environment] == nil else { return false }
      state.outages[environment] = now
      return true
    }
    guard isNew else { return }
    logger.log(
      .upstreamLost, "the upstream can't be reached: \(Upstream.words(of: error))",
      metadata: ["upstream": "\(targets[environment].authority)"])
  }

  /// Records that the upstream can be reached, and logs the end of an outage.
  func reached(_ environment: Environment) {
    guard state.withLock({ $0.outages.removeValue(forKey: environment) }) != nil else { return }
    logger.log(
      .upstreamBack, "the upstream can be reached again",
      metadata: ["upstream": "\(targets[environment].authority)"])
  }

  /// Returns the reason of an outage for users.
  static func words(of error: (any Error)?) -> String {
    switch error {
    case nil: "it closed the connection"
    case let error as TLSError:
      error.kind == .untrusted ? "its certificate is not trusted: check the CAs in upstream_ca" : error.description
    case let error as HTTP2Error: error.description
    case is KeepAliveTimeout, is UpstreamTimeout: "it does not answer"
    // Some errors of the system are faults of this machine, as too many open files.
    case let error as IOError: "the connection failed (\(SystemError(error.errnoCode)))"
    case let error as NIOConnectionError:
      error.connectionErrors.last.map { Upstream.words(of: $0.error) } ?? "its name has no address"
    default: "no connection can be opened"
    }
  }

  /// Logs that the pushes of a sender with a certificate can't be forwarded, once for each of the first
  /// ``maximumCertificates`` certificates.
  func note(certificate fingerprint: [UInt8], topic: String?) {
    let isNew = state.withLock { state in
      state.certificates.count < Upstream.maximumCertificates && state.certificates.insert(fingerprint).inserted
    }
    guard isNew else { return }
    logger.log(
      .certificateNotForwarded,
      "a sender with a certificate sent a push for an unknown device token: the upstream needs a provider token",
      metadata: ["topic": "\(topic ?? "")"])
  }

  // MARK: End

  /// Gives pushes in flight the times of a drain; pushes without an answer are then answered 503.
  func drain(within times: DrainTimes) { forEach { $0.drain(within: times) } }

  /// Ends all pushes and connections to the upstream.
  func close() { forEach { $0.close() } }

  private func forEach(_ body: @escaping @Sendable (Forwarder) -> Void) {
    for forwarder in forwarders.withLock({ $0 }) { forwarder.eventLoop.execute { body(forwarder.value) } }
  }
}
