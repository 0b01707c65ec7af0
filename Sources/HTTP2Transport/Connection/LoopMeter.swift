package import PushCore

/// Where the peer of a connection is, which decides what it may do unasked.
package enum PeerOrigin: Int, CaseIterable, Sendable { case adminSocket, loopback, remote }

/// What the peer of a connection has shown itself to be.
package enum PeerKind: Int, CaseIterable, Sendable {
  /// It has shown no credential.
  case stranger
  /// It has shown a provider's token or certificate that is good.
  case provider
  /// It has shown a device's secret.
  case device
  /// It came by the admin socket, or has shown an administrator's token.
  case admin
}

/// What one loop counts of itself and of its connections; read on any thread, without stopping the loop.
package final class LoopMeter: Sendable {
  /// From the first thing that a turn has to send, store or log until that is handed on: what comes meanwhile waits.
  package let turns = MetricHistogram.times(LoopMeter.bounds)
  /// How long what was to be done at some time, or came from another thread, waited for the loop. Noted where such a thing
  /// happens anyhow, so that an idle loop sleeps on.
  package let lag = MetricHistogram.times(LoopMeter.bounds)
  package let handshakes = HandshakeMeter()
  /// Bytes that came from sockets, and went to them.
  package let received = Counter()
  package let sent = Counter()
  package let limits = LimitCounters()
  /// Streams of HTTP/2 that are open.
  package let streams = Gauge()
  private let opened = Counters(count: PeerOrigin.allCases.count)
  private let closed = Counters(count: PeerOrigin.allCases.count)
  private let kinds = PeerKind.allCases.map { _ in Gauge() }

  private static let bounds: [Duration] = [
    .microseconds(100), .microseconds(500), .milliseconds(1), .milliseconds(5), .milliseconds(10), .milliseconds(25),
    .milliseconds(50), .milliseconds(100), .milliseconds(250), .seconds(1), .seconds(5),
  ]

  package init() {}

  func open(_ peer: PeerOrigin, _ kind: PeerKind) {
    opened.add(at: peer.rawValue)
    kinds[kind.rawValue].add(1)
  }

  func close(_ peer: PeerOrigin, _ kind: PeerKind) {
    closed.add(at: peer.rawValue)
    kinds[kind.rawValue].add(-1)
  }

  /// An open connection has shown what its peer is.
  func change(_ kind: PeerKind, to other: PeerKind) {
    kinds[kind.rawValue].add(-1)
    kinds[other.rawValue].add(1)
  }

  /// How many connections were opened and closed so far, in the order of ``PeerOrigin``.
  package var connections: (opened: [UInt64], closed: [UInt64]) {
    // Whatever is closed was opened: this way round there are never fewer than none.
    let closed = closed.totals
    return (opened.totals, closed)
  }

  /// Open connections, in the order of ``PeerKind``.
  package var peers: [UInt64] { kinds.map { UInt64(clamping: $0.value) } }
}

/// What one loop counts of TLS.
package final class HandshakeMeter: Sendable {
  /// Handshakes that came to their end.
  package let completed = Counter()
  /// Those of them that were short because they resumed a session.
  package let resumed = Counter()
  /// Connections that were over before their handshake was.
  package let failed = Counter()

  package init() {}
}
