package import HTTP2Transport
package import NIOCore
package import NIOEmbedded

/// A server's connection and its client in memory: no socket, and a loop whose time the test moves.
package final class ConnectionPair {
  package let loop = EmbeddedEventLoop()
  package let context: LoopContext
  package let channel: EmbeddedChannel
  package let connection: Connection
  package let client: SessionEnd
  /// What the server sent so far, beyond its first SETTINGS.
  package private(set) var frames: [Frame] = []
  private var scanner = FrameScanner(of: .server)
  /// Whether nothing of the client's session is sent: the test writes bytes of its own.
  private let isMute: Bool

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

  /// Carries bytes to and fro until both are silent.
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

  /// Sends bytes as they are.
  package func write(_ bytes: [UInt8]) throws {
    if channel.isActive { try channel.writeInbound(ByteBuffer(bytes: bytes)) }
  }

  /// The codes of each GOAWAY (RFC 9113 §6.8) and of each RST_STREAM (§6.4).
  package var goAwayCodes: [UInt32] { frames.filter { $0.kind == .goAway }.map { $0.number(at: 4) } }
  package var resetCodes: [UInt32] { frames.filter { $0.kind == .resetStream }.map { $0.number(at: 0) } }

  /// Lets time pass.
  package func wait(_ time: TimeAmount) throws {
    loop.advanceTime(by: time)
    try run()
  }

  /// Sends a request; one with a body that does not end stays incomplete.
  ///
  /// - Returns: the stream's number.
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
    // A stream that is over has no number any more.
    let id = stream.id
    if let body { client.session.write(body, ending: isEnding, on: stream) }
    try run()
    return id
  }

  /// The status of each answer that the client has got, by its stream.
  package var statuses: [Int32: String] { Dictionary(client.messages.map { ($0.stream, $0.status ?? "") }) { $1 } }

  /// The values that the server announced for a setting (RFC 9113 §6.5.2).
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

/// A handler that does what a test says, and answers 200 unless it says otherwise.
package final class StubHandler: Handler {
  package var onRequest: (Exchange) -> Void = { $0.respond(HeaderFields(status: 200), body: EmptyCollection()) }
  package var began = 0
  package var refusal: CloseReason?
  /// What is kept of a body.
  package var maximumBodySize = 0
  /// Whether too many fields are answered.
  package var answersExcessFields = false
  /// The limits that were met.
  package var limits: [TransportLimit] = []
  package var heads: [Int32] = []

  package init() {}

  package func receivedHead(of exchange: Exchange) {
    exchange.request.maximumBodySize = maximumBodySize
    heads.append(exchange.stream.id)
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
