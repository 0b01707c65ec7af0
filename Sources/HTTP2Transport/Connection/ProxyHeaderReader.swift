package import NIOCore
import PushCore

/// Reads the header with which a balancer begins a connection, and then has the connection take its place.
package final class ProxyHeaderReader: ChannelInboundHandler, RemovableChannelHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer

  private var received: [UInt8] = []
  private let isRequired: Bool
  private let refused: () -> Void
  private let begin: (ProxyHeader.Origin) throws -> Void
  private var timeout: Scheduled<Void>?

  /// - Parameters:
  ///   - isRequired: whether a connection without a header ends; otherwise it is the balancer's own.
  ///   - refused: called when the first bytes are no header, and one is required.
  ///   - begin: adds the handlers of a connection, or throws where it is one too many.
  init(isRequired: Bool, refused: @escaping () -> Void, begin: @escaping (ProxyHeader.Origin) throws -> Void) {
    (self.isRequired, self.refused, self.begin) = (isRequired, refused, begin)
  }

  /// Begins an accepted connection: at once, or by the header where its peer is a balancer.
  ///
  /// - Parameters:
  ///   - balancers: their addresses.
  ///   - isRequired: whether a balancer's connection without a header ends; otherwise it is the balancer's own.
  ///   - refused: called when the first bytes are no header, and one is required.
  ///   - begin: adds the handlers of a connection, or throws where it is one too many.
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

  /// The header, or an empty one where there is none and none is required; nil where more has to come.
  private func readHeader() throws(ProxyHeader.Malformed) -> ProxyHeader? {
    do throws(ProxyHeader.Malformed) {
      return try ProxyHeader.read(received)
    } catch {
      if isRequired { throw error }
      return ProxyHeader(origin: .balancer, size: 0)
    }
  }
}
