import NIOCore
import NIOEmbedded
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

/// Connections that end at the same time are closed in slices.
@Suite struct ClosingTests {
  let loop = EmbeddedEventLoop()
  let context: LoopContext
  let handler = StubHandler()

  init() { context = LoopContext(eventLoop: loop) }

  final class Count { var value = 0 }

  func connect(_ closed: Count) throws -> EmbeddedChannel {
    let connection = try Connection(role: .server, loop: context, tls: nil, peer: .remote)
    ServerSide.attach(to: connection, handler: handler)
    connection.closed = { _ in closed.value += 1 }
    let channel = EmbeddedChannel(handler: connection, loop: loop)
    _ = channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1))
    return channel
  }

  @Test func `a loop takes some connections apart, and the others after it has read from its sockets`() throws {
    let (closed, size) = (Count(), Limits.closingSlice)
    let channels = try (0..<2 * size + 1).map { _ in try connect(closed) }
    loop.run()
    for channel in channels { channel.pipeline.fireChannelInactive() }
    #expect(closed.value == size && context.connections.count == size + 1)
    loop.run()
    #expect(closed.value == size)
    loop.advanceTime(by: .microseconds(100))
    #expect(closed.value == 2 * size)
    loop.advanceTime(by: .microseconds(100))
    #expect(closed.value == 2 * size + 1 && context.connections.isEmpty)
    // Later connections are closed at once again.
    loop.advanceTime(by: .microseconds(200))
    let last = try connect(closed)
    last.pipeline.fireChannelInactive()
    #expect(closed.value == 2 * size + 2)
  }
}
