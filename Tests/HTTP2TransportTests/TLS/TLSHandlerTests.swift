import NIOCore
import NIOEmbedded
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

/// TLS as a handler of a channel, on both sides of a connection, on event loops whose clock the test controls.
@Suite struct TLSHandlerTests {
  /// The handler after TLS: it records its events.
  final class Application: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private(set) var received: [UInt8] = []
    private(set) var activations = 0
    private(set) var errors: [String] = []

    func channelActive(context: ChannelHandlerContext) { activations += 1 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      received += unwrapInboundIn(data).readableBytesView
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { errors.append("\(error)") }
  }

  /// The socket before TLS: it records its reads and ends, and stays open when only its output is closed.
  final class Socket: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private(set) var reads = 0
    private(set) var ends: [CloseMode] = []

    func read(context: ChannelHandlerContext) {
      reads += 1
      context.read()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
      ends.append(mode)
      guard mode == .all else {
        promise?.succeed(())
        return
      }
      context.close(mode: mode, promise: promise)
    }
  }

  /// One side of a connection.
  final class Side {
    let channel: EmbeddedChannel
    let loop = EmbeddedEventLoop()
    let application = Application()
    let socket = Socket()
    private(set) var handshakes: [TLSHandler.Handshake] = []

    init(_ tls: TLSConnection) throws {
      channel = EmbeddedChannel(loop: loop)
      let handler = TLSHandler(tls) { [unowned self] in handshakes.append($0) }
      try channel.pipeline.syncOperations.addHandlers([socket, handler, application])
      channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    }

    /// Returns the bytes that this side has sent since the last call; nil if there are none.
    func sent() throws -> ByteBuffer? {
      var all: ByteBuffer?
      while let piece = try channel.readOutbound(as: ByteBuffer.self) {
        if all?.writeImmutableBuffer(piece) == nil { all = piece }
      }
      return all
    }

    func send(_ text: String) throws { try channel.writeOutbound(ByteBuffer(string: text)) }
  }

  /// The two sides of a connection.
  struct Pair {
    let client: Side
    let server: Side

    init(_ files: TLSFiles, of kind: TLSConnection.Server = .http1) throws {
      client = try Side(
        TLSConnection(client: .client(trustPath: files.trust), host: "localhost", of: kind))
      server = try Side(
        TLSConnection(server: .server(certificatePath: files.certificate, keyPath: files.key), of: .http1))
    }

    /// Passes the bytes of both sides on until neither sends more.
    func run() throws {
      var isMoving = true
      while isMoving {
        isMoving = false
        for (one, other) in [(client, server), (server, client)] {
          guard let bytes = try one.sent() else { continue }
          isMoving = true
          if other.channel.isActive { try other.channel.writeInbound(bytes) }
        }
      }
    }
  }

  let files: TLSFiles

  init() throws { files = try TLSFiles() }

  @Test func `both sides report one handshake and exchange data`() throws {
    let pair = try Pair(files)
    try pair.run()
    for side in [pair.client, pair.server] {
      #expect(side.handshakes == [.completed(isResumed: false)])
      #expect(side.application.activations == 1)
    }
    let text = String(repeating: "x", count: 100_000)
    try pair.client.send("up")
    try pair.server.send(text)
    try pair.run()
    #expect(pair.server.application.received == Array("up".utf8))
    #expect(pair.client.application.received == Array(text.utf8))
    // The time limit of the handshake has no effect after it.
    pair.server.loop.advanceTime(by: .hours(1))
    #expect(pair.server.channel.isActive && pair.server.application.errors.isEmpty)
  }

  @Test func `the peer is notified before the output is closed, and ends the connection`() throws {
    let pair = try Pair(files)
    try pair.run()
    try pair.server.send("last")
    pair.server.channel.close(mode: .output, promise: nil)
    #expect(pair.server.socket.ends == [.output])
    #expect(throws: ChannelError.self) { try pair.server.send("late") }
    try pair.run()
    #expect(pair.client.application.received == Array("last".utf8))
    // Each side has received the notice of the other one: an end without it would be an error.
    #expect(pair.client.socket.ends == [.all] && pair.server.socket.ends == [.output, .all])
    #expect(pair.client.application.errors.isEmpty && pair.server.application.errors.isEmpty)
  }

  @Test func `the peer still sends after the output is closed, and sends nothing after the input is closed`() throws {
    let pair = try Pair(files)
    try pair.run()
    pair.server.channel.close(mode: .output, promise: nil)
    try pair.client.send("more")
    try pair.run()
    #expect(pair.server.application.received == Array("more".utf8))
    let other = try Pair(files)
    try other.run()
    other.server.channel.close(mode: .input, promise: nil)
    let notice = try other.server.sent()
    #expect(other.server.socket.ends == [.input] && notice == nil)
  }

  @Test func `a closed connection has sent its notice, and an open handshake has none`() throws {
    let pair = try Pair(files)
    try pair.run()
    pair.server.channel.close(promise: nil)
    let notice = try pair.server.sent()
    #expect(notice != nil && pair.server.socket.ends == [.all])
    let other = try Pair(files)
    other.server.channel.close(promise: nil)
    let none = try other.server.sent()
    #expect(none == nil && other.server.handshakes == [.failed])
  }

  @Test(arguments: [0, 10, Int.max])
  func `a handshake that is not complete in time ends the connection`(_ size: Int) throws {
    let pair = try Pair(files)
    let hello = try #require(try pair.client.sent())
    let piece = hello.readableBytesView.prefix(size)
    if !piece.isEmpty { try pair.server.channel.writeInbound(ByteBuffer(bytes: piece)) }
    let limit = TimeAmount(Limits.handshakeTime)
    pair.server.loop.advanceTime(by: limit - .milliseconds(1))
    #expect(pair.server.channel.isActive && pair.server.handshakes.isEmpty)
    pair.server.loop.advanceTime(by: .milliseconds(2))
    #expect(!pair.server.channel.isActive && pair.server.handshakes == [.late])
    #expect(pair.server.application.errors == ["the TLS handshake took too long"])
    #expect(pair.server.application.activations == 0)
  }

  @Test(arguments: ["GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", "\0\0\0\0\0\0\0\0", "\u{16}\u{3}\u{1}\0\u{5}hello"])
  func `a peer without TLS is refused`(_ text: String) throws {
    let side = try Pair(files).server
    try side.channel.writeInbound(ByteBuffer(string: text))
    #expect(!side.channel.isActive && side.handshakes == [.failed])
    #expect(side.application.errors.count == 1 && side.application.received.isEmpty)
  }

  @Test func `a client that offers only HTTP 2 is refused and receives the reason`() throws {
    let pair = try Pair(files, of: .gateway)
    try pair.run()
    #expect(pair.server.handshakes == [.failed] && pair.client.handshakes == [.failed])
    #expect(pair.client.application.errors.first?.contains("HTTP/1.1 only") == true)
  }

  @Test func `a record that was changed on its way ends the connection, and the rest of the input is dropped`() throws {
    let pair = try Pair(files)
    try pair.run()
    try pair.client.send("secret")
    var bytes = Array(buffer: try #require(try pair.client.sent()))
    bytes[bytes.count - 1] ^= 1
    try pair.server.channel.writeInbound(ByteBuffer(bytes: bytes))
    #expect(!pair.server.channel.isActive && pair.server.application.received.isEmpty)
    #expect(pair.server.application.errors.count == 1)
    #expect(pair.server.handshakes == [.completed(isResumed: false)])
    let alert = try pair.server.sent()
    #expect(alert != nil)
  }

  @Test func `nothing is read while the peer does not read the output`() throws {
    let pair = try Pair(files)
    try pair.run()
    let (channel, socket) = (pair.server.channel, pair.server.socket)
    channel.isWritable = false
    let reads = socket.reads
    channel.read()
    channel.read()
    #expect(socket.reads == reads)
    channel.isWritable = true
    channel.pipeline.fireChannelWritabilityChanged()
    #expect(socket.reads == reads + 1)
    channel.pipeline.fireChannelWritabilityChanged()
    #expect(socket.reads == reads + 1)
    channel.read()
    #expect(socket.reads == reads + 2)
  }
}
