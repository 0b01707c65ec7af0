import GatewayProtocol
import HTTP2Transport
import PushCore
import Synchronization

/// What a gateway counts beside its loops, and where what they count is found; safe on any thread.
final class GatewayMeter: Sendable {
  /// Limits that no loop knows of.
  let limits = LimitCounters()
  private let joined = Mutex<[RequestMeter]>([])

  /// The loops that have joined, in that order.
  var loops: [RequestMeter] { joined.withLock { $0 } }

  /// Takes in a loop, which counts from now on.
  func join(_ loop: LoopMeter) -> RequestMeter {
    let meter = RequestMeter(loop)
    joined.withLock { $0.append(meter) }
    return meter
  }
}

/// What one loop counts of the requests of providers and the streams of devices.
final class RequestMeter: Sendable {
  /// How a push, or a broadcast, was accepted.
  enum Acceptance: Int, CaseIterable {
    /// It was stored.
    case stored
    /// It was stored before.
    case duplicate
    /// It is never stored.
    case unstored
    /// It was a broadcast to a channel.
    case broadcast
  }

  let loop: LoopMeter
  let stages = LatencyHistograms()
  let policy = PolicyMeter()
  /// Streams on which devices wait for pushes.
  let deviceStreams = Gauge()
  private let accepted = Counters(count: Acceptance.allCases.count)
  private let refused = Counters(count: Reason.allCases.count)

  private static let indexes = Dictionary(uniqueKeysWithValues: zip(Reason.allCases, 0...))

  init(_ loop: LoopMeter) { self.loop = loop }

  /// In the order of ``Acceptance``.
  var acceptances: [UInt64] { accepted.totals }

  /// In the order of ``Reason``.
  var refusals: [UInt64] { refused.totals }

  func accept(_ acceptance: Acceptance) { accepted.add(at: acceptance.rawValue) }

  func refuse(_ reason: Reason) {
    if let index = RequestMeter.indexes[reason] { refused.add(at: index) }
  }

  func reached(_ limit: ReachedLimit) { loop.limits.add(limit) }
}
