package import GatewayProtocol
import NIOCore
import NIOHTTP1
import NIOPosix

extension Client {
  /// The time for the connection, and for the answer.
  private static let http1Time = TimeAmount.seconds(5)
  private static let maximumHTTP1Size = 1 << 20

  /// Gets the resource at a path of a gateway by one request over HTTP/1.1 without TLS, on a connection of its own.
  package static func getHTTP1(
    _ path: String, of address: GatewayAddress
  ) async throws -> (status: Int, body: [UInt8]) {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connectTimeout(Client.http1Time)
      .connect(host: address.host, port: address.port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
            wrappingChannelSynchronously: channel)
        }
      }
    let deadline = channel.channel.eventLoop.scheduleTask(in: Client.http1Time) {
      channel.channel.close(promise: nil)
    }
    defer { deadline.cancel() }
    return try await channel.executeThenClose { inbound, outbound in
      let head = HTTPRequestHead(
        version: .http1_1, method: .GET, uri: path, headers: ["host": address.description, "connection": "close"])
      // One write: a server may answer the head and close the connection before a second write.
      try await outbound.write(contentsOf: [.head(head), .end(nil)])
      var status = 0
      var body: [UInt8] = []
      for try await part in inbound {
        switch part {
        case .head(let head): status = Int(head.status.code)
        case .body(let bytes):
          guard body.count + bytes.readableBytes <= Client.maximumHTTP1Size else {
            throw ClientError(.unreachable, "a response over 1 MB")
          }
          body += bytes.readableBytesView
        case .end: return (status: status, body: body)
        }
      }
      throw ClientError(.unreachable, "the response is incomplete")
    }
  }
}

extension ClientError {
  /// Creates the error of a request over HTTP/1.1 to a gateway.
  package init(http1 error: any Error, at address: GatewayAddress) {
    self.init(
      .unreachable,
      error is NIOConnectionError
        ? Client.reason(of: error, at: address.description)
        : "\(address) answers, and not in HTTP/1.1: is it the gateway's `http_listen`? `listen` is https://")
  }
}
