import Glibc
import HTTP2Transport
import NIOCore
import PushCore

/// What faults do to one connection, between it and its peer; there from when the first of them strikes.
///
/// Belongs to the loop of its connection.
final class ConnectionFaults: ConnectionInterceptor {
  /// What a fault keeps from the peer.
  struct Shortage: Equatable {
    /// The fault's number.
    var fault: UInt64
    /// Streams it may have open, if that is what is short.
    var streams: Int?
    /// The window of each stream, in bytes, if that is what is short.
    var streamWindow: Int?
  }

  private unowned let connection: Connection
  private var shortages: [Shortage] = []
  private(set) var isFrozen = false

  var limitsStreams: Bool { shortages.contains { $0.streams != nil } }

  private init(_ connection: Connection) { self.connection = connection }

  /// Those of a connection; none have struck it before this is first asked.
  static func of(_ connection: Connection) -> ConnectionFaults {
    if let faults = connection.interceptor as? ConnectionFaults { return faults }
    let faults = ConnectionFaults(connection)
    connection.interceptor = faults
    return faults
  }

  /// Gives back what these faults have kept from the peer of a connection.
  static func end(_ faults: Set<UInt64>, on connection: Connection) {
    (connection.interceptor as? ConnectionFaults)?.endShortages(faults)
  }

  /// Reads and writes no more until the peer gives up or the gateway stops: half-open.
  func freeze() {
    isFrozen = true
    connection.channel?.setOption(.autoRead, value: false).whenFailure { _ in }
  }

  /// Keeps something from the peer until the fault ends.
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

  /// Tells the peer what it may have now of what this was about.
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
  /// Ends the connection with a TCP reset, whatever waits to be sent.
  func abort() {
    // Without lingering, close() throws away what was not sent and says RST.
    (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenFailure { _ in }
    close(nil)
  }

  /// Says GOAWAY and hangs up a little later, with no answer to what is open.
  func breakOff(debugData: [UInt8]) {
    session.goAway(debugData: debugData)
    setNeedsFlush()
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    loop.eventLoop.scheduleTask(in: ConnectionState.linger) { this.value.closeAfterFlush() }
  }
}
