import NIOCore
import NIOPosix
import Testing

@testable import GatewayClient
@testable import GatewayProtocol

/// Requests over HTTP/1.1 without TLS.
@Suite struct ClientHTTP1Tests {
  /// Answers the first bytes of a connection, and closes it.
  private final class HastyServer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let text = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
      context.close(promise: nil)
    }
  }

  @Test func `a server may answer and close as soon as it has the head`() async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    let server = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(HastyServer()) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let address = GatewayAddress(host: "127.0.0.1", port: try #require(server.localAddress?.port))
    for _ in 0..<100 {
      let answer = try await Client.getHTTP1("/readyz", of: address)
      #expect(answer.status == 200 && answer.body == Array("ok".utf8))
    }
    try await server.close()
  }
}
