import HTTP2Transport
import PushCore
import Synchronization

/// Limits the delivery log's rows about refused pushes of clients without a valid credential, by address and in
/// total: such clients can't fill the disk, nor displace other rows from the log.
final class RefusalRowLimiter: Sendable {
  private let addresses = AddressRateLimiter(remote: Limits.refusalRows, local: Limits.allRefusalRows)
  private let all = Mutex(TokenBucket(Limits.allRefusalRows, at: 0))

  /// Consumes the budget of one row; false if none is left.
  ///
  /// - Parameter now: milliseconds since 1970.
  func take(_ source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    addresses.take(source, at: now) && all.withLock { $0.take(at: now) }
  }
}
