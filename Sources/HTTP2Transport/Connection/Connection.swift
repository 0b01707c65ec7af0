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

  /// Where the peer is, which decides what it may do unasked.
  package enum Peer: Sendable { case adminSocket, loopback, remote }

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
  private var isClosing = false
  private var liveness = Liveness()
  /// What ended the connection, if it did not end in good order.
  package private(set) var failure: (any Error)?
  private var handshakeTimeout: Scheduled<Void>?

  /// GOAWAY comes when no stream is open, or after this time in any case.
  private static let patience: TimeAmount = .seconds(3)
  /// After GOAWAY the socket closes when all is answered, or after this time in any case.
  private static let lastPatience: TimeAmount = .seconds(4)
  private static let handshakePatience: TimeAmount = .seconds(15)

  package init(
    role: HTTP2Session.Role, loop: LoopContext, tls: TLSConnection?, peer: Peer,
    options: ConnectionOptions = ConnectionOptions()
  ) throws {
    self.loop = loop
    self.tls = tls
    self.peer = peer
    self.options = options
    environment = options.environment(host: nil)
    session = try HTTP2Session(
      role: role, pool: loop.streams, frameBuffer: loop.frameBuffer, maximumStreams: options.initialStreams)
    if role == .server { tls?.established = { [unowned self] in identify() } }
  }

  /// The handshake is done: now it is known who the peer is and whom it wants.
  private func identify() {
    environment = options.environment(host: tls?.serverName)
    identity = tls?.peerIdentity
    if let cause = owner?.cause(toRefuse: self) {
      end(cause)
      return
    }
    if identity != nil { allowAllStreams() }
    owner?.began(self)
  }

  // MARK: The socket

  /// The peer's address; nil on a Unix socket, and when the connection is over.
  package var remoteAddress: String? { context?.channel.remoteAddress?.ipAddress }

  package func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { start() }
  }

  package func channelActive(context: ChannelHandlerContext) { start() }

  private func start() {
    guard loop.connections[ObjectIdentifier(self)] == nil else { return }
    loop.add(self)
    if let tls {
      let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
      handshakeTimeout = loop.eventLoop.scheduleTask(in: Connection.handshakePatience) {
        this.value.close(TLSError("the TLS handshake took too long"))
      }
      do { try tls.start() } catch { return close(error) }
    }
    setNeedsFlush()
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isClosing, !isFrozen else { return }
    hasReceived = true
    liveness.heard()
    let buffer = unwrapInboundIn(data)
    do {
      try unsafe buffer.withUnsafeReadableBytes { bytes in
        guard let tls else { return try unsafe session.receive(bytes) }
        let progress = try unsafe tls.receive(bytes, scratch: loop.scratch) { plaintext in
          // What a refused peer sends is read, so that it gets to read why, and dropped.
          isRefused ? .success(()) : Result { () throws(HTTP2Error) in try unsafe session.receive(plaintext) }
        }
        if tls.isEstablished, let timeout = handshakeTimeout {
          timeout.cancel()
          handshakeTimeout = nil
        }
        if progress == .closedByPeer { closeAfterFlush() }
      }
    } catch {
      failure = error
      closeAfterFlush()
    }
    if session.wantsToSend || session.isFinished || tls?.hasOutbound == true { setNeedsFlush() }
  }

  /// All that had arrived is dealt with: what was answered at once leaves at once, so that the next connection of this
  /// turn finds its streams free again, and near.
  package func channelReadComplete(context: ChannelHandlerContext) {
    flushIfNeeded()
    context.fireChannelReadComplete()
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { setNeedsFlush() }
    context.fireChannelWritabilityChanged()
  }

  package func channelInactive(context: ChannelHandlerContext) {
    handshakeTimeout?.cancel()
    isClosing = true
    session.abandon()
    session.delegate = nil
    owner = nil
    loop.remove(self)
    self.context = nil
    let closed = closed
    self.closed = nil
    attachment = nil
    closed?(failure)
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) { close(error) }

  // MARK: Sending

  /// Sends at the end of this turn, or when all that has arrived is dealt with.
  package func setNeedsFlush() {
    guard !needsFlush else { return }
    needsFlush = true
    loop.flushAtEndOfTurn(self)
  }

  /// Sends what is due now instead of at the end of this turn.
  package func flushIfNeeded() {
    if needsFlush || hasWritten || isClosing { flush() }
  }

  /// Sends what is due, as long as the socket takes it.
  package func flush() {
    pack()
    guard let context, !isFrozen else { return }
    if hasWritten {
      hasWritten = false
      context.flush()
    }
    if isClosing { context.close(promise: nil) }
  }

  /// Makes TLS records of what is due, one after another, as long as the socket takes them; they leave with ``flush()``.
  package func pack() {
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
      isClosing = true
      writeCiphertext(context)
    }
    // After its GOAWAY a session counts as finished; the socket stays open a little longer (``sayGoAway()``).
    if session.isFinished && !hasSaidGoAway { isClosing = true }
    if isClosing {
      tls?.close()
      writeCiphertext(context)
    }
  }

  private func write(_ plaintext: [UInt8], _ context: ChannelHandlerContext) throws {
    guard let tls else {
      hasWritten = true
      context.write(wrapOutboundOut(context.channel.allocator.buffer(bytes: plaintext)), promise: nil)
      return
    }
    try unsafe plaintext.withUnsafeBytes { try unsafe tls.send($0) }
    writeCiphertext(context)
  }

  private func writeCiphertext(_ context: ChannelHandlerContext) {
    guard let tls, tls.hasOutbound else { return }
    hasWritten = true
    context.write(wrapOutboundOut(tls.takeOutbound()), promise: nil)
  }

  // MARK: Ending

  /// Closes once what is due has been sent.
  package func closeAfterFlush() {
    isClosing = true
    setNeedsFlush()
  }

  /// Closes at once.
  package func close(_ error: (any Error)?) {
    failure = failure ?? error
    isClosing = true
    context?.close(promise: nil)
  }

  /// Answers what is open, says GOAWAY with `Shutdown`, then closes (reference §5.4).
  package func drain() {
    guard session.role == .server, !isClosing, endCause == nil else { return }
    if isFrozen { return close(nil) }
    beginEnd(.shutdown)
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    loop.eventLoop.scheduleTask(in: Connection.patience) { this.value.endNow() }
    closeAtLast(in: Connection.patience + Connection.lastPatience)
  }

  /// Ends the connection for a cause: takes nothing more, answers what is complete, says GOAWAY, then closes.
  package func end(_ cause: ConnectionEnd) {
    guard session.role == .server, !isClosing, !isRefused else { return }
    isRefused = true
    closeAtLast(in: Connection.lastPatience)
    beginEnd(cause)
    abandonIncomplete()
    endIfQuiet()
  }

  /// Whether the connection is on its way to its end.
  package var isEnding: Bool { endCause != nil }
  /// Why it is; nil while it is not.
  private var endCause: ConnectionEnd?
  private var hasSaidGoAway = false
  /// Whether nothing that the peer sends is heard.
  private var isRefused = false

  private func beginEnd(_ cause: ConnectionEnd) {
    endCause = cause
    for stream in session.openStreams { stream.consumer?.drain() }
    setNeedsFlush()
    endIfQuiet()
  }

  /// Goes on with the end when no stream waits for anything of ours; called when one closes.
  package func endIfQuiet() {
    guard endCause != nil, session.openStreams.allSatisfy(\.isAbandoned) else { return }
    sayGoAway()
    // A little later, so that the peer reads the GOAWAY before it meets a closed socket.
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    loop.eventLoop.scheduleTask(in: .milliseconds(100)) { this.value.closeAfterFlush() }
  }

  /// Waits no longer: what is complete may be answered after GOAWAY, what is not is answered now.
  private func endNow() {
    guard !isClosing else { return }
    abandonIncomplete()
    sayGoAway()
    endIfQuiet()
  }

  private func abandonIncomplete() {
    guard let endCause else { return }
    var isAny = false
    for stream in session.openStreams where !stream.isInboundEnded && stream.consumer == nil && !stream.isAbandoned {
      stream.isAbandoned = true
      isAny = true
      owner?.abandon(stream, for: endCause)
    }
    // Several clients hear nothing any more after a GOAWAY, which would overtake the bodies.
    if isAny { flush() }
  }

  private func sayGoAway() {
    guard !isClosing, !hasSaidGoAway, let endCause else { return }
    hasSaidGoAway = true
    session.goAway(debugData: owner?.debugData(of: endCause) ?? [])
    setNeedsFlush()
  }

  private func closeAtLast(in time: TimeAmount) {
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    loop.eventLoop.scheduleTask(in: time) { this.value.close(nil) }
  }

  // MARK: Faults on purpose

  /// Whether the connection is half-open: it neither reads nor writes, and the socket stays.
  private var isFrozen = false
  private var shortages: [Shortage] = []

  /// What a fault keeps from the peer.
  package struct Shortage {
    /// The fault's number.
    package var fault: UInt64
    /// Streams it may have open, if that is what is short.
    package var streams: Int?
    /// The window of each stream, in bytes, if that is what is short.
    package var streamWindow: Int?

    package init(fault: UInt64, streams: Int? = nil, streamWindow: Int? = nil) {
      self.fault = fault
      self.streams = streams
      self.streamWindow = streamWindow
    }
  }

  /// Reads and writes no more until the peer gives up or the gateway stops.
  package func freeze() {
    isFrozen = true
    context?.channel.setOption(.autoRead, value: false).whenFailure { _ in }
  }

  /// Ends the connection with a TCP reset, whatever waits to be sent.
  package func abort() {
    guard let context else { return }
    isClosing = true
    // Without lingering, close() throws away what was not sent and says RST.
    (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenFailure { _ in }
    context.close(promise: nil)
  }

  /// Says GOAWAY and hangs up a little later, with no answer to what is open.
  package func breakOff(debugData: [UInt8]) {
    session.goAway(debugData: debugData)
    setNeedsFlush()
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    loop.eventLoop.scheduleTask(in: .milliseconds(100)) { this.value.closeAfterFlush() }
  }

  /// Keeps something from the peer, until ``endShortage(_:)``.
  package func setShortage(_ shortage: Shortage) {
    guard !shortages.contains(where: { $0.fault == shortage.fault }) else { return }
    shortages.append(shortage)
    announceShortages(of: shortage)
  }

  /// Gives back what these faults have kept from the peer.
  package func endShortage(_ faults: Set<UInt64>) {
    let ended = shortages.filter { faults.contains($0.fault) }
    shortages.removeAll { faults.contains($0.fault) }
    for shortage in ended { announceShortages(of: shortage) }
  }

  private func announceShortages(of kind: Shortage) {
    guard !isClosing else { return }
    if kind.streams != nil {
      session.announce(maximumStreams: shortages.compactMap(\.streams).min() ?? currentStreams)
    }
    if kind.streamWindow != nil {
      session.announce(streamWindow: shortages.compactMap(\.streamWindow).min() ?? Limits.streamWindowSize)
    }
    setNeedsFlush()
  }

  // MARK: The stream limit

  private var currentStreams: Int { allowsAllStreams ? Limits.maximumConcurrentStreams : options.initialStreams }

  private var allowsAllStreams = false

  /// Raises the stream limit to its full height, unless it is there (reference §5.3).
  package func allowAllStreams() {
    guard !allowsAllStreams else { return }
    allowsAllStreams = true
    announceStreams()
  }

  /// Lowers the stream limit to where it began, until something is accepted again (reference §5.3).
  package func allowFewStreams() {
    guard allowsAllStreams else { return }
    allowsAllStreams = false
    announceStreams()
  }

  private func announceStreams() {
    guard options.initialStreams != Limits.maximumConcurrentStreams, shortages.allSatisfy({ $0.streams == nil }) else {
      return
    }
    session.announce(maximumStreams: currentStreams)
    setNeedsFlush()
  }

  // MARK: Pausing

  /// Whether the socket is not read for now.
  private var isPaused = false

  /// Leaves what the peer sends in the socket, until it can send no more.
  package func pauseReading() { setPaused(true) }

  /// Reads on.
  package func resumeReading() { setPaused(false) }

  private func setPaused(_ paused: Bool) {
    guard isPaused != paused, let context else { return }
    isPaused = paused
    context.channel.setOption(.autoRead, value: !paused).whenFailure { _ in }
  }

  // MARK: Liveness

  /// Sees to it that a watched peer is asked whether it is alive, and given up when it is not; called twice in every
  /// interval between two PINGs. While nothing is read nobody is asked.
  package func checkAlive() {
    guard isWatched, !isClosing, !isPaused, !isFrozen else { return }
    switch liveness.tick() {
    case .wait: break
    case .ping:
      session.ping()
      setNeedsFlush()
    case .giveUp: close(PeerIsSilent())
    }
  }

  private var hasReceived = false
  private var quietTime = Duration.zero

  /// Ends a connection whose certificate's time is over, or on which nothing came for too long; called every `interval`.
  /// Streams that devices hold open, and requests that wait for their answer, keep a silent one.
  package func checkIdle(every interval: Duration) {
    if identity != nil, !isEnding, let cause = owner?.cause(toRefuse: self) { return end(cause) }
    guard let limit = options.idleTimeout else { return }
    quietTime = hasReceived ? .zero : quietTime + interval
    hasReceived = false
    guard quietTime >= limit, session.openStreams.allSatisfy({ $0.consumer == nil && !$0.isInboundEnded }) else {
      return
    }
    end(.idle)
  }
}

/// What stands behind a connection on the server's side. Called on the connection's loop.
package protocol ConnectionOwner: AnyObject {
  /// Why a peer whose handshake is done is not served, or no longer; nil: it is.
  func cause(toRefuse connection: Connection) -> ConnectionEnd?
  /// The peer is served from now on.
  func began(_ connection: Connection)
  /// Answers a request that is not complete and will not be waited for.
  func abandon(_ stream: HTTP2Stream, for cause: ConnectionEnd)
  /// What GOAWAY says of a cause.
  func debugData(of cause: ConnectionEnd) -> [UInt8]
}
