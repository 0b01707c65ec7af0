import NIOCore
import NIOEmbedded

@testable import HTTP2Transport

/// A server's connection and its client in memory: no socket, and a loop whose time the test moves.
final class ConnectionPair {
  let loop = EmbeddedEventLoop()
  let context: LoopContext
  let channel: EmbeddedChannel
  let connection: Connection
  let client: SessionEnd
  /// What the server sent so far, beyond its first SETTINGS.
  private(set) var frames: [Frame] = []
  private var scanner = FrameScanner(of: .server)

  init(_ handler: any Handler, options: ConnectionOptions = ConnectionOptions()) throws {
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
  func run() throws {
    var hasMoved = true
    while hasMoved {
      hasMoved = false
      var up: [UInt8] = []
      while try client.session.send(into: &up, limit: up.count + 16_384) {}
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

  /// Lets time pass.
  func wait(_ time: TimeAmount) throws {
    loop.advanceTime(by: time)
    try run()
  }

  /// Sends a request; one with a body that does not end stays incomplete.
  ///
  /// - Returns: the stream's number.
  @discardableResult
  func request(_ path: String = "/3/device/ab", body: [UInt8]? = nil, isEnding: Bool = true) throws -> Int32 {
    var head = HeaderFields()
    head.append(.method, "POST".utf8)
    head.append(.scheme, "https".utf8)
    head.append(.authority, "localhost".utf8)
    head.append(.path, path.utf8)
    let stream = try client.session.request(head, hasBody: body != nil)
    // A stream that is over has no number any more.
    let id = stream.id
    if let body { client.session.write(body, ending: isEnding, on: stream) }
    try run()
    return id
  }

  /// The status of each answer that the client has got, by its stream.
  var statuses: [Int32: String] { Dictionary(client.messages.map { ($0.stream, $0.status ?? "") }) { $1 } }

  /// The values that the server announced for a setting (RFC 9113 §6.5.2).
  func announced(_ setting: UInt16) -> [Int] {
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
final class StubHandler: Handler {
  var onRequest: (Exchange) -> Void = { $0.respond(HeaderFields(status: 200), body: EmptyCollection()) }
  var began = 0
  var refusal: ConnectionEnd?

  func receivedHead(of exchange: Exchange) {}
  func receivedRequest(_ exchange: Exchange) { onRequest(exchange) }
  func cause(toRefuse connection: Connection) -> ConnectionEnd? { refusal }
  func began(_ connection: Connection) { began += 1 }

  func abandon(_ exchange: Exchange, for cause: ConnectionEnd) {
    exchange.respond(HeaderFields(status: 503), body: EmptyCollection())
  }

  func debugData(of cause: ConnectionEnd) -> [UInt8] { Array("\(cause)".utf8) }
}
