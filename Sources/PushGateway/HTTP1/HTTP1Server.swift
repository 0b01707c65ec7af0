import HTTP2Transport
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import PushCore

/// The HTTP/1.1 side of a gateway, without TLS: health and metrics for monitors and load balancers, and messages of
/// programs without HTTP/2.
///
/// It has a thread of its own, so that its requests take no time from the loops of pushes.
final class HTTP1Server: Sendable {
  /// The bound addresses, each `HOST:PORT`.
  let addresses: [String]
  private let group: MultiThreadedEventLoopGroup
  private let listeners: [any Channel]
  private let limiter: NIOLoopBound<ConnectionLimiter>

  /// A bound listener.
  private struct Open {
    let channel: any Channel
    let address: String
    /// The socket with the name by which the next process finds it.
    let socket: InheritedSockets.Entry
  }

  private init(
    _ group: MultiThreadedEventLoopGroup, _ limiter: NIOLoopBound<ConnectionLimiter>, _ open: [Open]
  ) {
    (self.group, self.limiter) = (group, limiter)
    listeners = open.map(\.channel)
    addresses = open.map(\.address)
  }

  /// Opens the listeners of the setting.
  ///
  /// - Parameters:
  ///   - inherited: the sockets that the previous gateway process had bound.
  ///   - sockets: gets the bound sockets.
  ///   - limits: counts refused connections.
  ///   - page: the pages in a browser; nil if they are not served.
  ///   - messages: passes messages to an event loop; nil if they are not served.
  /// - Returns: nil if the setting is `none`, or if no address is configured and no loopback address is available.
  /// - Throws: ``ListenError`` if a configured address can't be bound, ``ConfigurationError`` if the file with the
  ///   monitors' secret can't be used.
  static func open(
    _ configuration: Configuration, _ health: HealthAPI, _ meters: Meters, _ inherited: InheritedSockets,
    _ sockets: HTTP1Sockets, limits: LimitCounters, logger: Logger, others: [Router.Route] = [],
    maximumBodySize: Int = 0, page: HTTP1Page? = nil, messages: MessageRelay? = nil
  ) async throws -> HTTP1Server? {
    let token = configuration.metricsTokenFile.map(MetricsToken.init)
    try token?.check()
    let routes = HTTP1Routes(
      health: health, meters: meters, token: token, logger: logger, others: others, maximumBodySize: maximumBodySize,
      page: page, messages: messages)
    return try await open(
      configuration.httpListen, beside: configuration.listen, Set(configuration.balancers ?? []), routes, inherited,
      sockets, limits, logger)
  }

  /// Checks that the addresses of the setting can be bound, by binding and releasing them.
  ///
  /// - Throws: ``ListenError`` for the first address that can't be bound.
  static func check(_ setting: HTTPListen, _ inherited: InheritedSockets) async throws(ListenError) {
    guard case .addresses(let entries) = setting else { return }
    for entry in entries where inherited.socket(named: InheritedSockets.Name.http(entry)) == nil {
      guard case .tcp(let host, let port)? = try? SettingAddress.address(entry) else { continue }
      _ = try await ListeningSocket.bindApart(.tcp(host: host, port: port), flag: HTTP1Sockets.flag)
    }
  }

  /// - Parameter listen: the entries of `listen`; if one of them has a port that the system assigns, this listener
  ///   also has one.
  private static func open(
    _ setting: HTTPListen, beside listen: [String], _ balancers: Set<IPAddress>, _ routes: HTTP1Routes,
    _ inherited: InheritedSockets, _ sockets: HTTP1Sockets, _ limits: LimitCounters, _ logger: Logger
  ) async throws -> HTTP1Server? {
    if setting == .none { return nil }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let limiter = try await group.any().submit { [loop = group.any()] in
      NIOLoopBound(ConnectionLimiter(limits: limits), eventLoop: loop)
    }.get()
    let bootstrap = bootstrap(group, limiter, balancers, routes, limits)
    var listeners: [Open] = []
    do {
      switch setting {
      case .none: break
      case .automatic: listeners = try await [bindLoopback(bootstrap, beside: listen, inherited)]
      case .addresses(let entries):
        for entry in entries { listeners.append(try await bind(bootstrap, entry, inherited)) }
      }
    } catch {
      for one in listeners { try? await one.channel.close() }
      try? await group.shutdownGracefully()
      guard setting == .automatic else { throw error }
      logger.log(.httpUnavailable, "HTTP/1.1 for monitors is not available: \(error)")
      return nil
    }
    sockets.note(listeners.map(\.socket))
    return HTTP1Server(group, limiter, listeners)
  }

