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

  /// Admits a connection, unless the maximum is reached and all connections are busy. A connection for which `make`
  /// throws is not counted.
  ///
  /// - Returns: the connection that `make` creates with its number, for ``leave(_:)``; nil if the new one is to be
  ///   refused.
  func admit(
    _ source: UnauthenticatedConnections.Source, _ make: (Int) throws -> HTTP1Connection
  ) rethrows -> HTTP1Connection? {
    guard
      source == .loopback || members.values.count(where: { $0.source == source }) < Limits.maximumAddressConnections,
      members.count < Limits.maximumHTTP1Connections || evict()
    else {
      limits.add(.httpConnections)
      return nil
    }
    last += 1
    let connection = try make(last)
    members[last] = Member(source: source, connection: connection)
    return connection
  }

  func leave(_ number: Int) { members[number] = nil }

  /// Begins the answer to a connection that is not admitted; false if so many get one that this one is to be closed.
  ///
  /// After true, the caller must call ``endRefusal()``.
  func beginRefusal() -> Bool {
    guard refusals < Limits.maximumHTTP1Refusals else { return false }
    refusals += 1
    return true
  }

  func endRefusal() { refusals -= 1 }

  func closeAll() { for member in members.values { member.connection.close() } }

  /// Evicts the oldest idle connection, preferably one of another machine; returns false if there is none.
  private func evict() -> Bool {
    let idle = members.filter { $0.value.connection.isIdle }
    let remote = idle.filter { $0.value.source != .loopback }
    guard let number = (remote.isEmpty ? idle : remote).keys.min() else { return false }
    limits.add(.httpConnections)
    members.removeValue(forKey: number)?.connection.close()
    return true
  }
}
