import Glibc
package import NIOCore
package import NIOPosix
import PushCore
import Synchronization

/// Accepts connections and passes each to the handler of its loop.
package final class Listener: Sendable {
  package enum Address: Sendable, Equatable {
    case tcp(host: String, port: Int)
    case unix(path: String)

    /// The number of descriptors that a listener leaves free; the admin socket still accepts when the others pause.
    fileprivate var reserve: Int {
      switch self {
      case .tcp: Limits.reservedDescriptors
      case .unix: Limits.reservedDescriptors / 2
      }
    }
  }

  private let channel: any Channel
  private let socket: Mutex<ListeningSocket?>
  /// `HOST:PORT` as bound, with the port that the system assigned for 0.
  package let description: String
  /// The bound port; nil for a path.
  package var port: Int? { channel.localAddress?.port }

  private init(channel: any Channel, socket: ListeningSocket, description: String) {
    self.channel = channel
    self.socket = Mutex(socket)
    self.description = description
  }

  /// Begins to accept connections, on a socket that is already bound, or on a new one.
  ///
  /// - Parameters:
  ///   - name: the host to show to users; nil for the host in the address.
  ///   - sharesPort: whether a new socket may have an address that overlaps with another one.
  /// - Throws: ``ListenError`` with advice if the address can't be bound.
  package static func listen(
    on address: Address, named name: String? = nil, socket bound: ListeningSocket? = nil, sharesPort: Bool = false,
    tls: TLSSource?, options: ConnectionOptions = ConnectionOptions(), loops: Loops,
    unauthenticated: UnauthenticatedConnections? = nil
  ) async throws(ListenError) -> Listener {
    let socket: ListeningSocket
    if let bound {
      socket = bound
    } else {
      socket = try await ListeningSocket.bindApart(address, sharesPort: sharesPort)
    }
    let bootstrap = ServerBootstrap(group: loops.group)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let gate = AcceptThrottle(
            reserve: address.reserve, limits: loops.current(channel.eventLoop).0.meter.limits,
            closed: { unauthenticated?.evictOldest() })
          try channel.pipeline.syncOperations.addHandler(gate)
        }
      }
      .childChannelOption(
        // A connection keeps its last buffer: the buffer of an idle device is small.
        .recvAllocator,
        value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 1024, maximum: Limits.iterationShare)
      )
      // More reads would delay all other connections of the loop.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelInitializer { channel in
        AdminPeer.check(channel, of: options).flatMapThrowing { user in
          if tls != nil { try channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: 1) }
          let address = channel.remoteAddress
          try ProxyHeaderReader.begin(
            channel, balancers: options.balancers, isRequired: true,
            refused: { unauthenticated?.noteMissingProxyHeader(from: address) },
            begin: { origin in
              let connection = try connection(
                on: channel, from: origin, tls: tls, options: options, loops: loops, unauthenticated: unauthenticated)
              connection.user = user
              try channel.pipeline.syncOperations.addHandler(connection)
            })
        }
      }
    do {
      let channel = try await bootstrap.withBoundSocket(try socket.duplicate()).get()
      let port = channel.localAddress?.port
      let shown = name.map { Address.tcp(host: $0, port: 0) } ?? address
      return Listener(channel: channel, socket: socket, description: shown.description(port: port))
    } catch {
      throw ListenError(address, error)
    }
  }

  /// Creates the connection of an accepted socket.
  ///
  /// - Parameter origin: the client that a load balancer names; `balancer` for the peer of the socket itself.
  private static func connection(
    on channel: any Channel, from origin: ProxyHeader.Origin, tls: TLSSource?, options: ConnectionOptions, loops: Loops,
    unauthenticated: UnauthenticatedConnections?
  ) throws -> Connection {
    let (context, handler) = loops.current(channel.eventLoop)
    let (client, peerOrigin) = origin.client(of: channel.remoteAddress)
    let ticket = try unauthenticated.map { unauthenticated in
      guard let ticket = unauthenticated.admit(client?.description ?? channel.remoteAddress?.ipAddress) else {
        throw TooManyConnections()
      }
      return ticket
    }
    let connection = try Connection(
      role: .server, loop: context, tls: tls.map { try TLSConnection(server: $0.context) },
      peer: options.peer ?? peerOrigin, options: options)
    connection.client = client
    ServerSide.attach(to: connection, handler: handler)
    if let ticket { connection.hold(ticket) }
    return connection
  }

  /// An error: the address has its maximum number of connections. NIO then closes the new one.
  private struct TooManyConnections: Error {}

  /// Returns the socket for another listener that accepts at the same time; nil if this listener is closed.
  package func shareSocket() -> ListeningSocket? {
    socket.withLock { socket in (try? socket?.duplicate()).map(ListeningSocket.init(adopting:)) }
  }

  /// Permits or refuses a listener with an overlapping address on the same port, as in
  /// ``ListeningSocket/sharePort(_:)``.
  package func sharePort(_ isShared: Bool) {
    let open = socket.withLock { $0 }
    open?.sharePort(isShared)
  }

  /// Stops accepting and closes the socket: new clients are refused.
  package func close() async { _ = await handOver() }

  /// Stops accepting, but leaves the socket open: new clients stay in its backlog until another listener accepts, or
  /// the socket is released.
  ///
  /// - Returns: the socket; nil if the listener was closed before.
  package func handOver() async -> ListeningSocket? {
    try? await channel.close()
    return socket.withLock { $0.take() }
  }
}