  private static func bindLoopback(
    _ bootstrap: ServerBootstrap, beside listen: [String], _ inherited: InheritedSockets
  ) async throws(ListenError) -> Open {
    let hasFreePort = listen.contains { $0.split(separator: "=").first?.hasSuffix(":0") == true }
    let wasFree = inherited.socket(named: InheritedSockets.Name.http(HTTPListen.free)) != nil
    if !hasFreePort, !wasFree, let open = try? await bind(bootstrap, HTTPListen.standard, inherited) { return open }
    return try await bind(bootstrap, HTTPListen.free, inherited)
  }

  private static func bind(
    _ bootstrap: ServerBootstrap, _ entry: String, _ inherited: InheritedSockets
  ) async throws(ListenError) -> Open {
    guard case .tcp(let host, let port)? = try? SettingAddress.address(entry) else {
      preconditionFailure("the setting was checked: \(entry)")
    }
    let name = InheritedSockets.Name.http(entry)
    do {
      let socket =
        if let socket = inherited.socket(named: name) { socket } else {
          try await ListeningSocket.bindApart(.tcp(host: host, port: port), flag: HTTP1Sockets.flag)
        }
      let channel = try await bootstrap.withBoundSocket(try socket.duplicate()).get()
      let bound = channel.localAddress?.port ?? port
      return Open(
        channel: channel, address: host.contains(":") ? "[\(host)]:\(bound)" : "\(host):\(bound)",
        socket: .init(name: name, socket: socket))
    } catch {
      throw error as? ListenError ?? ListenError(.tcp(host: host, port: port), error, flag: HTTP1Sockets.flag)
    }
  }

  private static func bootstrap(
    _ group: MultiThreadedEventLoopGroup, _ limiter: NIOLoopBound<ConnectionLimiter>, _ balancers: Set<IPAddress>,
    _ routes: HTTP1Routes, _ limits: LimitCounters
  ) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: HTTP1Sockets.backlog)
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            AcceptThrottle(reserve: Limits.reservedDescriptors, limits: limits))
        }
      }
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          // Monitors on a load balancer's machine, and its health checks, send no header.
          try ProxyHeaderReader.begin(
            channel, balancers: balancers, isRequired: false, refused: {},
            begin: { try HTTP1Server.begin(channel, from: $0, limiter.value, routes) })
        }
      }
  }

  /// An error: the limits admit no further connection, also none with an answer. NIO then closes the new one.
  private struct TooManyConnections: Error {}

  /// - Parameter origin: the client that a load balancer names; `balancer` for the peer of the socket itself.
  private static func begin(
    _ channel: any Channel, from origin: ProxyHeader.Origin, _ limiter: ConnectionLimiter, _ routes: HTTP1Routes
  ) throws {
    let (client, peerOrigin) = origin.client(of: channel.remoteAddress)
    let source = UnauthenticatedConnections.Source(text: client?.description ?? channel.remoteAddress?.ipAddress)
    let connection = limiter.admit(source) { number in
      HTTP1Connection(routes: routes, isLoopback: peerOrigin == .loopback, source: source) { limiter.leave(number) }
    }
    let pipeline = channel.pipeline.syncOperations
    if let connection { return try HTTP1Server.addHandlers(to: pipeline, connection) }
    guard limiter.beginRefusal() else { throw TooManyConnections() }
    try pipeline.addHandler(RefusedConnection { limiter.endRefusal() })
  }

  /// Adds the HTTP parser, with its limits, and the connection behind it.
  static func addHandlers(to pipeline: ChannelPipeline.SynchronousOperations, _ connection: HTTP1Connection) throws {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = Limits.maximumHTTP1FieldSize
    limits.maxHeaderListSize = Limits.maximumHTTP1HeadSize
    limits.maxHeaderFieldCount = Limits.maximumHTTP1Fields
    // The connection answers malformed input, since it has the state of its last response.
    try pipeline.configureHTTPServerPipeline(
      withErrorHandling: false, withEncoderConfiguration: HTTPResponseEncoder.Configuration(),
      withDecoderLimitConfiguration: limits)
    try pipeline.addHandler(connection)
  }

  /// Stops accepting, and closes all connections.
  func close() async {
    for listener in listeners { try? await listener.close() }
    try? await limiter.eventLoop.submit { [limiter] in limiter.value.closeAll() }.get()
    try? await group.shutdownGracefully()
  }
}
