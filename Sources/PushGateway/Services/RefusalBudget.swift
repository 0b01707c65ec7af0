import HTTP2Transport
import PushCore
import Synchronization

/// Limits the delivery log's rows about refused pushes of clients without a valid credential, by address and in all: such
/// clients can't fill the disk, nor push the rows of others out of the log.
final class RefusalBudget: Sendable {
  private let addresses = AddressRateLimiter(strangers: Limits.refusalRows, local: Limits.allRefusalRows)
  private let all = Mutex(TokenBucket(Limits.allRefusalRows, at: 0))

  /// Takes one row; false when there is none left.
  ///
  /// - Parameter now: milliseconds since 1970.
  func take(_ source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    addresses.take(source, at: now) && all.withLock { $0.take(at: now) }
  }
}
