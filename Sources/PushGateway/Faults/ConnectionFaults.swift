import Glibc
import HTTP2Transport
import NIOCore
import PushCore

/// The injected faults of one connection, between it and its peer; created when the first fault matches.
///
/// Belongs to the loop of its connection.
final class ConnectionFaults: ConnectionInterceptor {
  /// A resource of the peer that a fault reduces.
  struct Shortage: Equatable {
    /// The number of the fault.
    var fault: UInt64
    /// The reduced maximum number of open streams; nil if the fault does not reduce it.
    var streams: Int?
    /// The reduced window of each stream, in bytes; nil if the fault does not reduce it.
    var streamWindow: Int?
  }

  private unowned let connection: Connection
  private var shortages: [Shortage] = []
  private(set) var isFrozen = false

  var limitsStreams: Bool { shortages.contains { $0.streams != nil } }

  private init(_ connection: Connection) { self.connection = connection }

  /// Returns the faults of a connection; creates them on the first call.
  static func of(_ connection: Connection) -> ConnectionFaults {
    if let faults = connection.interceptor as? ConnectionFaults { return faults }
    let faults = ConnectionFaults(connection)
    connection.interceptor = faults
    return faults
  }

  /// Restores the resources that these faults have reduced on a connection.
  static func end(_ faults: Set<UInt64>, on connection: Connection) {
    (connection.interceptor as? ConnectionFaults)?.endShortages(faults)
  }

  /// Stops reading and writing until the peer gives up or the gateway stops: half-open.
  func freeze() {
    isFrozen = true
    connection.channel?.setOption(.autoRead, value: false).whenFailure { _ in }
  }

  /// Reduces a resource of the peer until the fault ends.
  func add(_ shortage: Shortage) {
    guard !shortages.contains(where: { $0.fault == shortage.fault }) else { return }
    shortages.append(shortage)
    announce(shortage)
  }

  private func endShortages(_ faults: Set<UInt64>) {
    let ended = shortages.filter { faults.contains($0.fault) }
    shortages.removeAll { faults.contains($0.fault) }
    for shortage in ended { announce(shortage) }
    if shortages.isEmpty, !isFrozen { connection.interceptor = nil }
  }

  /// Announces the current value of a resource to the peer.
  private func announce(_ shortage: Shortage) {
    guard !connection.isClosing else { return }
    if shortage.streams != nil {
      connection.session.announce(maximumStreams: shortages.compactMap(\.streams).min() ?? connection.streamLimit)
    }
    if shortage.streamWindow != nil {
      connection.session.announce(
        streamWindow: shortages.compactMap(\.streamWindow).min() ?? Limits.streamWindowSize)
    }
    connection.setNeedsFlush()
  }
}

extension Connection {
  /// Ends the connection with a TCP reset, discarding pending output.
  func abort() {
    // Without lingering, close() discards unsent data and sends RST.
    (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenFailure { _ in }
    close(nil)
  }

  /// Sends GOAWAY and closes a little later, without answering open requests.
  func breakOff(debugData: [UInt8]) {
    session.goAway(debugData: debugData)
    setNeedsFlush()
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    loop.eventLoop.scheduleTask(in: ConnectionState.linger) { this.value.closeAfterFlush() }
  }
}
