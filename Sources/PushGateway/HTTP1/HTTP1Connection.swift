import GatewayClient
import HTTP2Transport
import NIOCore
import NIOHTTP1
import PushCore

/// One HTTP/1.1 connection: one request at a time, each with a time limit and a size limit.
///
/// Not `Sendable`: it belongs to the listener's loop.
final class HTTP1Connection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    /// Ready for a request, the first or the next one.
    case waiting
    /// A head has arrived, and the end of its request has not.
    case receiving(ControlRequest, isHead: Bool, isLast: Bool)
    case answering(Task<Void, Never>)
    /// The last response is sent; further input is dropped.
    case ending
  }

  private let routes: HTTP1Routes
  private let isLoopback: Bool
  /// True if the channel is reported as active after a TLS handshake, which has a time limit of its own.
  private let hasTLS: Bool
  private let source: UnauthenticatedConnections.Source
  private var state = State.waiting
  /// The body so far of the request that is being received; apart from the state, so that it grows in place.
  private var body: [UInt8] = []
  private var context: ChannelHandlerContext?
  private var deadline: Scheduled<Void>?
  /// Called once, when the connection is over.
  private let closed: () -> Void

  /// - Parameters:
  ///   - source: the source with which the client is counted.
  ///   - hasTLS: true if a ``TLSHandler`` is before this handler; the time for the first request then begins after its handshake.
  init(
    routes: HTTP1Routes, isLoopback: Bool, source: UnauthenticatedConnections.Source = .loopback, hasTLS: Bool = false,
    closed: @escaping () -> Void
  ) {
    (self.routes, self.isLoopback, self.source, self.closed) = (routes, isLoopback, source, closed)
    self.hasTLS = hasTLS
  }

  /// True if no request is in progress.
  var isIdle: Bool { if case .waiting = state { true } else { false } }

  func close() { context?.close(promise: nil) }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if !hasTLS { expect(within: Limits.http1RequestTime) }
  }

  func channelActive(context: ChannelHandlerContext) {
    if hasTLS { expect(within: Limits.http1RequestTime) }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  /// Ends a connection after its channel could not be registered: the channel was never active, and does not become
  /// inactive.
  func handlerRemoved(context: ChannelHandlerContext) { end() }

  private func end() {
    guard context != nil else { return }
    deadline?.cancel()
    if case .answering(let task) = state { task.cancel() }
    state = .ending
    context = nil
    closed()
  }

  /// Answers 400 to malformed HTTP/1.1, and to a head above a limit. An error during a response ends the connection, as does
  /// any other error.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch state {
    case .waiting where error is HTTPParserError, .receiving where error is HTTPParserError:
      let problem = Problem(400, "Bad Request", "expected a request of HTTP/1.1 with a head of at most 16 KiB")
      send(HTTP1Response(problem.response), isHead: false, isLast: true, context)
    case .ending where error is HTTPParserError: break
    default: context.close(promise: nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (unwrapInboundIn(data), state) {
    case (.head(let head), .waiting):
      let request = HTTP1Request(
        head, isLoopback: isLoopback, maximumBodySize: routes.maximumBodySize, servesPage: routes.page != nil,
        servesMessages: routes.messages != nil,
        messageSize: { [messages = routes.messages] request, door in
          messages?.maximumBodySize(of: request, door) ?? door.maximumBodySize
        })
      switch request {
      case .served(var request, let isHead):
        request.source = source
        body = []
        state = .receiving(request, isHead: isHead, isLast: !head.isKeepAlive)
      case .refused(let problem):
        send(HTTP1Response(problem.response), isHead: head.method == .HEAD, isLast: true, context)
      }
    case (.body(let bytes), .receiving):
      // The head states the size, which was checked, and the decoder passes no more than that.
      body += bytes.readableBytesView
    case (.end, .receiving(var request, let isHead, let isLast)):
      request.body = body
      body = []
      serve(request, isHead: isHead, isLast: isLast)
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

  private func answered(_ answer: HTTP1Response, isHead: Bool, isLast: Bool) {
    guard let context, case .answering = state else {
      answer.stream?.close()
      return
    }
    var answer = answer
    if let stream = answer.stream {
      guard isHead else { return begin(stream, answer, context) }
      stream.close()
      answer.stream = nil
    }
    send(answer, isHead: isHead, isLast: isLast, context)
  }

  private func send(_ answer: HTTP1Response, isHead: Bool, isLast: Bool, _ context: ChannelHandlerContext) {
    // A client that sends requests without reading the responses is disconnected.
    let isLast = isLast || !context.channel.isWritable
    state = isLast ? .ending : .waiting
    expect(within: isLast ? Limits.http1LingerTime : Limits.http1IdleTime)
    context.write(wrapOutboundOut(.head(answer.head(isLast: isLast))), promise: nil)
    if !isHead, !answer.response.body.isEmpty {
      context.write(
        wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.response.body)))), promise: nil)
    }
    let sent = context.eventLoop.makePromise(of: Void.self)
    if isLast { hangUp(after: sent.futureResult) }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
  }

  // MARK: Streams

  /// Sends a response without an end in chunks, each after the client has received the one before.
  private func begin(_ stream: HTTP1Stream, _ answer: HTTP1Response, _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(.head(answer.head(isLast: true))), promise: nil)
    let loop = context.eventLoop
    let this = NIOLoopBound(self, eventLoop: loop)
    state = .answering(
      Task {
        do {
          for try await chunk in stream.lines.lines {
            try await loop.flatSubmit { this.value.sendChunk(chunk, loop) }.get()
            stream.lines.taken(chunk.count)
          }
        } catch {
          // The body ends early, and the page connects again.
        }
        stream.close()
        loop.execute { this.value.endStream() }
      })
  }

  private func sendChunk(_ bytes: [UInt8], _ loop: any EventLoop) -> EventLoopFuture<Void> {
    guard let context else { return loop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
    let sent = loop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: sent)
    return sent.futureResult
  }

  private func endStream() {
    guard let context, case .answering = state else { return }
    state = .ending
    expect(within: Limits.http1LingerTime)
    let sent = context.eventLoop.makePromise(of: Void.self)
    hangUp(after: sent.futureResult)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
  }

  /// Closes the output once the response is sent; the rest when the peer has read it, or after a time limit.
  private func hangUp(after sent: EventLoopFuture<Void>) {
    guard let context else { return }
    let channel = context.channel
    sent.whenComplete { _ in channel.close(mode: .output, promise: nil) }
  }

  /// Ends the connection after a time, unless a new time limit is set before.
  private func expect(within time: Duration) {
    guard let loop = context?.eventLoop else { return }
    deadline?.cancel()
    let this = NIOLoopBound(self, eventLoop: loop)
    deadline = loop.scheduleTask(in: TimeAmount(time)) { this.value.close() }
  }
}
