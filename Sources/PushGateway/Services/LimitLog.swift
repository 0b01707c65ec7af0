import HTTP2Transport
import Logging
import PushCore
import Synchronization

/// Tells the operator which limits peers meet, each once in ``Limits/limitLogInterval`` and how often since, so that
/// a peer that meets one again and again does not fill the log, too.
final class LimitLog: Sendable {
  private struct Entry {
    /// Times in all.
    var count = 0
    /// Times since it was logged last.
    var unlogged = 0
    /// Seconds since 1970.
    var logged: Int64?
  }

  private let entries = Mutex<[TransportLimit: Entry]>([:])
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  /// How often each limit was met since the start.
  var counts: [TransportLimit: Int] { entries.withLock { $0.mapValues(\.count) } }

  /// A limit was met.
  ///
  /// - Parameters:
  ///   - peer: the address of whoever met it.
  ///   - now: seconds since 1970.
  func note(_ limit: TransportLimit, peer: String?, now: Int64) {
    let count = entries.withLock { entries -> Int? in
      entries[limit, default: Entry()].count += 1
      entries[limit, default: Entry()].unlogged += 1
      if let logged = entries[limit]?.logged, now - logged < Limits.limitLogInterval { return nil }
      defer { entries[limit, default: Entry()].unlogged = 0 }
      entries[limit]?.logged = now
      return entries[limit]?.unlogged
    }
    guard let count else { return }
    logger.warning(
      "a limit was met",
      metadata: ["limit": "\(limit.rawValue)", "times": "\(count)", "peer": "\(peer ?? "-")"])
  }
}
