package import PushCore

/// The location of the peer of a connection, which determines its permissions without a credential.
package enum PeerOrigin: Int, CaseIterable, Sendable { case adminSocket, loopback, remote }

/// The kind of peer of a connection, as far as it is authenticated.
package enum PeerKind: Int, CaseIterable, Sendable {
  /// The peer presented no credential.
  case unauthenticated
  /// The peer presented a valid provider token or certificate.
  case provider
  /// The peer presented the secret of a device.
  case device
  /// The peer uses the admin socket, or presented an administrator's token.
  case admin
}

/// The metrics of one loop and of its connections; readable on any thread, without stopping the loop.
package final class LoopMeter: Sendable {
  /// The times from the first work of an iteration that has to be sent, stored or logged until that is handed on;
  /// work that arrives in between is delayed.
  package let iterations = MetricHistogram.times(LoopMeter.bounds)
  /// The delays of timers and of tasks from other threads until the loop ran them. Recorded only when such work runs
  /// anyway, so that an idle loop stays asleep.
  package let lag = MetricHistogram.times(LoopMeter.bounds)
  package let handshakes = HandshakeMeter()
  /// The number of bytes received from sockets, and of bytes sent.
  package let received = Counter()
  package let sent = Counter()
  package let limits = LimitCounters()
  /// The number of open HTTP/2 streams.
  package let streams = Gauge()
  private let opened = Counters(count: PeerOrigin.allCases.count)
  private let closed = Counters(count: PeerOrigin.allCases.count)
  private let kinds = PeerKind.allCases.map { _ in Gauge() }

  private static let bounds: [Duration] = [
    .microseconds(100), .microseconds(500), .milliseconds(1), .milliseconds(5), .milliseconds(10), .milliseconds(25),
    .milliseconds(50), .milliseconds(100), .milliseconds(250), .seconds(1), .seconds(5),
  ]

  func open(_ peer: PeerOrigin, _ kind: PeerKind) {
    opened.add(at: peer.rawValue)
    kinds[kind.rawValue].add(1)
  }

  func close(_ peer: PeerOrigin, _ kind: PeerKind) {
    closed.add(at: peer.rawValue)
    kinds[kind.rawValue].add(-1)
  }

  /// Records that an open connection changed the kind of its peer.
  func change(_ kind: PeerKind, to other: PeerKind) {
    kinds[kind.rawValue].add(-1)
    kinds[other.rawValue].add(1)
  }

  /// The numbers of connections opened and closed so far, in the order of ``PeerOrigin``.
  package var connections: (opened: [UInt64], closed: [UInt64]) {
    // Each closed connection was opened before: read in this order, the difference is never negative.
    let closed = closed.totals
    return (opened.totals, closed)
  }

  /// The numbers of open connections, in the order of ``PeerKind``.
  package var peers: [UInt64] { kinds.map { UInt64(clamping: $0.value) } }
}

/// The TLS metrics of one loop, or of HTTP/1.1.
package final class HandshakeMeter: Sendable {
  /// The number of completed handshakes.
  package let completed = Counter()
  /// The number of completed handshakes that were short because they resumed a session.
  package let resumed = Counter()
  /// The number of connections that ended before their handshake completed.
  package let failed = Counter()

  package init() {}
}