extension Listener.Address {
  /// The host as configured; nil for a path.
  package var host: String? {
    guard case .tcp(let host, _) = self else { return nil }
    return host
  }

  /// Returns the address with the same host and this port; unchanged if the port is nil.
  package func with(port: Int?) -> Listener.Address {
    guard case .tcp(let host, _) = self, let port else { return self }
    return .tcp(host: host, port: port)
  }

  /// Returns `HOST:PORT` with this port instead of its own, or the path.
  fileprivate func description(port bound: Int?) -> String {
    switch self {
    case .tcp(let host, let port): "\(host.contains(":") ? "[\(host)]" : host):\(bound ?? port)"
    case .unix(let path): path
    }
  }
}

/// An error of listening on an address, described in one line.
package struct ListenError: Error, CustomStringConvertible {
  package var description: String
  /// True if this machine does not have the address, or does not support its protocol.
  package let isUnavailable: Bool

  /// The flag that sets the address of most listeners.
  package static let flag = "--listen"

  /// - Parameters:
  ///   - flag: the flag that sets another address.
  ///   - holder: the process that uses the address.
  package init(
    _ address: Listener.Address, _ error: any Error, flag: String = ListenError.flag, holder: String? = nil
  ) {
    let code = (error as? IOError)?.errnoCode
    isUnavailable = code == EADDRNOTAVAIL || code == EAFNOSUPPORT
    let name =
      switch address {
      case .tcp(let host, let port): "\(host):\(port)"
      case .unix(let path): path
      }
    let advice =
      switch code {
      case EADDRINUSE:
        "it is in use\(holder.map { " by \($0)" } ?? ""): stop the other program, or choose another with "
          + "\(flag) HOST:PORT"
      case EACCES, EPERM: "it is not allowed: choose a port above 1023 or run with the capability to bind it"
      case EADDRNOTAVAIL: "this machine does not have that address"
      default:
        (error as? NIOConnectionError) != nil || error is SocketAddressError
          || error is SocketAddressError.UnknownHost
          ? "that name has no address" : "\(error)"
      }
    description = "can't listen on \(name): \(advice)"
  }
}

/// The event loops of the process, each with its context and its handler.
package final class Loops: Sendable {
  package let group: MultiThreadedEventLoopGroup
  private let parts: [ObjectIdentifier: NIOLoopBound<(LoopContext, any Handler)>]

  /// Creates a context and a handler on every loop.
  ///
  /// - Parameters:
  ///   - pingInterval: the interval of PINGs to devices.
  ///   - idleCheck: the interval of checks for idle connections.
  package init(
    count: Int, pingInterval: Duration = Limits.pingInterval, idleCheck: Duration = .seconds(30),
    handler: @escaping @Sendable (LoopContext) -> any Handler
  ) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: count)
    var parts: [ObjectIdentifier: NIOLoopBound<(LoopContext, any Handler)>] = [:]
    for loop in group.makeIterator() {
      parts[ObjectIdentifier(loop)] = try await loop.submit {
        let context = LoopContext(eventLoop: loop)
        context.visitConnections(every: TimeAmount(pingInterval / 2)) { $0.checkAlive() }
        context.visitConnections(every: TimeAmount(idleCheck)) { $0.checkIdle(every: idleCheck) }
        return NIOLoopBound((context, handler(context)), eventLoop: loop)
      }.get()
    }
    self.group = group
    self.parts = parts
  }

  /// Returns the context and the handler of the current loop.
  package func current(_ loop: any EventLoop) -> (LoopContext, any Handler) {
    guard let part = parts[ObjectIdentifier(loop)] else { preconditionFailure("a loop that is not ours") }
    return part.value
  }

  /// Ends every connection in an orderly way, within these times.
  package func drain(within times: DrainTimes = .stop) async {
    await withTaskGroup(of: Void.self) { group in
      for part in parts.values {
        group.addTask {
          let loop = part.eventLoop
          try? await loop.flatSubmit { part.value.0.drain(within: times) }.get()
        }
      }
    }
  }

  /// Calls `body` with every connection, each on its loop.
  package func forEachConnection(_ body: @escaping @Sendable (Connection) -> Void) {
    for part in parts.values {
      part.eventLoop.execute { for connection in part.value.0.connections.values { body(connection) } }
    }
  }

  /// Returns the result of `body` for every connection, each computed on its loop.
  package func connections<Value: Sendable>(_ body: @escaping @Sendable (Connection) -> Value) async -> [Value] {
    var values: [Value] = []
    for part in parts.values {
      values += (try? await part.eventLoop.submit { part.value.0.connections.values.map(body) }.get()) ?? []
    }
    return values
  }

  /// Returns true if every loop runs a task within a time: a loop that does not is stuck or overloaded.
  @inline(never)
  package func answer(within time: Duration) async -> Bool {
    var limit: Task<Void, Never>?
    let isComplete = await withCheckedContinuation { continuation in
      let latch = CountdownLatch(parts.count) { continuation.resume(returning: $0) }
      limit = Task {
        try? await Task.sleep(for: time)
        latch.cancel()
      }
      for part in parts.values { part.eventLoop.execute { latch.countDown() } }
    }
    // This may be called often: no timer may remain after all loops have answered.
    limit?.cancel()
    return isComplete
  }

  /// Returns when every loop has completed its current iteration.
  @inline(never)
  package func completeIterations() async {
    for part in parts.values { try? await part.eventLoop.submit {}.get() }
  }

  package func shutdown() async { try? await group.shutdownGracefully() }
}

