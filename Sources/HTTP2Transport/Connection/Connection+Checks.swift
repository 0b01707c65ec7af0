import NIOCore
import PushCore

/// The checks of a peer: its limits, its liveness, and the time without requests.
extension Connection {
  /// Handles a peer that exceeded a limit. The first excess that an honest client may cause ends only its stream.
  package func exceeded(_ limit: TransportLimit) {
    switch limit {
    case .headerList, .incompleteRequests:
      offenses += 1
      if offenses == 1 { return }
    // Other connections may have caused it.
    case .keptSize: return
    default: break
    }
    if pendingEnd == nil { pendingEnd = .excess(limit) }
    setNeedsFlush()
  }

  /// Sends PINGs to a watched peer and closes the connection if it does not answer; called twice in every PING
  /// interval. While reading is paused, no PING is sent.
  package func checkAlive() {
    guard isWatched, !isClosing, !state.isPaused, !isFrozen else { return }
    switch liveness.tick() {
    case .wait: break
    case .ping:
      session.ping()
      setNeedsFlush()
    case .giveUp:
      loop.meter.limits.add(.pingInterval)
      close(KeepAliveTimeout())
    }
  }

  /// Ends a connection whose certificate expired, or that received nothing for the idle timeout; called every
  /// `interval`. Open streams of devices and pending requests keep a silent connection open.
  package func checkIdle(every interval: Duration) {
    if identity != nil, !isDraining, !isClosing, let cause = owner?.cause(toRefuse: self) { return end(cause) }
    guard let limit = options.idleTimeout else { return }
    quietTime = hasReceived ? .zero : quietTime + interval
    hasReceived = false
    guard quietTime >= limit, session.openStreams.allSatisfy({ $0.consumer == nil && !$0.isInboundEnded }) else {
      return
    }
    loop.meter.limits.add(.idleTimeout)
    end(.idle)
  }
}
