package import PushCore

/// Where the peer of a connection is, which decides what it may do unasked.
package enum PeerPlace: Int, CaseIterable, Sendable { case adminSocket, loopback, remote }

/// What one loop counts of itself and of its connections; read on any thread, without stopping the loop.
package final class LoopMeter: Sendable {
  /// From the first thing that a turn has to send, store or log until that is handed on: what comes meanwhile waits.
  package let turns = MetricHistogram.times(LoopMeter.bounds)
  /// How long what was to be done at some time, or came from another thread, waited for the loop. Noted where such a thing
  /// happens anyhow, so that an idle loop sleeps on.
  package let lag = MetricHistogram.times(LoopMeter.bounds)
  /// Handshakes of TLS that came to their end.
  package let handshakes = Counter()
  package let limits = LimitCounters()
  private let opened = Counters(count: PeerPlace.allCases.count)
  private let closed = Counters(count: PeerPlace.allCases.count)

  private static let bounds: [Duration] = [
    .microseconds(100), .microseconds(500), .milliseconds(1), .milliseconds(5), .milliseconds(10), .milliseconds(25),
    .milliseconds(50), .milliseconds(100), .milliseconds(250), .seconds(1), .seconds(5),
  ]

  package init() {}

  func open(_ peer: PeerPlace) { opened.add(at: peer.rawValue) }

  func close(_ peer: PeerPlace) { closed.add(at: peer.rawValue) }

  /// How many connections were opened and closed so far, in the order of ``PeerPlace``.
  package var connections: (opened: [UInt64], closed: [UInt64]) {
    // Whatever is closed was opened: this way round there are never fewer than none.
    let closed = closed.totals
    return (opened.totals, closed)
  }
}
