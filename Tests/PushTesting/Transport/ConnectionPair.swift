package import HTTP2Transport
package import NIOCore
package import NIOEmbedded

/// A server's connection and its client in memory, without a socket, on an event loop whose clock the test controls.
package final class ConnectionPair {
  package let loop = EmbeddedEventLoop()
  package let context: LoopContext
  package let channel: EmbeddedChannel
  package let connection: Connection
  package let client: SessionEnd
  /// The frames that the server has sent after its first SETTINGS.
  package private(set) var frames: [Frame] = []
  private var scanner = FrameScanner(of: .server)
  /// True if no bytes of the client's session are sent, because the test writes its own bytes, or the client is slow.
  package var isMute: Bool

  package init(_ handler: any Handler, options: ConnectionOptions = ConnectionOptions(), isMute: Bool = false) throws {
    self.isMute = isMute
    context = LoopContext(eventLoop: loop)
    connection = try Connection(role: .server, loop: context, tls: nil, peer: .remote, options: options)
    ServerSide.attach(to: connection, handler: handler)
    channel = EmbeddedChannel(handler: connection, loop: loop)
    client = try SessionEnd(.client, pool: StreamPool())
    _ = channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1))
    try run()
    frames = []
  }

  /// Transfers bytes in both directions until neither side sends more.
  package func run() throws {
    var hasMoved = true
    while hasMoved {
      hasMoved = false
      var up: [UInt8] = []
      while try !isMute && client.session.send(into: &up, limit: up.count + 16_384) {}
      if !up.isEmpty, channel.isActive {
        hasMoved = true
        try channel.writeInbound(ByteBuffer(bytes: up))
      }
      loop.run()
      while let buffer = try channel.readOutbound(as: ByteBuffer.self) {
        hasMoved = true
        frames += scanner.frames(in: Array(buffer.readableBytesView))
        try unsafe buffer.withUnsafeReadableBytes { try unsafe client.session.receive($0) }
      }
    }
  }

  /// Sends bytes unchanged.
  package func write(_ bytes: [UInt8]) throws {
    if channel.isActive { try channel.writeInbound(ByteBuffer(bytes: bytes)) }
  }

  /// The error codes of all GOAWAY frames (RFC 9113 §6.8) and of all RST_STREAM frames (§6.4).
  package var goAwayCodes: [UInt32] { frames.filter { $0.kind == .goAway }.map { $0.number(at: 4) } }
  package var resetCodes: [UInt32] { frames.filter { $0.kind == .resetStream }.map { $0.number(at: 0) } }

  /// Advances the clock of the loop.
  package func wait(_ time: TimeAmount) throws {
    loop.advanceTime(by: time)
    try run()
  }

  /// Sends a request. With a body that does not end, it stays incomplete.
  ///
  /// - Returns: The number of the stream.
  @discardableResult
  package func request(
    _ path: String = "/3/device/ab", method: String = "POST", _ fields: [(HeaderName, String)] = [],
    body: [UInt8]? = nil, isEnding: Bool = true
  ) throws -> Int32 {
    var head = HeaderFields()
    head.append(.method, method.utf8)
    head.append(.scheme, "https".utf8)
    head.append(.authority, "localhost".utf8)
    head.append(.path, path.utf8)
    for (name, value) in fields { head.append(name, value.utf8) }
    let stream = try client.session.request(head, hasBody: body != nil)
    // The number is read first, because a closed stream has none.
    let id = stream.id
    if let body { client.session.write(body, ending: isEnding, on: stream) }
    try run()
    return id
  }

  /// The status of each answer that the client has received, by stream.
  package var statuses: [Int32: String] { Dictionary(client.messages.map { ($0.stream, $0.status ?? "") }) { $1 } }

  /// Returns the values that the server announced for a setting (RFC 9113 §6.5.2).
  package func announced(_ setting: UInt16) -> [Int] {
    frames.filter { $0.kind == .settings }.flatMap { frame in
      frame.payload.pieces(of: 6).compactMap { entry in
        let bytes = Array(entry)
        guard UInt16(bytes[0]) << 8 | UInt16(bytes[1]) == setting else { return nil }
        return bytes[2...].reduce(0) { $0 << 8 | Int($1) }
      }
    }
  }
}

/// A handler that calls a function of the test. By default it answers 200.
package final class StubHandler: Handler {
  package var onRequest: (Exchange) -> Void = { $0.respond(HeaderFields(status: 200), body: EmptyCollection()) }
  package var onHead: (Exchange) -> Void = { _ in }
  package var began = 0
  package var refusal: CloseReason?
  /// The maximum number of bytes of a body that are kept.
  package var maximumBodySize = 0
  /// True if requests with too many fields are answered.
  package var answersExcessFields = false
  /// The reported limits.
  package var limits: [TransportLimit] = []
  package var heads: [Int32] = []

  package init() {}

  package func receivedHead(of exchange: Exchange) {
    exchange.request.maximumBodySize = maximumBodySize
    heads.append(exchange.stream.id)
    onHead(exchange)
  }
  package func receivedRequest(_ exchange: Exchange) { onRequest(exchange) }
  package func cause(toRefuse connection: Connection) -> CloseReason? { refusal }
  package func began(_ connection: Connection) { began += 1 }

  package func abandon(_ exchange: Exchange, for cause: CloseReason) {
    exchange.respond(HeaderFields(status: 503), body: EmptyCollection())
  }

  package func debugData(of cause: CloseReason) -> [UInt8] { Array("\(cause)".utf8) }
  package func answersExcessFields(of exchange: Exchange) -> Bool { answersExcessFields }
  package func exceeded(_ limit: TransportLimit, on connection: Connection) { limits.append(limit) }

  package func timeOut(_ exchange: Exchange) { exchange.respond(HeaderFields(status: 408), body: EmptyCollection()) }
}
