import HTTP2Transport
import PushCore
import Synchronization

/// Rate limits for expensive requests of unauthenticated clients, by source: an IPv4 address or an IPv6 network,
/// because the owner of one IPv6 address has the whole network.
final class AddressRateLimiter: Sendable {
  private let remote: Mutex<TokenBuckets<UnauthenticatedConnections.Source>>
  /// The limit of all clients on this machine, which share one address.
  private let local: Mutex<TokenBuckets<UnauthenticatedConnections.Source>>

  init(remote: TokenBucket.Rate, local: TokenBucket.Rate) {
    self.remote = Mutex(TokenBuckets(remote))
    self.local = Mutex(TokenBuckets(local))
  }

  /// Returns true if the source has budget left; does not consume it.
  ///
  /// - Parameter now: milliseconds since 1970.
  func has(_ source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    source == .loopback ? local.withLock { $0.has(source, at: now) } : remote.withLock { $0.has(source, at: now) }
  }

  /// Consumes one unit of the source's budget; returns false if none is left.
  ///
  /// - Parameter now: milliseconds since 1970.
  @discardableResult
  func take(_ source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    source == .loopback ? local.withLock { $0.take(source, at: now) } : remote.withLock { $0.take(source, at: now) }
  }
}