/// The server's side of a connection: passes requests to the loop's handler.
package final class ServerSide: HTTP2SessionDelegate, ConnectionOwner {
  private unowned let connection: Connection
  private let handler: any Handler

  private init(_ connection: Connection, _ handler: any Handler) {
    self.connection = connection
    self.handler = handler
  }

  /// Creates the server's side; the session retains it until the connection closes.
  package static func attach(to connection: Connection, handler: any Handler) {
    let side = ServerSide(connection, handler)
    connection.session.delegate = side
    connection.owner = side
  }

  package func session(_ session: HTTP2Session, receivedHeadOn stream: HTTP2Stream) {
    guard stream.id <= session.lastServed else {
      stream.isAbandoned = true
      return
    }
    handler.receivedHead(of: Exchange(connection: connection, stream: stream))
  }

  package func session(_ session: HTTP2Session, receivedEndOn stream: HTTP2Stream) {
    if stream.consumer == nil, !stream.isAbandoned {
      handler.receivedRequest(Exchange(connection: connection, stream: stream))
    }
  }

  package func session(_ session: HTTP2Session, receivedPong number: UInt64) {
    guard connection.isDraining else { return }
    // Requests that were received together with the answer are processed before it.
    let connection = NIOLoopBound(connection, eventLoop: connection.loop.eventLoop)
    connection.eventLoop.execute { connection.value.handle(.pong(number)) }
  }

  package func session(_ session: HTTP2Session, closed stream: HTTP2Stream, errorCode: UInt32) {
    guard connection.isDraining else { return }
    if !stream.isAbandoned, !stream.isEndless { connection.handle(.answered) }
    // The stream counts as open until this function returns.
    let connection = NIOLoopBound(connection, eventLoop: connection.loop.eventLoop)
    connection.eventLoop.execute { connection.value.closeIfIdle() }
  }

  package func cause(toRefuse connection: Connection) -> CloseReason? { handler.cause(toRefuse: connection) }

  package func began(_ connection: Connection) { handler.began(connection) }

  package func abandon(_ stream: HTTP2Stream, for cause: CloseReason) {
    handler.abandon(Exchange(connection: connection, stream: stream), for: cause)
  }

  package func debugData(of cause: CloseReason) -> [UInt8] { handler.debugData(of: cause) }

  package func timeOut(_ stream: HTTP2Stream) {
    handler.timeOut(Exchange(connection: connection, stream: stream))
  }

  package func exceeded(_ limit: TransportLimit, on connection: Connection) {
    handler.exceeded(limit, on: connection)
  }

  package func session(_ session: HTTP2Session, exceeded limit: TransportLimit) {
    handler.exceeded(limit, on: connection)
    connection.exceeded(limit)
  }

  package func session(_ session: HTTP2Session, answersExcessFieldsOn stream: HTTP2Stream) -> Bool {
    handler.answersExcessFields(of: Exchange(connection: connection, stream: stream))
  }
}

extension ProxyHeader.Origin {
  /// Returns the address of a client behind a load balancer, and its origin.
  ///
  /// A client with a loopback address or without an address counts as the load balancer. No client of a load balancer
  /// has the origin `loopback`.
  package func client(of peer: SocketAddress?) -> (address: IPAddress?, origin: PeerOrigin) {
    switch self {
    case .balancer: (nil, PeerOrigin(peer))
    case .client(let address): (address.flatMap { $0.isLoopback ? nil : $0 }, .remote)
    }
  }
}

extension Connection.Peer {
  /// Returns the origin of a peer with this address; remote if the address is unknown.
  init(_ address: SocketAddress?) {
    self = address?.ipAddress.flatMap(IPAddress.init)?.isLoopback == true ? .loopback : .remote
  }
}
