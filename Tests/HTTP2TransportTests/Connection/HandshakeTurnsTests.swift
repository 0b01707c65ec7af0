import NIOCore
import NIOEmbedded
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

/// TLS handshakes continue at the end of an event-loop iteration, with a pause between two iterations.
@Suite struct HandshakeTurnsTests {
  let loop = EmbeddedEventLoop()
  let context: LoopContext
  let handler = StubHandler()
  let files: TLSFiles

  init() throws {
    context = LoopContext(eventLoop: loop)
    files = try TLSFiles()
  }

  /// Both ends of a connection. The test transfers the bytes.
  final class Ends {
    let client: TLSConnection
    let server: TLSConnection
    let channel: EmbeddedChannel

    init(client: TLSConnection, server: TLSConnection, channel: EmbeddedChannel) {
      (self.client, self.server, self.channel) = (client, server, channel)
    }

    /// Passes the client's outgoing bytes to the server.
    func send() throws { try channel.writeInbound(client.takeOutbound()) }

    /// Returns true if the client got bytes, and processes them.
    func receive() throws -> Bool {
      var hasReceived = false
      var scratch = [UInt8](repeating: 0, count: Limits.recordSize)
      while let buffer = try channel.readOutbound(as: ByteBuffer.self) {
        hasReceived = true
        _ = try unsafe buffer.withUnsafeReadableBytes { bytes in
          try unsafe scratch.withUnsafeMutableBytes { scratch in
            try unsafe client.receive(bytes, scratch: scratch) { _ -> Result<Void, TLSError> in .success(()) }
          }
        }
      }
      return hasReceived
    }

    /// The last setting of the socket's automatic reads.
    var isRead: Bool? {
      channel.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool
    }
  }

  /// - Parameter closed: receives the reason when the connection is released.
  func connect(
    from address: String = "192.0.2.1", closed: @escaping ((any Error)?) -> Void = { _ in }
  ) throws -> Ends {
    let server = try TLSConnection(server: .server(certificatePath: files.certificate, keyPath: files.key))
    let connection = try Connection(role: .server, loop: context, tls: server, peer: .remote)
    connection.client = IPAddress(address)
    connection.closed = closed
    ServerSide.attach(to: connection, handler: handler)
    let channel = EmbeddedChannel(handler: connection, loop: loop)
    _ = channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1))
    loop.run()
    let client = try TLSConnection(client: .client(trustPath: files.trust), host: "localhost")
    try client.start()
    return Ends(client: client, server: server, channel: channel)
  }

  @Test func `a handshake goes on when all that came is read, and the next one after a pause`() throws {
    let (one, other) = (try connect(), try connect(from: "192.0.2.2"))
    try one.send()
    try other.send()
    #expect(try [one, other].map { try $0.receive() } == [false, false])
    #expect(one.isRead == false && other.isRead == false)
    loop.run()
    #expect(try [one, other].map { try $0.receive() } == [true, true])
    #expect(one.isRead == true && other.isRead == true)
    try one.send()
    loop.run()
    #expect(!one.server.isEstablished && one.isRead == false)
    loop.advanceTime(by: .microseconds(100))
    #expect(one.server.isEstablished && one.isRead == true)
    #expect(handler.began == 1)
  }

  @Test func `bytes that come while a handshake waits are kept`() throws {
    let ends = try connect()
    let hello = Array(buffer: ends.client.takeOutbound())
    for piece in hello.pieces(of: 100) { try ends.channel.writeInbound(ByteBuffer(bytes: piece)) }
    loop.run()
    #expect(try ends.receive())
    #expect(ends.client.isEstablished)
  }

  @Test func `a connection that ends while it waits keeps none waiting`() throws {
    let (gone, next) = (try connect(), try connect())
    try gone.send()
    try next.send()
    gone.channel.pipeline.fireChannelInactive()
    loop.run()
    #expect(try [gone, next].map { try $0.receive() } == [false, true])
  }

  @Test func `a peer is not late while its bytes wait`() throws {
    let (first, last) = (try connect(), try connect())
    loop.advanceTime(by: .seconds(15) - .microseconds(50))
    try first.send()
    loop.run()
    try last.send()
    // The handshake timeout has passed, and the pause between two iterations has not.
    loop.advanceTime(by: .microseconds(50))
    #expect(!first.channel.isActive && last.channel.isActive)
    #expect(try !last.receive())
    loop.advanceTime(by: .microseconds(50))
    #expect(try last.receive())
    loop.advanceTime(by: .seconds(15))
    #expect(!last.channel.isActive)
  }

  @Test func `the last bytes of a closed connection show why its handshake failed`() throws {
    var reasons: [String] = []
    let ends = try connect { reasons.append($0.map { "\($0)" } ?? "none") }
    try ends.channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
    ends.channel.pipeline.fireChannelInactive()
    #expect(reasons.isEmpty && context.connections.count == 1)
    loop.run()
    #expect(reasons.count == 1 && reasons != ["none"])
    #expect(context.connections.isEmpty)
  }
}
