import HTTP2Transport
import PushCore

/// The connections of a door: how many there are, of whom, and which gives way to a new one.
///
/// Not `Sendable`: it belongs to the door's loop.
final class ConnectionLimiter {
  private struct Member {
    let source: UnauthenticatedConnections.Source
    let connection: DoorConnection
  }

  private var members: [Int: Member] = [:]
  private var last = 0
  private let limits: LimitCounters

  /// - Parameter limits: count how often a connection was refused or ended for another.
  init(limits: LimitCounters) { self.limits = limits }

  var count: Int { members.count }

  /// Takes a connection in, unless there are as many as there may be and each is at work.
  ///
  /// - Returns: its number, for ``leave(_:)``; nil: it is to be closed.
  func admit(_ source: UnauthenticatedConnections.Source, _ make: (Int) -> DoorConnection) -> DoorConnection? {
    guard source == .loopback || members.values.count(where: { $0.source == source }) < Limits.maximumAddressStrangers,
      members.count < Limits.maximumDoorConnections || evict()
    else {
      limits.add(.doorConnections)
      return nil
    }
    last += 1
    let connection = make(last)
    members[last] = Member(source: source, connection: connection)
    return connection
  }

  func leave(_ number: Int) { members[number] = nil }

  /// Closes all of them.
  func closeAll() { for member in members.values { member.connection.close() } }

  /// Ends the connection that has been idle in this crowd for longest, one of another machine first.
  private func evict() -> Bool {
    let idle = members.filter { $0.value.connection.isIdle }
    let remote = idle.filter { $0.value.source != .loopback }
    guard let number = (remote.isEmpty ? idle : remote).keys.min() else { return false }
    limits.add(.doorConnections)
    members.removeValue(forKey: number)?.connection.close()
    return true
  }
}
