import HTTP2Transport
import Logging
import PushCore
import Synchronization

/// Logs the limits that peers reach. Each limit is logged once in ``Limits/limitLogInterval`` with its count since
/// then, so that a peer that reaches it repeatedly does not fill the log.
final class LimitLog: Sendable {
  private struct State {
    var counts: [TransportLimit: Int] = [:]
    var gate = LogRateLimiter<TransportLimit>(count: 1, interval: Limits.limitLogInterval)
  }

  private let state = Mutex(State())
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  /// The number of times that each limit was reached since the start.
  var counts: [TransportLimit: Int] { state.withLock { $0.counts } }

  /// Records that a limit was reached.
  ///
  /// - Parameters:
  ///   - peer: the address of the peer that reached it.
  ///   - now: seconds since 1970.
  func note(_ limit: TransportLimit, peer: String?, now: Int64) {
    let skipped = state.withLock { state in
      state.counts[limit, default: 0] += 1
      return state.gate.note(limit, at: now)
    }
    guard let skipped else { return }
    logger.log(
      .limitMet, "connection limit exceeded",
      metadata: ["limit": "\(limit.rawValue)", "times": "\(skipped + 1)", "peer": "\(peer ?? "-")"])
  }
}
