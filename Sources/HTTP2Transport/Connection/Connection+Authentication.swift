import NIOCore
import PushCore

/// The credentials of a peer, and the limits that depend on them.
extension Connection {
  /// Reads the peer's identity and the requested host after the TLS handshake.
  func identify() {
    handle(.established)
    loop.meter.handshakes.completed.add()
    if tls?.isResumed == true { loop.meter.handshakes.resumed.add() }
    environment = options.environment(host: tls?.serverName)
    identity = tls?.peerIdentity
    if let cause = owner?.cause(toRefuse: self) {
      end(cause)
      return
    }
    if identity != nil {
      allowAllStreams()
      authenticated(as: .provider)
    }
    owner?.began(self)
  }

  /// Records that the peer presented a valid credential, and raises the limits of the connection.
  package func authenticated(as kind: PeerKind) {
    guard !hasCredential else { return }
    if loop.connections[ObjectIdentifier(self)] != nil { loop.meter.change(self.kind, to: kind) }
    self.kind = kind
    session.maximumIncompleteSize = Limits.maximumIncompleteSize
    session.keptShare = Limits.keptShare
    session.maximumPeerResets = .max
    forgetTicket()
  }

  /// The TLS version, and the end of the peer's certificate in seconds since 1970, if it sent one; nil without TLS.
  package var tlsPeer: (version: String, certificateExpiry: Int64?)? {
    tls.map { ($0.version, $0.peerIdentity?.expires) }
  }

  /// Counts this connection as unauthenticated until it presents a credential or ends. Until then it may be evicted
  /// in favor of other connections.
  package func hold(_ ticket: UnauthenticatedConnections.Ticket) {
    self.ticket = ticket
    // Looked up by its number: a weak reference would make all reference counting of the connection slow.
    let loop = NIOLoopBound(loop, eventLoop: loop.eventLoop)
    let number = number
    let key = ObjectIdentifier(self)
    ticket.attach {
      loop.eventLoop.execute {
        if let connection = loop.value.connections[key], connection.number == number { connection.closeIfUnused() }
      }
    }
  }

  private func closeIfUnused() {
    if session.openCount == 0 { close(nil) }
  }

  func forgetTicket() {
    ticket?.release()
    ticket = nil
  }

  /// The maximum number of open streams of the peer, unless an injected fault lowers it.
  package var streamLimit: Int { state.streamLimit }

  /// Raises the stream limit to its maximum, unless that was done before (APNs reference §5.3).
  package func allowAllStreams() {
    guard !state.allowsAllStreams, state.allowAllStreams(), interceptor?.limitsStreams != true else { return }
    session.announce(maximumStreams: streamLimit)
    setNeedsFlush()
  }
}
