import NIOCore
import NIOEmbedded
import Testing

@testable import PushCore
@testable import PushGateway

/// The answer to a connection of HTTP/1.1 beyond the limits, on an event loop whose clock the test controls.
@Suite struct RefusedConnectionTests {
  @Test func `a connection beyond the limits gets an answer, and ends once`() throws {
    var ends = 0
    let loop = EmbeddedEventLoop()
    let channel = EmbeddedChannel(handler: RefusedConnection { ends += 1 }, loop: loop)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    // The client's request may be on its way already.
    _ = try? channel.writeInbound(ByteBuffer(string: "GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n"))
    let sent = try channel.readOutbound(as: ByteBuffer.self)
    let answer = String(buffer: try #require(sent))
    #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
    #expect(answer.contains("connection: close\r\n") && answer.contains("too many connections"))
    let body = answer.drop { $0 != "{" }
    #expect(answer.contains("content-length: \(body.utf8.count)\r\n"))
    loop.advanceTime(by: TimeAmount(Limits.http1LingerTime) + .milliseconds(1))
    #expect(!channel.isActive && ends == 1)
    let second = try channel.readOutbound(as: ByteBuffer.self)
    #expect(second == nil)
  }
}
