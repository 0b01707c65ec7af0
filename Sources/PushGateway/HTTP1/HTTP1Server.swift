import HTTP2Transport
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import PushCore

/// The HTTP/1.1 side of a gateway, with or without TLS: health and metrics for monitors and load balancers, and messages of
/// programs without HTTP/2.
///
/// It has a thread of its own, so that its requests and handshakes take no time from the loops of pushes.
final class HTTP1Server: Sendable {
  /// The bound addresses, each `HOST:PORT`, or `https://HOST:PORT` with TLS.
  let addresses: [String]
  private let listeners: [any Channel]
  private let doors: Doors

  /// The listeners with TLS, or those without: an excess of connections of one kind refuses none of the other.
  struct Door: Sendable {
    let routes: HTTP1Routes
    /// The certificate; nil without TLS.
    let tls: TLSSource?
    let limiter: NIOLoopBound<ConnectionLimiter>
  }

  /// The parts of all listeners.
  private struct Doors: Sendable {
    let group: MultiThreadedEventLoopGroup
    let plain: Door
    let secure: Door
    let balancers: Set<IPAddress>
    let meter: GatewayMeter
  }

  /// A bound listener.
  private struct Open {
    let channel: any Channel
    let address: String
    /// The socket with the name by which the next process finds it.
    let socket: InheritedSockets.Entry
  }

  private init(_ doors: Doors, _ open: [Open]) {
    self.doors = doors
    listeners = open.map(\.channel)
    addresses = open.map(\.address)
  }

  /// Opens the listeners of the setting.
  ///
  /// - Parameters:
  ///   - inherited: the sockets that the previous gateway process had bound.
  ///   - sockets: gets the bound sockets.
  ///   - tls: the certificate for entries with `https://`.
  ///   - page: the pages in a browser, which are served without TLS only; nil if they are not served.
  ///   - messages: passes messages to an event loop; nil if they are not served.
  /// - Returns: nil if the setting is `none`, or if no address is configured and no loopback address is available.
  /// - Throws: ``ListenError`` if a configured address can't be bound, ``ConfigurationError`` if the file with the
  ///   monitors' secret can't be used.
  static func open(
    _ configuration: Configuration, _ health: HealthAPI, _ meters: Meters, _ inherited: InheritedSockets,
    _ sockets: HTTP1Sockets, tls: TLSSource, logger: Logger, others: [Router.Route] = [],
    maximumBodySize: Int = 0, page: HTTP1Page? = nil, messages: MessageRelay? = nil
  ) async throws -> HTTP1Server? {
    let token = configuration.metricsTokenFile.map(MetricsToken.init)
    try token?.check()
    if configuration.httpListen == .none { return nil }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    // The cookies of the pages over HTTP/1.1 are for loopback without TLS; over TLS the pages are served over HTTP/2.
    let doors = Doors(
      group: group,
      plain: Door(
        routes: HTTP1Routes(
          health: health, meters: meters, token: token, logger: logger, others: others,
          maximumBodySize: maximumBodySize, page: page, messages: messages),
        tls: nil, limiter: try await limiter(group.any(), meters.gateway.limits, rate: nil)),
      secure: Door(
        routes: HTTP1Routes(
          health: health, meters: meters, token: token, logger: logger, others: others,
          maximumBodySize: maximumBodySize, page: nil, messages: messages),
        tls: tls, limiter: try await limiter(group.any(), meters.gateway.limits, rate: Limits.http1Handshakes)),
      balancers: Set(configuration.balancers ?? []), meter: meters.gateway)
    return try await open(doors, configuration.httpListen, beside: configuration.listen, inherited, sockets, logger)
  }

  private static func limiter(
    _ loop: any EventLoop, _ limits: LimitCounters, rate: TokenBucket.Rate?
  ) async throws -> NIOLoopBound<ConnectionLimiter> {
    try await loop.submit { NIOLoopBound(ConnectionLimiter(limits: limits, rate: rate), eventLoop: loop) }.get()
  }

  /// Checks that the addresses of the setting can be bound, by binding and releasing them.
  ///
  /// - Throws: ``ListenError`` for the first address that can't be bound.
  static func check(_ setting: HTTPListen, _ inherited: InheritedSockets) async throws(ListenError) {
    guard case .addresses(let entries) = setting else { return }
    for entry in entries where inherited.socket(named: InheritedSockets.Name.http(entry)) == nil {
      guard let entry = try? HTTPListen.Entry(entry) else { continue }
      _ = try await ListeningSocket.bindApart(entry.address, flag: HTTP1Sockets.flag)
    }
  }

