package import NIOCore
import PushCore

/// The client's side of TLS as a handler of a channel, for protocols other than HTTP/2. It reports to the next handler that
/// the channel is active when the handshake is complete.
///
/// Not `Sendable`: it belongs to the loop of its channel.
package final class TLSClientHandler: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  private let tls: TLSConnection
  private var hasStarted = false
  /// True after a failure; no further input is read.
  private var isOver = false
  private var scratch = [UInt8](repeating: 0, count: TLSClientHandler.scratchSize)

  /// The maximum size of a record's plaintext (RFC 8446 §5.1).
  private static let scratchSize = 16 << 10

  package init(_ tls: TLSConnection) { self.tls = tls }

  package func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { start(context) }
  }

  package func channelActive(context: ChannelHandlerContext) { start(context) }

  private func start(_ context: ChannelHandlerContext) {
    guard !hasStarted else { return }
    hasStarted = true
    do {
      try tls.start()
      send(context)
    } catch {
      end(context, error)
    }
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    let ciphertext = unwrapInboundIn(data)
    let wasEstablished = tls.isEstablished
    var plaintext = ByteBuffer()
    do {
      let progress = try decrypt(ciphertext, into: &plaintext)
      send(context)
      if !wasEstablished, tls.isEstablished { context.fireChannelActive() }
      if plaintext.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(plaintext)) }
      if progress == .closedByPeer { context.close(promise: nil) }
    } catch {
      end(context, error)
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

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let plaintext = unwrapOutboundIn(data)
    do {
      try unsafe plaintext.withUnsafeReadableBytes { bytes in try unsafe tls.send(bytes) }
      context.write(wrapOutboundOut(tls.takeOutbound()), promise: promise)
    } catch {
      promise?.fail(error)
      end(context, error)
    }
  }

  /// Sends the ciphertext of the handshake.
  private func send(_ context: ChannelHandlerContext) {
    if tls.hasOutbound { context.writeAndFlush(wrapOutboundOut(tls.takeOutbound()), promise: nil) }
  }

  private func end(_ context: ChannelHandlerContext, _ error: any Error) {
    isOver = true
    send(context)
    context.fireErrorCaught(error)
    context.close(promise: nil)
  }
}
