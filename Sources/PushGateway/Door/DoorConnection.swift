import HTTP2Transport
import NIOCore
import NIOHTTP1
import PushCore

/// One connection of HTTP/1.1: one request at a time, each of which has a time to come and a size.
///
/// Not `Sendable`: it belongs to the door's loop.
final class DoorConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    /// It waits for a request, the first or the next one.
    case waiting
    /// A head has come, and its end has not.
    case receiving(ControlRequest, isHead: Bool, isLast: Bool)
    case answering(Task<Void, Never>)
    /// The last answer is sent; what comes is dropped.
    case ending
  }

  private let routes: DoorRoutes
  private let isLoopback: Bool
  private var state = State.waiting
  private var context: ChannelHandlerContext?
  private var deadline: Scheduled<Void>?
  /// Called once, when the connection is over.
  private let closed: () -> Void

  init(routes: DoorRoutes, isLoopback: Bool, closed: @escaping () -> Void) {
    (self.routes, self.isLoopback, self.closed) = (routes, isLoopback, closed)
  }

  /// Whether nothing is asked of it now.
  var isIdle: Bool { if case .waiting = state { true } else { false } }

  func close() { context?.close(promise: nil) }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    expect(within: Limits.doorRequestTime)
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    if case .answering(let task) = state { task.cancel() }
    state = .ending
    self.context = nil
    closed()
    context.fireChannelInactive()
  }

  /// What is no HTTP/1.1, or goes beyond a bound of its head, is answered once; anything else ends the connection.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch state {
    case .waiting where error is HTTPParserError, .receiving where error is HTTPParserError:
      let problem = Problem(400, "Bad Request", "expected a request of HTTP/1.1 with a head of at most 16 KiB")
      send(DoorAnswer(problem.response), isHead: false, isLast: true, context)
    case .ending where error is HTTPParserError: break
    default: context.close(promise: nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (unwrapInboundIn(data), state) {
    case (.head(let head), .waiting):
      switch DoorRequest(head, isLoopback: isLoopback) {
      case .served(let request, let isHead):
        state = .receiving(request, isHead: isHead, isLast: !head.isKeepAlive)
      case .refused(let problem):
        send(DoorAnswer(problem.response), isHead: head.method == .HEAD, isLast: true, context)
      }
    case (.end, .receiving(let request, let isHead, let isLast)): serve(request, isHead: isHead, isLast: isLast)
    // Nothing that has a body is received.
    case (.head, _), (.body, _), (.end, _): break
    }
  }

  private func serve(_ request: ControlRequest, isHead: Bool, isLast: Bool) {
    guard let loop = context?.eventLoop else { return }
    deadline?.cancel()
    let this = NIOLoopBound(self, eventLoop: loop)
    let routes = routes
    state = .answering(
      Task {
        let answer = await routes.answer(request)
        loop.execute { this.value.answered(answer, isHead: isHead, isLast: isLast) }
      })
  }

  private func answered(_ answer: DoorAnswer, isHead: Bool, isLast: Bool) {
    guard let context, case .answering = state else { return }
    send(answer, isHead: isHead, isLast: isLast, context)
  }

  private func send(_ answer: DoorAnswer, isHead: Bool, isLast: Bool, _ context: ChannelHandlerContext) {
    // Who asks on and does not read is not waited for.
    let isLast = isLast || !context.channel.isWritable
    state = isLast ? .ending : .waiting
    expect(within: isLast ? Limits.doorLingerTime : Limits.doorIdleTime)
    context.write(wrapOutboundOut(.head(answer.head(isLast: isLast))), promise: nil)
    if !isHead, !answer.response.body.isEmpty {
      context.write(
        wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.response.body)))), promise: nil)
    }
    let sent = context.eventLoop.makePromise(of: Void.self)
    if isLast { hangUp(after: sent.futureResult) }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
  }

  /// Closes our half once the answer is sent; the rest when the peer has read that, or does not in a while.
  private func hangUp(after sent: EventLoopFuture<Void>) {
    guard let context else { return }
    let channel = context.channel
    sent.whenComplete { _ in channel.close(mode: .output, promise: nil) }
  }

  /// Ends the connection unless something else is expected before.
  private func expect(within time: Duration) {
    guard let loop = context?.eventLoop else { return }
    deadline?.cancel()
    let this = NIOLoopBound(self, eventLoop: loop)
    deadline = loop.scheduleTask(in: TimeAmount(time)) { this.value.close() }
  }
}
