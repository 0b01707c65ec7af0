package import NIOCore
import PushCore

/// The events of the socket, and pauses of reading from it.
extension Connection: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

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
      if session.role == .server { tls.established = { [unowned self] in identify() } }
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
    share.size += buffer.readableBytes
    loop.meter.received.add(UInt64(buffer.readableBytes))
    if session.role == .server, let tls, !tls.isEstablished { awaitHandshake(with: buffer) } else { receive(buffer) }
  }

  /// Flushes after all received data is processed: immediate responses leave at once, so that the next connection of
  /// this event-loop iteration finds their streams free again, and still in the cache.
  package func channelReadComplete(context: ChannelHandlerContext) {
    flushIfNeeded()
    if session.role == .server { shareIteration() }
    share.size = 0
    context.fireChannelReadComplete()
  }

  /// Pauses a connection that used its share of the event-loop iteration until other connections were served.
  ///
  /// Reports small requests of authenticated peers to the loop. A request of an unauthenticated client is not
  /// reported, since it would reduce the shares of all senders.
  private func shareIteration() {
    let hasRequest = session.highestID != share.newestRequest
    share.newestRequest = session.highestID
    if share.size < Limits.iterationShare {
      if hasRequest, !share.isHeavy, hasCredential { loop.noteSmallRequest() }
    } else if !state.isClosing, !isFrozen {
      (share.isHeavy, share.isQueued) = (true, true)
      setAutoRead()
      loop.enqueue(self)
    }
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

  package func errorCaught(context: ChannelHandlerContext, error: any Error) { close(error) }

  /// True if input of the peer is left in the socket.
  package var isPaused: Bool { state.isPaused }

  /// Pauses reading: input stays in the socket until the peer can't send any more.
  package func pauseReading() { setPaused(true) }

  package func resumeReading() { setPaused(false) }
}
