import HTTP2Transport
import PushCore
import Synchronization

/// How often strangers may have the gateway do what costs more than a look at their request, by where they are: an address,
/// or a network of IPv6, in which whoever has one address has all of them.
final class AddressRateLimiter: Sendable {
  private let strangers: Mutex<TokenBuckets<UnauthenticatedConnections.Source>>
  /// This machine's peers have a budget together: they have one address.
  private let local: Mutex<TokenBuckets<UnauthenticatedConnections.Source>>

  init(strangers: TokenBucket.Rate, local: TokenBucket.Rate) {
    self.strangers = Mutex(TokenBuckets(strangers))
    self.local = Mutex(TokenBuckets(local))
  }

  /// Whether there is one left.
  ///
  /// - Parameter now: milliseconds since 1970.
  func has(_ source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    source == .loopback ? local.withLock { $0.has(source, at: now) } : strangers.withLock { $0.has(source, at: now) }
  }

  /// Takes one; false when there is none left.
  ///
  /// - Parameter now: milliseconds since 1970.
  @discardableResult
  func take(_ source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    source == .loopback ? local.withLock { $0.take(source, at: now) } : strangers.withLock { $0.take(source, at: now) }
  }
}
