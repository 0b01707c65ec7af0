import Glibc
import HTTP2Transport
import NIOCore
import NIOHTTP1
import NIOPosix
import PushCore

/// One request over HTTP/1.1, on a connection of its own. No redirect is followed, and only the beginning of the answer's
/// body is kept.
struct HTTPPost: Sendable {
  var url: EventURL
  /// The fields in addition to host, content type, content length, user agent and connection.
  var fields: [(name: String, value: String)]
  var body: [UInt8]
  var contentType = "application/json"
  /// True if the address must be public: a user chose it, not an administrator.
  var isPublicOnly = false

  /// The time limits of the connection attempt, and of the whole request with its answer.
  private static let (connectTime, time) = (TimeAmount.seconds(5), TimeAmount.seconds(15))

  /// Sends the request and returns the answer.
  ///
  /// - Parameter tls: the trusted certificates; nil for `http`.
  /// - Throws: ``EventError``; ``DescriptorShortage``; a `CancellationError`.
  func answer(_ tls: TLSContext?) async throws -> EventAnswer {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let promise = loop.makePromise(of: EventAnswer.self)
    let connecting = ClientBootstrap(group: loop).connectTimeout(HTTPPost.connectTime)
      .connect(host: url.host, port: url.port)
    // The handlers are added to the connection that is used: names with several addresses have several attempts.
    connecting.whenComplete { connected in
      do { try attach(to: connected.get(), tls, promise) } catch { promise.fail(error) }
    }
    promise.futureResult.whenComplete { _ in connecting.whenSuccess { $0.close(promise: nil) } }
    let deadline = loop.scheduleTask(in: HTTPPost.time) {
      promise.fail(EventError(description: "it did not answer within 15 seconds"))
    }
    defer { deadline.cancel() }
    do {
      return try await withTaskCancellationHandler {
        try await promise.futureResult.get()
      } onCancel: {
        promise.fail(CancellationError())
      }
    } catch let error as CancellationError {
      throw error
    } catch {
      throw explained(error)
    }
  }

  private func attach(to channel: any Channel, _ tls: TLSContext?, _ promise: EventLoopPromise<EventAnswer>) throws {
    let address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
    let refusal = url.refusal(of: address) ?? (isPublicOnly ? url.refusal(ofPublic: address) : nil)
    if let refusal { throw EventError(description: refusal) }
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(ReceivedLimit(promise))
    if let tls {
      try pipeline.addHandler(TLSHandler(try TLSConnection(client: tls, host: url.host, of: .http1)))
    }
    try pipeline.addHTTPClientHandlers()
    try pipeline.addHandler(HTTPExchange(self, promise))
  }

  /// Returns the error that callers get: a ``DescriptorShortage``, in which the server has no part, or an ``EventError``.
  func explained(_ error: any Error) -> any Error {
    let causes = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
    let codes = causes.compactMap { ($0 as? IOError)?.errnoCode }
    let hasShortage = codes.contains { $0 == EMFILE || $0 == ENFILE }
    // The resolver of names does not report its error of the system.
    if hasShortage || causes.isEmpty && AcceptThrottle.isShort(of: 1) { return DescriptorShortage() }
    return EventError(description: words(error))
  }

  private func words(_ error: any Error) -> String {
    switch error {
    case let error as EventError: error.description
    case let error as TLSError: error.description
    case is HTTPParserError: "its answer is not HTTP/1.1"
    case let error as NIOConnectionError where error.connectionErrors.isEmpty: "its name \(url.host) has no address"
    case is NIOConnectionError: "no server answers at \(url.host), port \(url.port)"
    default: "the connection failed (\(error))"
    }
  }
}

/// Fails a request if the peer sends more than ``Limits/maximumEventAnswerSize`` bytes, with the TLS handshake.
private final class ReceivedLimit: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let promise: EventLoopPromise<EventAnswer>
  private var size = 0

  init(_ promise: EventLoopPromise<EventAnswer>) { self.promise = promise }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    size += unwrapInboundIn(data).readableBytes
    guard size <= Limits.maximumEventAnswerSize else {
      return promise.fail(EventError(description: "its answer is too long"))
    }
    context.fireChannelRead(data)
  }
}

/// Writes a request, and reads its answer.
private final class HTTPExchange: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let request: HTTPPost
  private let promise: EventLoopPromise<EventAnswer>
  private var answer: EventAnswer?

  init(_ request: HTTPPost, _ promise: EventLoopPromise<EventAnswer>) {
    (self.request, self.promise) = (request, promise)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    if !request.url.isSecure { send(context) }
  }

  /// Called when the handshake of TLS is complete.
  func channelActive(context: ChannelHandlerContext) {
    if request.url.isSecure { send(context) }
  }

  private func send(_ context: ChannelHandlerContext) {
    var headers = HTTPHeaders()
    headers.add(name: "host", value: request.url.authority)
    headers.add(name: "content-type", value: request.contentType)
    headers.add(name: "content-length", value: String(request.body.count))
    headers.add(name: "user-agent", value: "PushGateway/\(Version.text)")
    headers.add(name: "connection", value: "close")
    for (name, value) in request.fields { headers.add(name: name, value: value) }
    let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: request.url.path, headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: request.body)))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      answer = EventAnswer(status: Int(head.status.code), retryAfter: head.headers.first(name: "retry-after"))
    case .body(let bytes):
      let room = Limits.keptEventAnswer - (answer?.body.count ?? 0)
      answer?.body += bytes.readableBytesView.prefix(max(0, room))
      if bytes.readableBytes >= room { finish() }
    case .end: finish()
    }
  }

  private func finish() {
    if let answer { promise.succeed(answer) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    promise.fail(EventError(description: "it closed the connection without an answer"))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { promise.fail(error) }
}
