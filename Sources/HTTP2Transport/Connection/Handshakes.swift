import NIOCore

/// The TLS handshakes of a loop, which its connections continue in turn.
extension LoopContext {
  /// Queues a connection for the continuation of its handshake. Addresses are served in turn, and between the
  /// handshakes of two iterations the loop reads the data of all its connections.
  func awaitHandshake(_ connection: Connection) {
    handshakes.append(connection, from: connection.source)
    scheduleHandshakes()
  }

  /// Schedules the processing of handshakes: after the events that this iteration has already collected, or at the end
  /// of the pause. Without queued handshakes no timer runs, because each timer wakes the loop.
  private func scheduleHandshakes() {
    guard !isHandshakeDue else { return }
    isHandshakeDue = true
    let this = NIOLoopBound(self, eventLoop: eventLoop)
    if eventLoop.now < nextHandshakes {
      eventLoop.scheduleTask(deadline: nextHandshakes) { this.value.continueHandshakes() }
    } else {
      eventLoop.execute { this.value.continueHandshakes() }
    }
  }

  /// Continues handshakes for a bounded time, then pauses; while other connections send requests, the pause is as
  /// long as that time.
  private func continueHandshakes() {
    let began = eventLoop.now
    var spent = TimeAmount.zero
    isHandshakeDue = false
    while spent < LoopContext.handshakeShare, let connection = handshakes.popFirst() {
      connection.continueHandshake()
      spent = eventLoop.now - began
    }
    nextHandshakes = began + spent + (isShared ? max(spent, LoopContext.iterationTime) : LoopContext.iterationTime)
    if !handshakes.isEmpty { scheduleHandshakes() }
  }
}

extension Connection {
  /// Buffers handshake bytes and pauses reading until this handshake is processed: a handshake costs the loop up to
  /// milliseconds, and its peer nothing.
  func awaitHandshake(with buffer: ByteBuffer) {
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
}