  /// - Parameter listen: the entries of `listen`; if one of them has a port that the system assigns, this listener
  ///   also has one.
  private static func open(
    _ doors: Doors, _ setting: HTTPListen, beside listen: [String], _ inherited: InheritedSockets,
    _ sockets: HTTP1Sockets, _ logger: Logger
  ) async throws -> HTTP1Server? {
    var listeners: [Open] = []
    do {
      switch setting {
      case .none: break
      case .automatic: listeners = try await [bindLoopback(doors, beside: listen, inherited)]
      case .addresses(let entries):
        for entry in entries { listeners.append(try await bind(doors, entry, inherited)) }
      }
    } catch {
      for one in listeners { try? await one.channel.close() }
      try? await doors.group.shutdownGracefully()
      guard setting == .automatic else { throw error }
      logger.log(.httpUnavailable, "HTTP/1.1 for monitors is not available: \(error)")
      return nil
    }
    sockets.note(listeners.map(\.socket))
    return HTTP1Server(doors, listeners)
  }

  private static func bindLoopback(
    _ doors: Doors, beside listen: [String], _ inherited: InheritedSockets
  ) async throws(ListenError) -> Open {
    let hasFreePort = listen.contains { $0.split(separator: "=").first?.hasSuffix(":0") == true }
    let wasFree = inherited.socket(named: InheritedSockets.Name.http(HTTPListen.free)) != nil
    if !hasFreePort, !wasFree, let open = try? await bind(doors, HTTPListen.standard, inherited) { return open }
    return try await bind(doors, HTTPListen.free, inherited)
  }

  private static func bind(
    _ doors: Doors, _ text: String, _ inherited: InheritedSockets
  ) async throws(ListenError) -> Open {
    guard let entry = try? HTTPListen.Entry(text) else { preconditionFailure("the setting was checked: \(text)") }
    let name = InheritedSockets.Name.http(text)
    do {
      let socket =
        if let socket = inherited.socket(named: name) { socket } else {
          try await ListeningSocket.bindApart(entry.address, flag: HTTP1Sockets.flag)
        }
      let bootstrap = bootstrap(doors, entry.isSecure ? doors.secure : doors.plain)
      let channel = try await bootstrap.withBoundSocket(try socket.duplicate()).get()
      return Open(
        channel: channel, address: entry.text(port: channel.localAddress?.port),
        socket: .init(name: name, socket: socket))
    } catch {
      throw error as? ListenError ?? ListenError(entry.address, error, flag: HTTP1Sockets.flag)
    }
  }

  private static func bootstrap(_ doors: Doors, _ door: Door) -> ServerBootstrap {
    ServerBootstrap(group: doors.group)
      .serverChannelOption(.backlog, value: HTTP1Sockets.backlog)
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            AcceptThrottle(reserve: Limits.reservedDescriptors, limits: doors.meter.limits))
        }
      }
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          // Monitors on a load balancer's machine, and its health checks, send no header.
          try ProxyHeaderReader.begin(
            channel, balancers: doors.balancers, isRequired: false, refused: {},
            begin: { try HTTP1Server.begin(channel, from: $0, door, doors.meter) })
        }
      }
  }

  /// An error: the limits admit no further connection, also none with an answer. NIO then closes the new one.
  private struct TooManyConnections: Error {}

  /// - Parameter origin: the client that a load balancer names; `balancer` for the peer of the socket itself.
  static func begin(
    _ channel: any Channel, from origin: ProxyHeader.Origin, _ door: Door, _ meter: GatewayMeter
  ) throws {
    let (client, peerOrigin) = origin.client(of: channel.remoteAddress)
    let source = UnauthenticatedConnections.Source(text: client?.description ?? channel.remoteAddress?.ipAddress)
    let limiter = door.limiter.value
    let pipeline = channel.pipeline.syncOperations
    let now = Int64(clamping: channel.eventLoop.now.uptimeNanoseconds / 1_000_000)
    let connection = try limiter.admit(source, at: now) { number in
      let connection = HTTP1Connection(
        routes: door.routes, isLoopback: peerOrigin == .loopback, source: source, hasTLS: door.tls != nil
      ) { limiter.leave(number) }
      if let certificate = door.tls {
        let tls = try TLSConnection(server: certificate.context, of: .http1)
        try pipeline.addHandler(TLSHandler(tls) { HTTP1Server.count($0, meter) })
      }
      try HTTP1Server.addHandlers(to: pipeline, connection)
      return connection
    }
    if connection != nil { return }
    // An answer over TLS would cost a handshake.
    guard door.tls == nil, limiter.beginRefusal() else { throw TooManyConnections() }
    do {
      try pipeline.addHandler(RefusedConnection { limiter.endRefusal() })
    } catch {
      limiter.endRefusal()
      throw error
    }
  }

  private static func count(_ result: TLSHandler.Handshake, _ meter: GatewayMeter) {
    switch result {
    case .completed(let isResumed):
      meter.handshakes.completed.add()
      if isResumed { meter.handshakes.resumed.add() }
    case .failed: meter.handshakes.failed.add()
    case .late:
      meter.handshakes.failed.add()
      meter.limits.add(.handshakeTime)
    }
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
    for door in [doors.plain, doors.secure] {
      try? await door.limiter.eventLoop.submit { door.limiter.value.closeAll() }.get()
    }
    try? await doors.group.shutdownGracefully()
  }
}
