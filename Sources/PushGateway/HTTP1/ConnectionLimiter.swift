import HTTP2Transport
import PushCore

/// The connections of HTTP/1.1 with TLS, or of those without, with their limits and the eviction for a new one.
///
/// Not `Sendable`: it belongs to the listener's loop.
final class ConnectionLimiter {
  private struct Member {
    let source: UnauthenticatedConnections.Source
    let connection: HTTP1Connection
  }

  private var members: [Int: Member] = [:]
  private var last = 0
  /// The number of connections that are being refused with an answer.
  private var refusals = 0
  private let limits: LimitCounters
  /// The connections that each source may begin.
  private var begun: TokenBuckets<UnauthenticatedConnections.Source>

  /// - Parameters:
  ///   - limits: counts refused and evicted connections.
  ///   - rate: the rate of connections of one other address; nil if it is unlimited.
  init(limits: LimitCounters, rate: TokenBucket.Rate? = nil) {
    self.limits = limits
    begun = TokenBuckets(rate)
  }

  var count: Int { members.count }

  /// Admits a connection, unless the maximum is reached and all connections are busy, or its source has begun too many.
  /// A connection for which `make` throws is not counted.
  ///
  /// - Parameter now: the milliseconds of a clock that never goes back.
  /// - Returns: the connection that `make` creates with its number, for ``leave(_:)``; nil if the new one is to be
  ///   refused.
  func admit(
    _ source: UnauthenticatedConnections.Source, at now: Int64, _ make: (Int) throws -> HTTP1Connection
  ) rethrows -> HTTP1Connection? {
    guard
      source == .loopback || isPermitted(source, at: now), members.count < Limits.maximumHTTP1Connections || evict()
    else {
      limits.add(.httpConnections)
      return nil
    }
    last += 1
    let connection = try make(last)
    members[last] = Member(source: source, connection: connection)
    return connection
  }

  /// Returns true if another machine may begin one more connection, and counts it.
  private func isPermitted(_ source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    members.values.count(where: { $0.source == source }) < Limits.maximumAddressConnections
      && begun.take(source, at: now)
  }

  func leave(_ number: Int) { members[number] = nil }

  /// Begins the answer to a connection that is not admitted; false if ``Limits/maximumHTTP1Refusals`` answers are in
  /// progress. The caller then closes the connection without an answer.
  ///
  /// After true, the caller must call ``endRefusal()``.
  func beginRefusal() -> Bool {
    guard refusals < Limits.maximumHTTP1Refusals else { return false }
    refusals += 1
    return true
  }

  func endRefusal() { refusals -= 1 }

  func closeAll() { for member in members.values { member.connection.close() } }

  /// Closes the oldest idle connection, preferably of another machine; returns false if all are busy.
  private func evict() -> Bool {
    let idle = members.filter { $0.value.connection.isIdle }
    let remote = idle.filter { $0.value.source != .loopback }
    guard let number = (remote.isEmpty ? idle : remote).keys.min() else { return false }
    limits.add(.httpConnections)
    members.removeValue(forKey: number)?.connection.close()
    return true
  }
}
