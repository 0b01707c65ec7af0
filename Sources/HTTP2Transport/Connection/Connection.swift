import Glibc
package import NIOCore
package import PushCore
import Synchronization

/// The socket, TLS state and HTTP/2 session of one peer, for a server and for a client. Owned by one event loop.
///
/// Frames that are submitted on the session during an event-loop iteration leave in one flush at its end.
package final class Connection {
  package typealias Peer = PeerOrigin

  package let loop: LoopContext
  package let session: HTTP2Session
  package let peer: Peer
  /// The number of the connection, counted from the start of the process.
  package let number = Connection.count.add(1, ordering: .relaxed).newValue
  /// True if the connection serves only the management of broadcast channels.
  package var servesChannelsOnly: Bool { options.servesChannelsOnly }
  /// The environment whose keys, certificates and device tokens are valid on this connection.
  package internal(set) var environment: Environment
  /// The identity in the peer's certificate; nil if the peer sent none.
  package internal(set) var identity: PeerIdentity?
  /// The owner, which decides about the connection and its streams until it closes; only on the server's side.
  package var owner: (any ConnectionOwner)?
  /// An injected fault between the connection and its peer; nil if there is none.
  package var interceptor: (any ConnectionInterceptor)?
  /// The ID of the user whose process is the peer; nil if unknown, as for every peer that did not use the admin
  /// socket.
  package internal(set) var user: UInt32?
  /// The state that an API stores for this connection.
  package var attachment: AnyObject?
  /// True if the gateway sends PINGs to the peer at intervals.
  package var isWatched = false
  /// Called once when the socket is closed, with the error that ended the connection, if any.
  package var closed: (((any Error)?) -> Void)?

  private static let count = Atomic<Int>(0)
  let tls: TLSConnection?
  let options: ConnectionOptions
  var context: ChannelHandlerContext?
  /// True if frames may be pending that are to be sent at the end of the event-loop iteration.
  package private(set) var needsFlush = false
  /// True if data was written to the channel since its last flush.
  private var hasWritten = false
  var state: ConnectionState
  /// The reason for ending the connection after the current input is processed; nothing may be sent before that.
  var pendingEnd: CloseReason?
  /// The number of times that the peer exceeded a limit whose first excess is tolerated.
  var offenses = 0
  /// The numbers of ``tick()`` calls without a request of the peer, and without any data of a backlog being sent; the
  /// newest stream at the last call, and true if only endless streams were open then and none had begun since the call
  /// before.
  var ticks = (unused: 0, unread: 0, highestID: Int32(0), isQuiet: false)
  /// True if the peer is authenticated: a device by its secret, a provider by its token or certificate, an
  /// administrator by access to the admin socket or by a token.
  package var hasCredential: Bool { kind != .unauthenticated }
  /// The kind of peer, as far as it is authenticated.
  package internal(set) var kind: PeerKind
  /// The number of control-plane requests of this connection in progress.
  package var runningRequests = 0
  var liveness = Liveness()
  var hasReceived = false
  var quietTime = Duration.zero
  /// The error that ended the connection; nil if it ended in an orderly way.
  package internal(set) var failure: (any Error)?
  private var handshakeTimeout: Scheduled<Void>?

  package init(
    role: HTTP2Session.Role, loop: LoopContext, tls: TLSConnection?, peer: Peer,
    options: ConnectionOptions = ConnectionOptions()
  ) throws {
    self.loop = loop
    self.tls = tls
    self.peer = peer
    self.options = options
    kind = peer == .adminSocket ? .admin : .unauthenticated
    environment = options.environment(host: nil)
    state = ConnectionState(
      isServer: role == .server, hasTLS: tls != nil, initialStreams: options.initialStreams)
    session = try HTTP2Session(
      role: role, pool: loop.streams, frameBuffer: loop.frameBuffer, maximumStreams: options.initialStreams)
    if role == .server {
      session.maximumIncompleteSize = hasCredential ? Limits.maximumIncompleteSize : Limits.maximumUnauthenticatedSize
      session.keptShare = hasCredential ? Limits.keptShare : Limits.unauthenticatedKeptShare
      if !hasCredential { session.maximumPeerResets = Limits.maximumUnauthenticatedResets }
    }
  }

  /// The entry of this connection in ``UnauthenticatedConnections``; nil once it is authenticated or over.
  var ticket: UnauthenticatedConnections.Ticket?

  // MARK: The socket

  /// The peer's address; nil on a Unix socket, and after the connection is closed.
  package var remoteAddress: String? { client?.description ?? channel?.remoteAddress?.ipAddress }

  /// The client's address in the PROXY header of a load balancer; nil without one.
  package var client: IPAddress?

  /// The source under which ``UnauthenticatedConnections`` counts the peer.
  package var source: UnauthenticatedConnections.Source { peer == .remote ? .init(text: remoteAddress) : .loopback }

  /// The socket; nil after the connection is closed.
  package var channel: (any Channel)? { context?.channel }

  /// True while an injected fault prevents the connection from reading and writing.
  var isFrozen: Bool { interceptor?.isFrozen == true }

  func receive(_ buffer: ByteBuffer) {
    do {
      try unsafe buffer.withUnsafeReadableBytes { bytes in
        guard let tls else { return dropsInput ? () : try unsafe session.receive(bytes) }
        let progress = try unsafe tls.receive(bytes, scratch: loop.scratch) { plaintext in
          // Input is read and dropped, so that the peer can still read the reason of the end.
          dropsInput ? .success(()) : Result { () throws(HTTP2Error) in try unsafe session.receive(plaintext) }
        }
        if state.isHandshaking, tls.isEstablished { handle(.established) }
        if progress == .closedByPeer { closeAfterFlush() }
      }
    } catch {
      failure = error
      closeAfterFlush()
    }
    endIfPending()
    if session.waitingFrames > Limits.maximumWaitingFrames { pauseForBacklog() }
    if session.wantsToSend || session.isFinished || tls?.hasOutbound == true { setNeedsFlush() }
  }

  /// True if input of the peer is dropped.
  private var dropsInput: Bool { state.dropsInput || pendingEnd != nil }

  /// Handshake bytes of a server connection that are queued for processing; nil if there are none.
  var handshakeBytes: ByteBuffer?

  /// Releases the connection after its socket is closed and its last bytes are processed.
  func leave() {
    if let tls, !tls.isEstablished, session.role == .server { loop.meter.handshakes.failed.add() }
    if session.role == .server { loop.takeApart(self) } else { takeApart() }
  }

  /// Ends the streams of a connection whose socket is closed, and releases its resources.
  func takeApart() {
    session.abandon()
    session.delegate = nil
    owner = nil
    loop.remove(self)
    context = nil
    let closed = closed
    self.closed = nil
    attachment = nil
    closed?(failure)
  }

  // MARK: Sending

  /// Schedules a flush for the end of this event-loop iteration, or for when all received data is processed.
  package func setNeedsFlush() {
    assert(loop.eventLoop.inEventLoop)
    guard !needsFlush else { return }
    needsFlush = true
    loop.flushAtIterationEnd(self)
  }

  /// Flushes pending output now instead of at the end of this event-loop iteration.
  package func flushIfNeeded() {
    if needsFlush || hasWritten || state.isClosing { flush() }
  }

  /// Sends pending output, as long as the socket accepts data.
  package func flush() {
    pack()
    guard let context, !isFrozen else { return }
    if hasWritten {
      hasWritten = false
      context.flush()
    }
    if state.isClosing { hangUp(context) }
  }

  /// Packs pending output into TLS records, as long as the socket accepts data; ``flush()`` sends them.
  package func pack() {
    assert(loop.eventLoop.inEventLoop)
    needsFlush = false
    guard let context, !isFrozen else { return }
    do {
      if tls?.isEstablished ?? true {
        while context.channel.isWritable {
          loop.plaintext.removeAll(keepingCapacity: true)
          let hasMore = try session.send(into: &loop.plaintext, limit: Limits.recordSize)
          if !loop.plaintext.isEmpty { try write(loop.plaintext, context) }
          // The data may have filled the record to its last byte: no data is left, but a stream has drained.
          if !hasMore, !session.announceDrained() || !session.wantsToSend { break }
        }
      }
      writeCiphertext(context)
    } catch {
      failure = failure ?? error
      handle(.writeFailed)
      writeCiphertext(context)
    }
    endIfPending()
    if state.hasBacklog, session.waitingFrames <= Limits.maximumWaitingFrames / 2 { setPaused(false, for: .backlog) }
    if session.isFinished { handle(.sessionFinished) }
    if state.isClosing {
      tls?.close()
      writeCiphertext(context)
    }
  }

  private func write(_ plaintext: [UInt8], _ context: ChannelHandlerContext) throws {
    guard let tls else {
      hasWritten = true
      loop.meter.sent.add(UInt64(plaintext.count))
      context.write(wrapOutboundOut(context.channel.allocator.buffer(bytes: plaintext)), promise: nil)
      return
    }
    try unsafe plaintext.withUnsafeBytes { try unsafe tls.send($0) }
    writeCiphertext(context)
  }

  private func writeCiphertext(_ context: ChannelHandlerContext) {
    guard let tls, tls.hasOutbound else { return }
    hasWritten = true
    loop.meter.sent.add(UInt64(tls.outbound.readableBytes))
    context.write(wrapOutboundOut(tls.takeOutbound()), promise: nil)
  }

  // MARK: Ending

  private var isLingering = false
  /// True if the peer continued to send after GOAWAY.
  var hasReceivedLate = false

  /// Closes the socket. For a peer that may still be sending, closes only the output first, and the rest after the
  /// peer had time to read it.
  private func hangUp(_ context: ChannelHandlerContext) {
    guard state.endsGently else { return context.close(promise: nil) }
    guard !isLingering else { return }
    isLingering = true
    setAutoRead()
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    context.close(mode: .output).whenFailure { _ in this.value.close(nil) }
    linger(times: ConnectionState.lateTime.times)
  }

  /// Closes the socket after a silent period, or after `times` periods.
  private func linger(times: Int) {
    let wasSending = hasReceivedLate
    hasReceivedLate = false
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    let time = ConnectionState.lateTime
    loop.eventLoop.scheduleTask(in: wasSending ? time.sending : time.silent) {
      guard this.value.hasReceivedLate, times > 1 else { return this.value.close(nil) }
      this.value.linger(times: times - 1)
    }
  }

  /// Closes the connection after pending output is sent.
  package func closeAfterFlush() { handle(.finish) }

  /// Closes the connection at once.
  package func close(_ error: (any Error)?) {
    failure = failure ?? error
    handle(.close)
  }

  /// Answers the open requests, sends GOAWAY with `Shutdown`, then closes (APNs reference §5.4).
  package func drain(within times: DrainTimes = .stop) {
    if isFrozen, !isDraining, !isClosing { return close(nil) }
    let isQuiet = session.highestID == 0 || ticks.isQuiet && session.highestID == ticks.highestID
    handle(.drain(times, isQuiet: isQuiet))
  }

  /// Ends the connection for a reason: accepts no more requests, answers the complete ones, sends GOAWAY, then
  /// closes.
  package func end(_ cause: CloseReason) { handle(.end(cause)) }

  /// Continues the end of the connection if no stream has an outstanding response; called when a stream closes.
  package func closeIfIdle() {
    guard isDraining, session.openStreams.allSatisfy(\.isAbandoned) else { return }
    handle(.idle)
  }

  /// True while the connection ends in an orderly way.
  package var isDraining: Bool { state.isDraining }

  /// True if nothing is read any more.
  package var isClosing: Bool { state.isClosing }

  /// Passes an event to the state machine and performs the resulting actions.
  func handle(_ event: ConnectionState.Event) {
    assert(loop.eventLoop.inEventLoop)
    for action in state.handle(event) { perform(action) }
  }

  private func perform(_ action: ConnectionState.Action) {
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    switch action {
    case .startHandshakeTimeout:
      handshakeTimeout = loop.eventLoop.scheduleTask(in: TimeAmount(Limits.handshakeTime)) {
        // The timeout does not count the time that the peer's bytes are queued on this side.
        guard this.value.handshakeBytes == nil else { return this.value.perform(.startHandshakeTimeout) }
        this.value.loop.meter.limits.add(.handshakeTime)
        this.value.close(TLSError("the TLS handshake took too long"))
      }
    case .cancelHandshakeTimeout:
      handshakeTimeout?.cancel()
      handshakeTimeout = nil
    case .drainStreams: for stream in session.openStreams { stream.consumer?.drain() }
    case .excludeRequests: session.lastServed = session.highestID
    case .answerIncomplete(let cause): answerIncomplete(cause)
    case .checkIdle: closeIfIdle()
    case .ping(let number): session.ping(number)
    case .sendGoAway(let cause):
      session.goAway(cause.errorCode, debugData: owner?.debugData(of: cause) ?? [])
      hasReceivedLate = false
    case .stopReading: setPaused(true, for: .drain)
    case .resumeReading: setPaused(false, for: .drain)
    case .flush: setNeedsFlush()
    case .closeSocket: context?.close(promise: nil)
    case .schedule(let event, let time): loop.eventLoop.scheduleTask(in: time) { this.value.handle(event) }
    }
  }

  private func answerIncomplete(_ cause: CloseReason) {
    var isAny = false
    for stream in session.openStreams where !stream.isInboundEnded && stream.consumer == nil && !stream.isAbandoned {
      stream.isAbandoned = true
      isAny = true
      owner?.abandon(stream, for: cause)
    }
    // Several clients ignore all data after a GOAWAY, which would be sent before the response bodies.
    if isAny { flush() }
  }

  // MARK: Limits

  private func endIfPending() {
    guard let cause = pendingEnd else { return }
    pendingEnd = nil
    end(cause)
  }

  /// Pauses reading until the peer reads the pending frames: each frame of the peer may cause another one.
  private func pauseForBacklog() {
    guard !state.hasBacklog else { return }
    ticks.unread = 0
    owner?.exceeded(.waitingFrames, on: self)
    setPaused(true, for: .backlog)
  }

  // MARK: Pausing

  /// The use of the share of an event-loop iteration.
  var share = IterationShare()

  /// Resumes reading.
  ///
  /// - Parameter reads: the maximum number of reads, each of at most one share of an event-loop iteration.
  package func resume(reads: Int) {
    share.isQueued = false
    guard !isFrozen else { return }
    if reads != share.reads {
      share.reads = reads
      try? context?.channel.syncOptions?.setOption(.maxMessagesPerRead, value: UInt(reads))
    }
    setAutoRead()
  }

  func setAutoRead() {
    let isRead = isLingering || !state.isPaused && !share.isQueued && handshakeBytes == nil
    try? context?.channel.syncOptions?.setOption(.autoRead, value: isRead)
  }

  func setPaused(_ paused: Bool, for pause: ConnectionState.Pause = .reader) {
    if context != nil, state.setPaused(paused, for: pause) { setAutoRead() }
  }
}

/// The owner of a connection on the server's side. Called on the connection's loop.
package protocol ConnectionOwner: AnyObject {
  /// Returns the reason for which a peer is refused after its handshake, or is no longer served; nil if it is served.
  func cause(toRefuse connection: Connection) -> CloseReason?
  /// Notifies the owner that the peer is served from now on.
  func began(_ connection: Connection)
  /// Answers an incomplete request that will not be completed.
  func abandon(_ stream: HTTP2Stream, for cause: CloseReason)
  func debugData(of cause: CloseReason) -> [UInt8]
  /// Answers or resets a request that was not complete in time.
  func timeOut(_ stream: HTTP2Stream)
  /// Reports that the peer exceeded a limit.
  func exceeded(_ limit: TransportLimit, on connection: Connection)
}
