import NIOCore
import PushCore

/// Reads the header with which a balancer begins a connection, and then has the connection take its place.
final class ProxyHeaderReader: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private var received: [UInt8] = []
  private let makeConnection: (ProxyHeader.Origin) throws -> Connection
  private let refused: () -> Void
  private var timeout: Scheduled<Void>?

  /// - Parameters:
  ///   - makeConnection: makes the connection of a client, or throws where it is one too many.
  ///   - refused: called when the first bytes are no header.
  init(makeConnection: @escaping (ProxyHeader.Origin) throws -> Connection, refused: @escaping () -> Void) {
    self.makeConnection = makeConnection
    self.refused = refused
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    timeout = context.eventLoop.scheduleTask(in: .seconds(Int64(Limits.proxyHeaderTime))) {
      channel.close(promise: nil)
    }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timeout?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += unwrapInboundIn(data).readableBytesView
    do {
      guard let header = try ProxyHeader.read(received) else { return }
      timeout?.cancel()
      let connection = try makeConnection(header.origin)
      try context.pipeline.syncOperations.addHandler(connection, position: .after(self))
      let rest = received.dropFirst(header.size)
      if !rest.isEmpty { context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest))) }
      context.pipeline.syncOperations.removeHandler(self, promise: nil)
    } catch {
      if error is ProxyHeader.Malformed { refused() }
      context.close(promise: nil)
    }
  }
}
