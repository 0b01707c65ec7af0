package import NIOCore
import PushCore

/// TLS as a handler of a channel, for the client's and the server's side of protocols other than HTTP/2. It reports to the next
/// handler that the channel is active when the handshake is complete.
///
/// Input is decrypted only while the peer reads the output, so that at most one record and one read are buffered.
///
/// Not `Sendable`: it belongs to the loop of its channel.
package final class TLSHandler: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  /// The result of a handshake.
  package enum Handshake: Sendable, Equatable {
    case completed(isResumed: Bool)
    /// The connection ended before the handshake was complete.
    case failed
    /// The handshake took longer than ``Limits/handshakeTime``; the connection is then closed.
    case late
  }

  private let tls: TLSConnection
  /// Called once with the result of the handshake, and then nil.
  private var finished: ((Handshake) -> Void)?
  private var deadline: Scheduled<Void>?
  private var hasStarted = false
  /// True after a failure, and after the end of the connection; no further input is read.
  private var isOver = false
  /// True after the peer was notified of the end of the output.
  private var isOutputClosed = false
  /// True if the next read waits until the peer reads the output.
  private var isReadHeld = false
  private var scratch = [UInt8](repeating: 0, count: TLSHandler.scratchSize)

  /// The size of the pieces in which plaintext is read from OpenSSL, a quarter of the largest record.
  private static let scratchSize = 4 << 10

  /// - Parameter finished: called once with the result of the handshake, on the loop of the channel.
  package init(_ tls: TLSConnection, finished: @escaping (Handshake) -> Void = { _ in }) {
    self.tls = tls
    self.finished = finished
  }

  // MARK: The handshake

  package func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { start(context) }
  }

  package func channelActive(context: ChannelHandlerContext) { start(context) }

  private func start(_ context: ChannelHandlerContext) {
    guard !hasStarted else { return }
    hasStarted = true
    let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    deadline = context.eventLoop.scheduleTask(in: TimeAmount(Limits.handshakeTime)) {
      let (handler, context) = this.value
      handler.finish(.late)
      handler.fail(context, TLSError("the TLS handshake took too long"))
    }
    do {
      try tls.start()
      send(context)
    } catch {
      fail(context, error)
    }
  }

  /// Reports the result of the handshake, unless one is reported already.
  private func finish(_ result: Handshake) {
    deadline?.cancel()
    deadline = nil
    let finished = finished
    self.finished = nil
    finished?(result)
  }

  // MARK: Input

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    let ciphertext = unwrapInboundIn(data)
    let wasEstablished = tls.isEstablished
    var plaintext = ByteBuffer()
    do {
      let progress = try decrypt(ciphertext, into: &plaintext)
      send(context)
      if !wasEstablished, tls.isEstablished {
        finish(.completed(isResumed: tls.isResumed))
        context.fireChannelActive()
      }
      if plaintext.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(plaintext)) }
      // As with the end of a TCP connection, the answer to a request in progress is not sent.
      if progress == .closedByPeer { close(context: context, mode: .all, promise: nil) }
    } catch {
      fail(context, error)
    }
  }

  private func decrypt(_ ciphertext: ByteBuffer, into plaintext: inout ByteBuffer) throws -> TLSConnection.Progress {
    try unsafe ciphertext.withUnsafeReadableBytes { bytes in
      try unsafe scratch.withUnsafeMutableBytes { scratch in
        try unsafe tls.receive(bytes, scratch: scratch) { piece -> Result<Void, TLSError> in
          unsafe plaintext.writeBytes(piece)
          return .success(())
        }
      }
    }
  }

  /// Reads from the socket, at once or when the peer reads the output: input may cause output of TLS itself.
  package func read(context: ChannelHandlerContext) {
    guard context.channel.isWritable else {
      isReadHeld = true
      return
    }
    context.read()
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    if isReadHeld, context.channel.isWritable {
      isReadHeld = false
      context.read()
    }
    context.fireChannelWritabilityChanged()
  }

  package func channelInactive(context: ChannelHandlerContext) {
    isOver = true
    finish(.failed)
    context.fireChannelInactive()
  }

  // MARK: Output

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard tls.isEstablished, !isOver, !isOutputClosed else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    let plaintext = unwrapOutboundIn(data)
    do {
      try unsafe plaintext.withUnsafeReadableBytes { bytes in try unsafe tls.send(bytes) }
      context.write(wrapOutboundOut(tls.takeOutbound()), promise: promise)
    } catch {
      promise?.fail(error)
      fail(context, error)
    }
  }

  /// Closes the channel, its output or its input. The peer is notified of the end of the output before (`close_notify`).
  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode != .input { closeOutput(context) }
    if mode == .all { isOver = true }
    context.close(mode: mode, promise: promise)
  }

  private func closeOutput(_ context: ChannelHandlerContext) {
    guard !isOver, !isOutputClosed else { return }
    isOutputClosed = true
    tls.close()
    send(context)
  }

  /// Sends the ciphertext that TLS itself has caused: of the handshake, and alerts.
  private func send(_ context: ChannelHandlerContext) {
    if tls.hasOutbound { context.writeAndFlush(wrapOutboundOut(tls.takeOutbound()), promise: nil) }
  }

  private func fail(_ context: ChannelHandlerContext, _ error: any Error) {
    guard !isOver else { return }
    isOver = true
    send(context)
    context.fireErrorCaught(error)
    context.close(promise: nil)
  }
}
