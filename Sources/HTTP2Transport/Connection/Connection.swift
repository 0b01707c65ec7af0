import Glibc
package import NIOCore
package import PushCore
import Synchronization

/// Socket, TLS and HTTP/2 session of one peer, owned by one loop; the same for a server and a client.
///
/// What is submitted on the session during a turn of the loop goes out in one flush at its end.
package final class Connection: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  package typealias Peer = PeerOrigin

  package let loop: LoopContext
  package let session: HTTP2Session
  package let peer: Peer
  /// Counted from the start of the process.
  package let number = Connection.count.add(1, ordering: .relaxed).newValue
  /// Whether only the management of broadcast channels is served on this connection.
  package var servesChannelsOnly: Bool { options.servesChannelsOnly }
  /// The environment whose keys, certificates and device tokens are valid on this connection.
  package private(set) var environment: Environment
  /// Who the peer is by its certificate, when it showed one.
  package private(set) var identity: PeerIdentity?
  /// Says what becomes of the connection and of its streams, until it is closed; on the server's side only.
  package var owner: (any ConnectionOwner)?
  /// What stands between the connection and its peer, if anything does: an injected fault.
  package var interceptor: (any ConnectionInterceptor)?
  /// The number of the user whose process the peer is; nil: it is not known, as of any that did not come by the admin socket.
  package internal(set) var user: UInt32?
  /// What an API remembers of this connection.
  package var attachment: AnyObject?
  /// Whether the peer is asked from time to time whether it is alive.
  package var isWatched = false
  /// Called once, when the socket is gone, with the failure that ended it, if any.
  package var closed: (((any Error)?) -> Void)?

  private static let count = Atomic<Int>(0)
  private let tls: TLSConnection?
  private let options: ConnectionOptions
  private var context: ChannelHandlerContext?
  /// Whether there may be something to send that waits for the end of the turn.
  package private(set) var needsFlush = false
  /// Whether something was written to the channel since it was flushed.
  private var hasWritten = false
  private var state: ConnectionState
  /// Why the connection is to end once what arrives is dealt with: nothing may be sent while it is.
  private var pendingEnd: CloseReason?
  /// How often the peer went beyond a limit that is forgiven once.
  private var offenses = 0
  /// Times of ``tick()`` without a request of the peer's, and without anything of a backlog leaving.
  private var ticks = (unused: 0, unread: 0)
  /// Whether the peer has shown who it is: a device by its secret, a provider by its token or certificate, whoever may
  /// use the admin socket by that.
  package var hasCredential: Bool { kind != .stranger }
  /// What the peer has shown itself to be.
  package private(set) var kind: PeerKind
  /// Requests of the control plane that are at work for this connection.
  package var runningRequests = 0
  private var liveness = Liveness()
  /// What ended the connection, if it did not end in good order.
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
    kind = peer == .adminSocket ? .admin : .stranger
    environment = options.environment(host: nil)
    state = ConnectionState(
      isServer: role == .server, hasTLS: tls != nil, initialStreams: options.initialStreams)
    session = try HTTP2Session(
      role: role, pool: loop.streams, frameBuffer: loop.frameBuffer, maximumStreams: options.initialStreams)
    if role == .server {
      session.maximumIncompleteSize = hasCredential ? Limits.maximumIncompleteSize : Limits.maximumStrangerSize
      if !hasCredential { session.maximumPeerResets = Limits.maximumStrangerResets }
    }
    if role == .server { tls?.established = { [unowned self] in identify() } }
  }

  /// The handshake is done: now it is known who the peer is and whom it wants.
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

  /// The peer has shown a credential that is good.
  package func authenticated(as kind: PeerKind) {
    guard !hasCredential else { return }
    if loop.connections[ObjectIdentifier(self)] != nil { loop.meter.change(self.kind, to: kind) }
    self.kind = kind
    session.maximumIncompleteSize = Limits.maximumIncompleteSize
    session.maximumPeerResets = .max
    forgetTicket()
  }

  /// Its place among those that have shown no credential.
  private var ticket: UnauthenticatedConnections.Ticket?

  /// Counts among those that have shown no credential, until it does or ends; until then it may be ended for others.
  package func hold(_ ticket: UnauthenticatedConnections.Ticket) {
    self.ticket = ticket
    // By its number: a weak reference would make every count of references to the connection a slow one.
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

  /// The version of TLS, and when the peer's certificate ends, in seconds since 1970, if it has shown one; nil without TLS.
  package var tlsPeer: (version: String, certificateExpiry: Int64?)? {
    tls.map { ($0.version, $0.peerIdentity?.expires) }
  }

  // MARK: The socket

  /// The peer's address; nil on a Unix socket, and when the connection is over.
  package var remoteAddress: String? { client?.description ?? channel?.remoteAddress?.ipAddress }

  /// The client's address, where a balancer has said it.
  package var client: IPAddress?

  /// What its peer is counted with, among others of the same place.
  package var source: UnauthenticatedConnections.Source { peer == .remote ? .init(text: remoteAddress) : .loopback }

  /// The socket; nil when the connection is over.
  package var channel: (any Channel)? { context?.channel }

  /// Whether an injected fault has the connection neither read nor write.
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
    // It was accepted in the last moment.
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
    turnSize += buffer.readableBytes
    loop.meter.received.add(UInt64(buffer.readableBytes))
    if session.role == .server, let tls, !tls.isEstablished { awaitHandshake(with: buffer) } else { receive(buffer) }
  }

  private func receive(_ buffer: ByteBuffer) {
    do {
      try unsafe buffer.withUnsafeReadableBytes { bytes in
        guard let tls else { return isRefusing ? () : try unsafe session.receive(bytes) }
        let progress = try unsafe tls.receive(bytes, scratch: loop.scratch) { plaintext in
          // What a refused peer sends is read, so that it gets to read why, and dropped.
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

  /// Whether what the peer sends is dropped.
  private var isRefusing: Bool { state.isRefusing || pendingEnd != nil }

  /// Bytes of a server's handshake that wait for its turn; nil while there are none.
  private var handshakeBytes: ByteBuffer?

  /// Keeps what came, and reads no more, until it is the turn of this handshake: it costs the loop up to milliseconds, and
  /// its peer nothing.
  private func awaitHandshake(with buffer: ByteBuffer) {
    guard handshakeBytes == nil else {
      handshakeBytes?.writeImmutableBuffer(buffer)
      return
    }
    handshakeBytes = buffer
    setAutoRead()
    loop.awaitHandshake(self)
  }

  /// Goes on with the handshake by what came for it.
  func continueHandshake() {
    guard let buffer = handshakeBytes.take(), context != nil, !state.isClosing, !isFrozen else { return }
    receive(buffer)
    setAutoRead()
    flushIfNeeded()
  }

  /// All that had arrived is dealt with: what was answered at once leaves at once, so that the next connection of this
  /// turn finds its streams free again, and near.
  package func channelReadComplete(context: ChannelHandlerContext) {
    flushIfNeeded()
    if session.role == .server { shareTurn() }
    turnSize = 0
    context.fireChannelReadComplete()
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { setNeedsFlush() }
    context.fireChannelWritabilityChanged()
  }

  package func channelInactive(context: ChannelHandlerContext) {
    handle(.disconnected)
    if let tls, !tls.isEstablished, session.role == .server { loop.meter.handshakes.failed.add() }
    forgetTicket()
    if session.role == .server { loop.takeApart(self) } else { takeApart() }
    self.context = nil
  }

  /// Ends the streams of a connection whose socket is gone, and releases what it holds.
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

  /// Sends at the end of this turn, or when all that has arrived is dealt with.
  package func setNeedsFlush() {
    assert(loop.eventLoop.inEventLoop)
    guard !needsFlush else { return }
    needsFlush = true
    loop.flushAtEndOfTurn(self)
  }

  /// Sends what is due now instead of at the end of this turn.
  package func flushIfNeeded() {
    if needsFlush || hasWritten || state.isClosing { flush() }
  }

  /// Sends what is due, as long as the socket takes it.
  package func flush() {
    pack()
    guard let context, !isFrozen else { return }
    if hasWritten {
      hasWritten = false
      context.flush()
    }
    if state.isClosing { hangUp(context) }
  }

  /// Makes TLS records of what is due, one after another, as long as the socket takes them; they leave with ``flush()``.
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
          // What was written just now may have filled the record to its last byte: nothing more, but a stream drained.
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
  /// Whether the peer went on sending while the connection ended.
  private var hasReceivedLate = false

  /// Closes the socket; of a peer that may be sending only our half at first, and the rest when it has read that.
  private func hangUp(_ context: ChannelHandlerContext) {
    guard state.endsGently else { return context.close(promise: nil) }
    guard !isLingering else { return }
    isLingering = true
    setAutoRead()
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    context.close(mode: .output).whenFailure { _ in this.value.close(nil) }
    linger(times: ConnectionState.lateTime.times)
  }

  /// Closes when nothing came for a while, or when the time is over.
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

  /// Closes once what is due has been sent.
  package func closeAfterFlush() { handle(.finish) }

  /// Closes at once.
  package func close(_ error: (any Error)?) {
    failure = failure ?? error
    handle(.close)
  }

  /// Answers what is open, says GOAWAY with `Shutdown`, then closes (reference §5.4).
  package func drain(within times: DrainTimes = .stop) {
    if isFrozen, !isDraining, !isClosing { return close(nil) }
    handle(.drain(times))
  }

  /// Ends the connection for a cause: takes nothing more, answers what is complete, says GOAWAY, then closes.
  package func end(_ cause: CloseReason) { handle(.end(cause)) }

  /// Goes on with the end when no stream waits for anything of ours; called when one closes.
  package func closeIfIdle() {
    guard isDraining, session.openStreams.allSatisfy(\.isAbandoned) else { return }
    handle(.idle)
  }

  /// Whether the connection ends in good order.
  package var isDraining: Bool { state.isDraining }

  /// Whether nothing is read any more.
  package var isClosing: Bool { state.isClosing }

  /// Feeds the state what happens, and does what follows from it.
  private func handle(_ event: ConnectionState.Event) {
    assert(loop.eventLoop.inEventLoop)
    for action in state.handle(event) { perform(action) }
  }

  private func perform(_ action: ConnectionState.Action) {
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    switch action {
    case .startHandshakeTimeout:
      handshakeTimeout = loop.eventLoop.scheduleTask(in: Connection.handshakeTimeLimit) {
        // The peer is not late while its bytes wait for their turn.
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
    // Several clients hear nothing any more after a GOAWAY, which would overtake the bodies.
    if isAny { flush() }
  }

  // MARK: Limits

  /// The peer went beyond a limit. What may happen to an honest client once ends only its stream the first time.
  package func exceeded(_ limit: TransportLimit) {
    switch limit {
    case .headerList, .incompleteRequests:
      offenses += 1
      if offenses == 1 { return }
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

  /// Reads nothing until the peer takes what waits: each frame of its own may make one.
  private func pauseForBacklog() {
    guard !state.hasBacklog else { return }
    ticks.unread = 0
    owner?.exceeded(.waitingFrames, on: self)
    setPaused(true, for: .backlog)
  }

  /// Looks after the times that a peer has; called every ``Limits/tick`` seconds.
  package func tick() {
    isHeavy = isAwaitingTurn
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
      // What was answered, and what has no head, waits for nothing that could be said to it.
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

  /// Streams that the peer may have open, unless an injected fault allows it fewer.
  package var streamLimit: Int { state.streamLimit }

  /// Raises the stream limit to its full height, unless it is there (reference §5.3).
  package func allowAllStreams() {
    guard !state.allowsAllStreams, state.allowAllStreams(), interceptor?.limitsStreams != true else { return }
    session.announce(maximumStreams: streamLimit)
    setNeedsFlush()
  }

  // MARK: Pausing

  /// Whether what the peer sends is left in the socket.
  package var isPaused: Bool { state.isPaused }

  /// Bytes that were read since the socket was last found readable.
  private var turnSize = 0
  /// Whether nothing is read until others have had their turn.
  private var isAwaitingTurn = false

  /// Whether the peer sent more than fits into a turn a short while ago.
  private var isHeavy = false
  /// The newest request when the last turn ended.
  private var newestInTurn: Int32 = 0
  /// How often the socket is read in one go.
  private var reads = 1

  /// Has a connection that sent as much as fits into a turn read on when others had theirs. Of a request of another connection
  /// the loop is told, once the peer has shown a credential: otherwise a stranger would make the turns of all senders small.
  private func shareTurn() {
    let hasRequest = session.highestID != newestInTurn
    newestInTurn = session.highestID
    if turnSize < Limits.turnShare {
      if hasRequest, !isHeavy, hasCredential { loop.noteSmallRequest() }
    } else if !state.isClosing, !isFrozen {
      (isHeavy, isAwaitingTurn) = (true, true)
      setAutoRead()
      loop.awaitTurn(self)
    }
  }

  /// Reads on.
  ///
  /// - Parameter reads: how often, as much as fits into a turn each time.
  package func takeTurn(reads: Int) {
    isAwaitingTurn = false
    guard !isFrozen else { return }
    if reads != self.reads {
      self.reads = reads
      try? context?.channel.syncOptions?.setOption(.maxMessagesPerRead, value: UInt(reads))
    }
    setAutoRead()
  }

  private func setAutoRead() {
    let isRead = isLingering || !state.isPaused && !isAwaitingTurn && handshakeBytes == nil
    try? context?.channel.syncOptions?.setOption(.autoRead, value: isRead)
  }

  /// Leaves what the peer sends in the socket, until it can send no more.
  package func pauseReading() { setPaused(true) }

  /// Reads on.
  package func resumeReading() { setPaused(false) }

  private func setPaused(_ paused: Bool, for pause: ConnectionState.Pause = .reader) {
    if context != nil, state.setPaused(paused, for: pause) { setAutoRead() }
  }

  // MARK: Liveness

  /// Sees to it that a watched peer is asked whether it is alive, and given up when it is not; called twice in every
  /// interval between two PINGs. While nothing is read nobody is asked.
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

  /// Ends a connection whose certificate's time is over, or on which nothing came for too long; called every `interval`.
  /// Streams that devices hold open, and requests that wait for their answer, keep a silent one.
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

/// What stands behind a connection on the server's side. Called on the connection's loop.
package protocol ConnectionOwner: AnyObject {
  /// Why a peer whose handshake is done is not served, or no longer; nil: it is.
  func cause(toRefuse connection: Connection) -> CloseReason?
  /// The peer is served from now on.
  func began(_ connection: Connection)
  /// Answers a request that is not complete and will not be waited for.
  func abandon(_ stream: HTTP2Stream, for cause: CloseReason)
  /// What GOAWAY says of a cause.
  func debugData(of cause: CloseReason) -> [UInt8]
  /// Answers or resets a request that took too long to be complete.
  func timeOut(_ stream: HTTP2Stream)
  /// The peer met a limit.
  func exceeded(_ limit: TransportLimit, on connection: Connection)
}
