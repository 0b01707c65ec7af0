package import NIOCore
import PushCore

/// Reads the PROXY header of a load balancer's connection, and then replaces itself by the handlers of the
/// connection.
package final class ProxyHeaderReader: ChannelInboundHandler, RemovableChannelHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer

  private var received: [UInt8] = []
  private let isRequired: Bool
  private let refused: () -> Void
  private let begin: (ProxyHeader.Origin) throws -> Void
  private var timeout: Scheduled<Void>?

  /// - Parameters:
  ///   - isRequired: true if a connection without a header is closed; otherwise it counts as the load balancer's own.
  ///   - refused: called when the first bytes are not a header although one is required.
  ///   - begin: adds the handlers of the connection, or throws if the connection exceeds a limit.
  init(isRequired: Bool, refused: @escaping () -> Void, begin: @escaping (ProxyHeader.Origin) throws -> Void) {
    (self.isRequired, self.refused, self.begin) = (isRequired, refused, begin)
  }

  /// Begins an accepted connection: at once, or after its PROXY header if the peer is a load balancer.
  ///
  /// - Parameters:
  ///   - balancers: the addresses of the load balancers.
  ///   - isRequired: true if a load balancer's connection without a header is closed; otherwise it counts as the load
  ///     balancer's own.
  ///   - refused: called when the first bytes are not a header although one is required.
  ///   - begin: adds the handlers of the connection, or throws if the connection exceeds a limit.
  package static func begin(
    _ channel: any Channel, balancers: Set<IPAddress>, isRequired: Bool, refused: @escaping () -> Void,
    begin: @escaping (ProxyHeader.Origin) throws -> Void
  ) throws {
    guard let peer = channel.remoteAddress?.ipAddress.flatMap(IPAddress.init), balancers.contains(peer) else {
      return try begin(.balancer)
    }
    let reader = ProxyHeaderReader(isRequired: isRequired, refused: refused, begin: begin)
    try channel.pipeline.syncOperations.addHandler(reader)
  }

  package func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    timeout = context.eventLoop.scheduleTask(in: .seconds(Int64(Limits.proxyHeaderTime))) {
      channel.close(promise: nil)
    }
    context.fireChannelActive()
  }

  package func channelInactive(context: ChannelHandlerContext) {
    timeout?.cancel()
    context.fireChannelInactive()
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += unwrapInboundIn(data).readableBytesView
    do {
      guard let header = try readHeader() else { return }
      timeout?.cancel()
      try begin(header.origin)
      let rest = received.dropFirst(header.size)
      if !rest.isEmpty { context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest))) }
      context.pipeline.syncOperations.removeHandler(self, promise: nil)
    } catch {
      if error is ProxyHeader.Malformed { refused() }
      context.close(promise: nil)
    }
  }

  /// Returns the header, or an empty one if there is none and none is required; nil if the header is incomplete.
  private func readHeader() throws(ProxyHeader.Malformed) -> ProxyHeader? {
    do throws(ProxyHeader.Malformed) {
      return try ProxyHeader.read(received)
    } catch {
      if isRequired { throw error }
      return ProxyHeader(origin: .balancer, size: 0)
    }
  }
}
