import HTTP2Transport
import Logging
import PushCore
import Synchronization

/// Tells the operator which limits peers meet, each once in ``Limits/limitLogInterval`` and how often since, so that
/// a peer that meets one again and again does not fill the log, too.
final class LimitLog: Sendable {
  private struct State {
    var counts: [TransportLimit: Int] = [:]
    var gate = LogRateLimiter<TransportLimit>(count: 1, interval: Limits.limitLogInterval)
  }

  private let state = Mutex(State())
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  /// How often each limit was met since the start.
  var counts: [TransportLimit: Int] { state.withLock { $0.counts } }

  /// A limit was met.
  ///
  /// - Parameters:
  ///   - peer: the address of whoever met it.
  ///   - now: seconds since 1970.
  func note(_ limit: TransportLimit, peer: String?, now: Int64) {
    let verdict = state.withLock { state in
      state.counts[limit, default: 0] += 1
      return state.gate.note(limit, at: now)
    }
    guard case .told(let untold) = verdict else { return }
    logger.log(
      .limitMet, "connection limit exceeded",
      metadata: ["limit": "\(limit.rawValue)", "times": "\(untold + 1)", "peer": "\(peer ?? "-")"])
  }
}
