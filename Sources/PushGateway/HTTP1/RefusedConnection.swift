import HTTP2Transport
import NIOCore
import PushCore

/// A connection beyond the limits of ``ConnectionLimiter``: it gets an answer with the reason, and ends. Its input is
/// dropped.
///
/// Not `Sendable`: it belongs to the listener's loop.
final class RefusedConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var deadline: Scheduled<Void>?
  private var hasAnswered = false
  /// Called once, when the connection is over.
  private let ended: () -> Void

  init(ended: @escaping () -> Void) { self.ended = ended }

  /// The answer, which is sent before any request is read.
  private static let answer: [UInt8] = {
    let problem = Problem(
      503, "Service Unavailable",
      "too many connections of HTTP/1.1 (\(Limits.maximumHTTP1Connections) in all, \(Limits.maximumAddressConnections) of "
        + "one address): end connections that are not needed, or try again in a moment")
    let body = problem.response.body
    let head = [
      "HTTP/1.1 503 Service Unavailable", "content-type: \(problem.response.contentType)",
      "content-length: \(body.count)", "cache-control: no-store", "retry-after: 1", "connection: close", "", "",
    ]
    return Array(head.joined(separator: "\r\n").utf8) + body
  }()

  func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { refuse(context) } }

  func channelActive(context: ChannelHandlerContext) {
    refuse(context)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func handlerRemoved(context: ChannelHandlerContext) {
    deadline?.cancel()
    ended()
  }

  /// Sends the answer and closes the output; the rest ends when the peer has read it, or after a time limit.
  private func refuse(_ context: ChannelHandlerContext) {
    guard !hasAnswered else { return }
    hasAnswered = true
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: TimeAmount(Limits.http1LingerTime)) { channel.close(promise: nil) }
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.whenComplete { _ in channel.close(mode: .output, promise: nil) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: RefusedConnection.answer)), promise: sent)
  }
}
