import GatewayProtocol
import HTTP2Transport
import PushCore
import Synchronization

/// The counters of a gateway outside its event loops, and a list of the event loops' meters; safe on any thread.
final class GatewayMeter: Sendable {
  /// The counters of limits that belong to no event loop.
  let limits = LimitCounters()
  /// The counters of TLS handshakes over HTTP/1.1.
  let handshakes = HandshakeMeter()
  /// The counters of pushes that are forwarded.
  let upstream = UpstreamMeter()
  private let joined = Mutex<[RequestMeter]>([])

  /// The meters of the event loops, in the order in which they joined.
  var loops: [RequestMeter] { joined.withLock { $0 } }

  /// Adds an event loop, which counts from now on.
  func join(_ loop: LoopMeter) -> RequestMeter {
    let meter = RequestMeter(loop)
    joined.withLock { $0.append(meter) }
    return meter
  }
}

/// The counters of one event loop for providers' requests and devices' streams.
final class RequestMeter: Sendable {
  /// The ways in which a push or a broadcast is accepted.
  enum Acceptance: Int, CaseIterable {
    /// The push was stored.
    case stored
    /// The push had been stored before.
    case duplicate
    /// The push is never stored.
    case unstored
    case broadcast
  }

  let loop: LoopMeter
  let stages = LatencyHistograms()
  let policy = PolicyMeter()
  /// The number of open device streams.
  let deviceStreams = Gauge()
  private let accepted = Counters(count: Acceptance.allCases.count)
  private let refused = Counters(count: Reason.allCases.count)

  private static let indexes = Dictionary(uniqueKeysWithValues: zip(Reason.allCases, 0...))

  init(_ loop: LoopMeter) { self.loop = loop }

  /// The counts in the order of ``Acceptance``.
  var acceptances: [UInt64] { accepted.totals }

  /// The counts in the order of ``Reason``.
  var refusals: [UInt64] { refused.totals }

  func accept(_ acceptance: Acceptance) { accepted.add(at: acceptance.rawValue) }

  func refuse(_ reason: Reason) {
    if let index = RequestMeter.indexes[reason] { refused.add(at: index) }
  }

  func reached(_ limit: ReachedLimit) { loop.limits.add(limit) }
}
