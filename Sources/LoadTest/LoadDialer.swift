import GatewayProtocol
import HTTP2Transport
import NIOCore
import NIOPosix

/// Opens the connections of one event loop of a load test.
struct LoadDialer {
  let context: LoopContext
  let target: LoadTarget
  /// The address of each of the target's ``LoadTarget/addresses``.
  let addresses: [SocketAddress]
  let tls: TLSContext

  private static let slowReadInterval = TimeAmount.milliseconds(500)

  /// Opens a connection.
  ///
  /// - Parameters:
  ///   - attach: prepares the connection before it is established.
  ///   - finished: gets the error of a failed attempt, or nil.
  func open(
    _ addressIndex: Int, slowly: Bool, attach: @escaping (Connection, TLSConnection) throws -> Void,
    finished: @escaping ((any Error)?) -> Void
  ) {
    let loop = context.eventLoop
    let this = NIOLoopBound((self, attach, finished), eventLoop: loop)
    ClientBootstrap(group: loop)
      .connectTimeout(.seconds(15))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelOption(.autoRead, value: true)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let (dialer, attach, _) = this.value
          let tls = try TLSConnection(client: dialer.tls, host: dialer.target.addresses[addressIndex].host)
          let connection = try Connection(role: .client, loop: dialer.context, tls: tls, peer: .remote)
          try attach(connection, tls)
          try channel.pipeline.syncOperations.addHandler(connection)
        }
      }
      .connect(to: addresses[addressIndex])
      .hop(to: loop)
      .whenComplete { result in
        switch result {
        case .success(let channel):
          this.value.2(nil)
          if slowly { LoadDialer.readSlowly(channel) }
        case .failure(let error): this.value.2(error)
        }
      }
  }

  /// Makes a channel read only once per ``slowReadInterval``.
  private static func readSlowly(_ channel: any Channel) {
    _ = channel.setOption(.autoRead, value: false)
    channel.eventLoop.scheduleRepeatedTask(initialDelay: slowReadInterval, delay: slowReadInterval) { task in
      guard channel.isActive else { return task.cancel() }
      channel.read()
    }
  }
}
