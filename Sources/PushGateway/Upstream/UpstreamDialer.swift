import HTTP2Transport
import NIOCore
import NIOPosix
import PushCore

/// Opens connections to the upstream.
enum UpstreamDialer {
  /// Opens a connection on the event loop of a context.
  ///
  /// - Parameter done: called on the event loop, with a connection whose socket is open.
  static func dial(
    _ target: UpstreamTarget, _ context: LoopContext, _ done: @escaping (Result<Connection, any Error>) -> Void
  ) {
    let loop = context.eventLoop
    let this = NIOLoopBound((context, done), eventLoop: loop)
    let bootstrap = ClientBootstrap(group: loop)
      .connectTimeout(.seconds(Limits.upstreamConnectTime))
      // Called for each address of the host that is tried: each gets a connection of its own.
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let connection = try Connection(
            role: .client, loop: this.value.0, tls: try UpstreamDialer.tls(target), peer: .remote)
          try channel.pipeline.syncOperations.addHandler(connection)
        }
      }
    let opened: EventLoopFuture<any Channel>
    switch target.address {
    case .tls(let host, let port, _):
      opened = bootstrap.channelOption(.tcpOption(.tcp_nodelay), value: 1).connect(host: host, port: port)
    case .unix(let path): opened = bootstrap.connect(unixDomainSocketPath: path)
    }
    opened.hop(to: loop).whenComplete { result in
      this.value.1(
        result.flatMap { channel in Result { try channel.pipeline.syncOperations.handler(type: Connection.self) } })
    }
  }

  private static func tls(_ target: UpstreamTarget) throws(TLSError) -> TLSConnection? {
    guard case .tls(let host, _, let context) = target.address else { return nil }
    return try TLSConnection(client: context, host: host)
  }
}
