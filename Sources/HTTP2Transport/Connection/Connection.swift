import Glibc
package import NIOCore
package import PushCore
import Synchronization

/// The socket, TLS state and HTTP/2 session of one peer, for a server and for a client. Owned by one event loop.
///
/// Frames that are submitted on the session during an event-loop iteration leave in one flush at its end.
package final class Connection: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  package typealias Peer = PeerOrigin

  package let loop: LoopContext
  package let session: HTTP2Session
  package let peer: Peer
  /// The number of the connection, counted from the start of the process.
  package let number = Connection.count.add(1, ordering: .relaxed).newValue
  /// True if the connection serves only the management of broadcast channels.
  package var servesChannelsOnly: Bool { options.servesChannelsOnly }
  /// The environment whose keys, certificates and device tokens are valid on this connection.
  package private(set) var environment: Environment
  /// The identity in the peer's certificate; nil if the peer sent none.
  package private(set) var identity: PeerIdentity?
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
  private let tls: TLSConnection?
  private let options: ConnectionOptions
  private var context: ChannelHandlerContext?
  /// True if frames may be pending that are to be sent at the end of the event-loop iteration.
  package private(set) var needsFlush = false
  /// True if data was written to the channel since its last flush.
  private var hasWritten = false
  private var state: ConnectionState
  /// The reason for ending the connection after the current input is processed; nothing may be sent before that.
  private var pendingEnd: CloseReason?
  /// The number of times that the peer exceeded a limit whose first excess is tolerated.
  private var offenses = 0
  /// The numbers of ``tick()`` calls without a request of the peer, and without any data of a backlog being sent.
  private var ticks = (unused: 0, unread: 0)
  /// True if the peer is authenticated: a device by its secret, a provider by its token or certificate, an
  /// administrator by access to the admin socket or by a token.
  package var hasCredential: Bool { kind != .unauthenticated }
  /// The kind of peer, as far as it is authenticated.
  package private(set) var kind: PeerKind
  /// The number of control-plane requests of this connection in progress.
  package var runningRequests = 0
  private var liveness = Liveness()
  /// The error that ended the connection; nil if it ended in an orderly way.
  package private(set) var failure: (any Error)?
  private var handshakeTimeout: Scheduled<Void>?

  private static let handshakeTimeLimit = TimeAmount.seconds(15)

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
    if role == .server { tls?.established = { [unowned self] in identify() } }
  }

  /// Reads the peer's identity and the requested host after the TLS handshake.
  private func identify() {
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

  /// The entry of this connection in ``UnauthenticatedConnections``; nil once it is authenticated or over.
  private var ticket: UnauthenticatedConnections.Ticket?

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

  private func forgetTicket() {
    ticket?.release()
    ticket = nil
  }

  /// The TLS version, and the end of the peer's certificate in seconds since 1970, if it sent one; nil without TLS.
  package var tlsPeer: (version: String, certificateExpiry: Int64?)? {
    tls.map { ($0.version, $0.peerIdentity?.expires) }
  }

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
  private var isFrozen: Bool { interceptor?.isFrozen == true }

  package func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { start() }
  }

  package func channelActive(context: ChannelHandlerContext) { start() }

  private func start() {
    guard loop.connections[ObjectIdentifier(self)] == nil else { return }
    loop.add(self)
    handle(.connected)
    if let tls {
      do { try tls.start() } catch { return close(error) }
    }
    setNeedsFlush()
    // The connection was accepted after the drain began.
    if let times = loop.drainTimes { drain(within: times) }
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isFrozen else { return }
    hasReceived = true
    ticks.unused = 0
    if state.isDraining || state.isClosing { hasReceivedLate = true }
    guard !state.isClosing else { return }
    liveness.received()
    let buffer = unwrapInboundIn(data)
    iterationSize += buffer.readableBytes
    loop.meter.received.add(UInt64(buffer.readableBytes))
    if session.role == .server, let tls, !tls.isEstablished { awaitHandshake(with: buffer) } else { receive(buffer) }
  }

  private func receive(_ buffer: ByteBuffer) {
    do {
      try unsafe buffer.withUnsafeReadableBytes { bytes in
        guard let tls else { return isRefusing ? () : try unsafe session.receive(bytes) }
        let progress = try unsafe tls.receive(bytes, scratch: loop.scratch) { plaintext in
          // Input of a refused peer is read and dropped, so that the peer can still read the reason of the refusal.
          isRefusing ? .success(()) : Result { () throws(HTTP2Error) in try unsafe session.receive(plaintext) }
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
  private var isRefusing: Bool { state.isRefusing || pendingEnd != nil }

  /// Handshake bytes of a server connection that are queued for processing; nil if there are none.
  private var handshakeBytes: ByteBuffer?

  /// Buffers handshake bytes and pauses reading until this handshake is processed: a handshake costs the loop up to
  /// milliseconds, and its peer nothing.
  private func awaitHandshake(with buffer: ByteBuffer) {
    guard handshakeBytes == nil else {
      handshakeBytes?.writeImmutableBuffer(buffer)
      return
    }
    handshakeBytes = buffer
    setAutoRead()
    loop.awaitHandshake(self)
  }

  /// Continues the handshake with the buffered bytes.
  func continueHandshake() {
    guard let buffer = handshakeBytes.take() else { return }
    guard context != nil else { return endHandshake(with: buffer) }
    guard !state.isClosing, !isFrozen else { return }
    receive(buffer)
    setAutoRead()
    flushIfNeeded()
  }

  /// Processes the last bytes of a handshake whose peer has closed the connection: they show for the log why it failed.
  private func endHandshake(with buffer: ByteBuffer) {
    do {
      _ = try unsafe buffer.withUnsafeReadableBytes { bytes in
        try unsafe tls?.receive(bytes, scratch: loop.scratch) { _ -> Result<Void, HTTP2Error> in .success(()) }
      }
    } catch {
      failure = failure ?? error
    }
    leave()
  }

  /// Flushes after all received data is processed: immediate responses leave at once, so that the next connection of
  /// this event-loop iteration finds their streams free again, and still in the cache.
  package func channelReadComplete(context: ChannelHandlerContext) {
    flushIfNeeded()
    if session.role == .server { shareIteration() }
    iterationSize = 0
    context.fireChannelReadComplete()
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { setNeedsFlush() }
    context.fireChannelWritabilityChanged()
  }

  package func channelInactive(context: ChannelHandlerContext) {
    handle(.disconnected)
    forgetTicket()
    self.context = nil
    if handshakeBytes == nil { leave() }
  }

  /// Releases the connection after its socket is closed and its last bytes are processed.
  private func leave() {
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

  package func errorCaught(context: ChannelHandlerContext, error: any Error) { close(error) }

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
  /// True if the peer continued to send while the connection ended.
  private var hasReceivedLate = false

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
    handle(.drain(times))
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
  private func handle(_ event: ConnectionState.Event) {
    assert(loop.eventLoop.inEventLoop)
    for action in state.handle(event) { perform(action) }
  }

  private func perform(_ action: ConnectionState.Action) {
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    switch action {
    case .startHandshakeTimeout:
      handshakeTimeout = loop.eventLoop.scheduleTask(in: Connection.handshakeTimeLimit) {
        // The timeout does not count the time that the peer's bytes are queued on this side.
        guard this.value.handshakeBytes == nil else { return this.value.perform(.startHandshakeTimeout) }
        this.value.loop.meter.limits.add(.handshakeTime)
        this.value.close(TLSError("the TLS handshake took too long"))
      }
    case .cancelHandshakeTimeout:
      handshakeTimeout?.cancel()
      handshakeTimeout = nil
    case .drainStreams: for stream in session.openStreams { stream.consumer?.drain() }
    case .answerIncomplete(let cause): answerIncomplete(cause)
    case .checkIdle: closeIfIdle()
    case .sendGoAway(let cause): session.goAway(cause.errorCode, debugData: owner?.debugData(of: cause) ?? [])
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

  /// Checks the timeouts of the peer; called every ``Limits/tick`` seconds.
  package func tick() {
    isHeavy = isQueued
    guard let owner, !isDraining, !isClosing, !state.isHandshaking, !isFrozen else { return }
    if state.isPaused {
      ticks.unread += 1
      guard state.hasBacklog, ticks.unread * Limits.tick >= Limits.unreadTime else { return }
      owner.exceeded(.unreadTime, on: self)
      return close(KeepAliveTimeout())
    }
    guard session.tick() else {
      owner.exceeded(.settingsTime, on: self)
      return end(.settingsTimeout)
    }
    if !hasCredential, !session.hasBegun {
      ticks.unused += 1
      guard ticks.unused * Limits.tick < Limits.firstRequestTime else {
        owner.exceeded(.firstRequestTime, on: self)
        return end(.idle)
      }
    }
    for stream in session.openStreams where !stream.isInboundEnded && stream.consumer == nil {
      stream.age += 1
      guard stream.age * Limits.tick > Limits.requestTime else { continue }
      // A stream that is already answered, or that has no head, can't receive an error response.
      guard stream.hasHead else {
        owner.exceeded(.requestTime, on: self)
        return end(.excess(.requestTime))
      }
      if stream.hasSubmittedHead {
        session.reset(stream, .noError)
      } else {
        owner.exceeded(.requestTime, on: self)
        owner.timeOut(stream)
      }
      setNeedsFlush()
    }
  }

  // MARK: The stream limit

  /// The maximum number of open streams of the peer, unless an injected fault lowers it.
  package var streamLimit: Int { state.streamLimit }

  /// Raises the stream limit to its maximum, unless that was done before (APNs reference §5.3).
  package func allowAllStreams() {
    guard !state.allowsAllStreams, state.allowAllStreams(), interceptor?.limitsStreams != true else { return }
    session.announce(maximumStreams: streamLimit)
    setNeedsFlush()
  }

  // MARK: Pausing

  /// True if input of the peer is left in the socket.
  package var isPaused: Bool { state.isPaused }

  /// The number of bytes read since the socket last became readable.
  private var iterationSize = 0
  /// True while reading is paused until other connections are served.
  private var isQueued = false

  /// True if the peer recently sent more than its share of one event-loop iteration.
  private var isHeavy = false
  /// The ID of the newest request at the end of the last event-loop iteration.
  private var newestInIteration: Int32 = 0
  /// The maximum number of reads of the socket in one event-loop iteration.
  private var reads = 1

  /// Pauses a connection that used its share of the event-loop iteration until other connections were served.
  ///
  /// Reports small requests of authenticated peers to the loop. A request of an unauthenticated client is not
  /// reported, since it would reduce the shares of all senders.
  private func shareIteration() {
    let hasRequest = session.highestID != newestInIteration
    newestInIteration = session.highestID
    if iterationSize < Limits.iterationShare {
      if hasRequest, !isHeavy, hasCredential { loop.noteSmallRequest() }
    } else if !state.isClosing, !isFrozen {
      (isHeavy, isQueued) = (true, true)
      setAutoRead()
      loop.enqueue(self)
    }
  }

  /// Resumes reading.
  ///
  /// - Parameter reads: the maximum number of reads, each of at most one share of an event-loop iteration.
  package func resume(reads: Int) {
    isQueued = false
    guard !isFrozen else { return }
    if reads != self.reads {
      self.reads = reads
      try? context?.channel.syncOptions?.setOption(.maxMessagesPerRead, value: UInt(reads))
    }
    setAutoRead()
  }

  private func setAutoRead() {
    let isRead = isLingering || !state.isPaused && !isQueued && handshakeBytes == nil
    try? context?.channel.syncOptions?.setOption(.autoRead, value: isRead)
  }

  /// Pauses reading: input stays in the socket until the peer can't send any more.
  package func pauseReading() { setPaused(true) }

  /// Resumes reading.
  package func resumeReading() { setPaused(false) }

  private func setPaused(_ paused: Bool, for pause: ConnectionState.Pause = .reader) {
    if context != nil, state.setPaused(paused, for: pause) { setAutoRead() }
  }

  // MARK: Liveness

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

  private var hasReceived = false
  private var quietTime = Duration.zero

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

/// The owner of a connection on the server's side. Called on the connection's loop.
package protocol ConnectionOwner: AnyObject {
  /// Returns the reason for which a peer is refused after its handshake, or is no longer served; nil if it is served.
  func cause(toRefuse connection: Connection) -> CloseReason?
  /// Notifies the owner that the peer is served from now on.
  func began(_ connection: Connection)
  /// Answers an incomplete request that will not be completed.
  func abandon(_ stream: HTTP2Stream, for cause: CloseReason)
  /// Returns the debug data of GOAWAY for a reason.
  func debugData(of cause: CloseReason) -> [UInt8]
  /// Answers or resets a request that was not complete in time.
  func timeOut(_ stream: HTTP2Stream)
  /// Reports that the peer exceeded a limit.
  func exceeded(_ limit: TransportLimit, on connection: Connection)
}
