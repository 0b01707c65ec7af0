import NIOCore
import NIOEmbedded
import PushTesting
import Testing

@testable import HTTP2Transport

@Suite struct ProxyHeaderTests {
  private static let signature: [UInt8] = Array("\r\n\r\n\0\r\nQUIT\n".utf8)

  private static func header(_ command: UInt8, _ family: UInt8, _ body: [UInt8]) -> [UInt8] {
    signature + [command, family, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
  }

  private static let addresses4: [UInt8] = [198, 51, 100, 7, 127, 0, 0, 1, 0, 1, 0, 2]
  private static let addresses6: [UInt8] =
    [0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [7] + [UInt8](repeating: 1, count: 20)

  @Test func `a header names the client, and says where it ends`() throws {
    let expected: [([UInt8], ProxyHeader.Origin)] = [
      (Self.header(0x21, 0x11, Self.addresses4), .client(IPAddress("198.51.100.7"))),
      (Self.header(0x21, 0x11, Self.addresses4 + [4, 0, 1, 9]), .client(IPAddress("198.51.100.7"))),
      (Self.header(0x21, 0x21, Self.addresses6), .client(IPAddress("2001:db8::7"))),
      (Self.header(0x21, 0x31, [UInt8](repeating: 0, count: 216)), .client(nil)),
      (Self.header(0x21, 0x00, []), .client(nil)),
      (Self.header(0x20, 0x11, Self.addresses4), .balancer),
      (Self.header(0x20, 0x00, []), .balancer),
    ]
    for (bytes, origin) in expected {
      for end in bytes.indices { #expect(try ProxyHeader.read(Array(bytes[..<end])) == nil) }
      #expect(try ProxyHeader.read(bytes + [0x16]) == ProxyHeader(origin: origin, size: bytes.count))
    }
  }

  @Test func `anything else is refused at the first byte that differs`() {
    let wrong: [[UInt8]] = [
      [0x16], Array("PROXY TCP4".utf8), Self.signature.dropLast() + [0],
      // Wrong version, wrong command, too short for its addresses, too long.
      Self.header(0x11, 0x11, Self.addresses4), Self.header(0x22, 0x11, Self.addresses4),
      Self.header(0x21, 0x11, Self.addresses4.dropLast()), Self.header(0x21, 0x21, Self.addresses4),
      Self.signature + [0x21, 0x11, 0x08, 0x01],
    ]
    for bytes in wrong { #expect(throws: ProxyHeader.Malformed.self) { _ = try ProxyHeader.read(bytes) } }
  }

  @Test func `addresses are the same however they are written`() {
    #expect(IPAddress("::ffff:10.0.0.1") == IPAddress("10.0.0.1"))
    #expect(
      ["10.0.0.1", "2001:db8::1", "::1", "::ffff:10.0.0.1"].map { IPAddress($0)?.description } == [
        "10.0.0.1", "2001:db8::1", "::1", "10.0.0.1",
      ])
    #expect(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"].allSatisfy { IPAddress($0)?.isLoopback == true })
    #expect(["128.0.0.1", "::2", "::"].allSatisfy { IPAddress($0)?.isLoopback == false })
    for text in ["", "localhost", "10.0.0", "10.0.0.1/8", "[::1]"] { #expect(IPAddress(text) == nil) }
  }

  /// A reader of the proxy header in memory, which a connection then replaces.
  private struct Reading {
    let loop = EmbeddedEventLoop()
    let channel: EmbeddedChannel
    let result = Result()

    final class Result {
      var origins: [ProxyHeader.Origin] = []
      var refusals = 0
      weak var channel: EmbeddedChannel?
    }

    init(isRequired: Bool = true) throws {
      let context = LoopContext(eventLoop: loop)
      let reader = ProxyHeaderReader(
        isRequired: isRequired, refused: { [result] in result.refusals += 1 },
        begin: { [result] origin in
          result.origins.append(origin)
          let connection = try Connection(role: .server, loop: context, tls: nil, peer: .remote)
          ServerSide.attach(to: connection, handler: StubHandler())
          try result.channel?.pipeline.syncOperations.addHandler(connection)
        })
      channel = EmbeddedChannel(handler: reader, loop: loop)
      result.channel = channel
      _ = channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1))
    }

    /// True if the connection has sent its first frame.
    var isServing: Bool { (try? channel.readOutbound(as: ByteBuffer.self)) != nil }
  }

  @Test func `the connection gets what follows the header, however it comes`() throws {
    let bytes =
      Self.header(0x21, 0x11, Self.addresses4) + Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [
        0, 0, 0, 4, 0, 0, 0, 0, 0,
      ]
    for size in [1, 5, 28, 29, bytes.count] {
      let reading = try Reading()
      for start in stride(from: 0, to: bytes.count, by: size) {
        try reading.channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
      }
      reading.loop.run()
      #expect(reading.result.origins == [.client(IPAddress("198.51.100.7"))] && reading.result.refusals == 0)
      #expect(reading.isServing && reading.channel.isActive)
      // The header arrived before the timeout, which has passed.
      reading.loop.advanceTime(by: .seconds(6))
      #expect(reading.channel.isActive)
    }
  }

  @Test(arguments: [1, 3, 33])
  func `where no header is required, a connection without one is the balancer's own`(_ size: Int) throws {
    let reading = try Reading(isRequired: false)
    for piece in Frame.preface.pieces(of: size) { try reading.channel.writeInbound(ByteBuffer(bytes: piece)) }
    reading.loop.run()
    #expect(reading.result.origins == [.balancer] && reading.result.refusals == 0)
    #expect(reading.isServing && reading.channel.isActive)
    let named = try Reading(isRequired: false)
    try named.channel.writeInbound(ByteBuffer(bytes: Self.header(0x21, 0x11, Self.addresses4)))
    #expect(named.result.origins == [.client(IPAddress("198.51.100.7"))])
  }

  @Test func `what is no header, or does not come, ends the connection`() throws {
    let wrong = try Reading()
    try wrong.channel.writeInbound(ByteBuffer(bytes: [0x16, 3, 1]))
    #expect(wrong.result.refusals == 1 && wrong.result.origins.isEmpty && !wrong.channel.isActive)
    let silent = try Reading()
    try silent.channel.writeInbound(ByteBuffer(bytes: Self.signature))
    silent.loop.advanceTime(by: .seconds(4))
    #expect(silent.channel.isActive)
    silent.loop.advanceTime(by: .seconds(2))
    #expect(!silent.channel.isActive && silent.result.refusals == 0)
  }
}
