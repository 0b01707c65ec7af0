import HTTP2Transport
import PushCore

/// The connections of the HTTP/1.1 listener, with their limits and the eviction for a new one.
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

  /// - Parameter limits: counts refused and evicted connections.
  init(limits: LimitCounters) { self.limits = limits }

  var count: Int { members.count }

  /// Admits a connection, unless its address has reached its maximum, or all connections of the listener are busy at the
  /// maximum. Loopback addresses have no maximum of their own.
  ///
  /// - Returns: the connection that `make` creates with its number, for ``leave(_:)``; nil if the new one is to be
  ///   refused.
  func admit(_ source: UnauthenticatedConnections.Source, _ make: (Int) -> HTTP1Connection) -> HTTP1Connection? {
    guard
      source == .loopback || members.values.count(where: { $0.source == source }) < Limits.maximumAddressConnections,
      members.count < Limits.maximumHTTP1Connections || evict()
    else {
      limits.add(.httpConnections)
      return nil
    }
    last += 1
    let connection = make(last)
    members[last] = Member(source: source, connection: connection)
    return connection
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
