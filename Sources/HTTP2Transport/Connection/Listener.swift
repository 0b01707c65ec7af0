import Glibc
package import NIOCore
package import NIOPosix
import PushCore
import Synchronization

/// Accepts connections and hands each to the handler of its loop.
package final class Listener: Sendable {
  /// Where to listen.
  package enum Address: Sendable, Equatable {
    case tcp(host: String, port: Int)
    case unix(path: String)

    /// Descriptors that a listener leaves to others; the admin socket is still there when the others pause.
    fileprivate var reserve: Int {
      switch self {
      case .tcp: Limits.reservedDescriptors
      case .unix: Limits.reservedDescriptors / 2
      }
    }
  }

  private let channel: any Channel
  private let socket: Mutex<ListeningSocket?>
  /// `HOST:PORT` as bound, with the port that the system chose for 0.
  package let description: String
  /// The port that it is bound to; nil for a path.
  package var port: Int? { channel.localAddress?.port }

  private init(channel: any Channel, socket: ListeningSocket, description: String) {
    self.channel = channel
    self.socket = Mutex(socket)
    self.description = description
  }

  /// Begins to accept, on a socket that is bound already, or that it binds.
  ///
  /// - Parameter name: the host as people are to see it; nil: as the address has it.
  /// - Throws: ``ListenError`` with what to do when the address can't be had.
  package static func listen(
    on address: Address, named name: String? = nil, socket bound: ListeningSocket? = nil, tls: TLSSource?,
    options: ConnectionOptions = ConnectionOptions(), loops: Loops, ledger: UnauthenticatedConnections? = nil
  ) async throws(ListenError) -> Listener {
    let socket: ListeningSocket
    if let bound {
      socket = bound
    } else {
      socket = try await ListeningSocket.bindApart(address)
    }
    let bootstrap = ServerBootstrap(group: loops.group)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let gate = AcceptThrottle(
            reserve: address.reserve, limits: loops.current(channel.eventLoop).0.meter.limits,
            closed: { ledger?.evictOldest() })
          try channel.pipeline.syncOperations.addHandler(gate)
        }
      }
      .childChannelOption(
        // A connection keeps its last buffer: an idle device's is small.
        .recvAllocator,
        value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 1024, maximum: Limits.turnShare)
      )
      // More would be read before anybody else has their turn.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelInitializer { channel in
        AdminPeer.check(channel, of: options).flatMapThrowing { user in
          if tls != nil { try channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: 1) }
          let address = channel.remoteAddress
          try ProxyHeaderReader.begin(
            channel, balancers: options.balancers, isRequired: true,
            refused: { ledger?.noteMissingProxyHeader(from: address) },
            begin: { origin in
              let connection = try connection(
                on: channel, from: origin, tls: tls, options: options, loops: loops, ledger: ledger)
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

  /// Makes the connection of a socket that was accepted.
  ///
  /// - Parameter origin: a client that a balancer names; `balancer` for the peer of the socket itself.
  private static func connection(
    on channel: any Channel, from origin: ProxyHeader.Origin, tls: TLSSource?, options: ConnectionOptions, loops: Loops,
    ledger: UnauthenticatedConnections?
  ) throws -> Connection {
    let (context, handler) = loops.current(channel.eventLoop)
    let (client, place) = origin.place(of: channel.remoteAddress)
    let ticket = try ledger.map { ledger in
      guard let ticket = ledger.admit(client?.description ?? channel.remoteAddress?.ipAddress) else {
        throw TooManyConnections()
      }
      return ticket
    }
    let connection = try Connection(
      role: .server, loop: context, tls: tls.map { try TLSConnection(server: $0.context) },
      peer: options.peer ?? place, options: options)
    connection.client = client
    ServerSide.attach(to: connection, handler: handler)
    if let ticket { connection.hold(ticket) }
    return connection
  }

  /// An address has as many connections as it may; NIO closes the one that is too much.
  private struct TooManyConnections: Error {}

  /// The socket for another listener, which accepts beside this one; nil when this one is closed.
  package func shareSocket() -> ListeningSocket? {
    socket.withLock { socket in (try? socket?.duplicate()).map(ListeningSocket.init(adopting:)) }
  }

  /// Accepts no more: whoever comes now is refused.
  package func close() async { _ = await handOver() }

  /// Accepts no more, but leaves the socket open: whoever comes now waits in its backlog, until somebody accepts again or the
  /// socket is let go of.
  ///
  /// - Returns: nil when it was closed before.
  package func handOver() async -> ListeningSocket? {
    try? await channel.close()
    return socket.withLock { $0.take() }
  }
}

extension Listener.Address {
  /// The host as it was written; nil for a path.
  package var host: String? {
    guard case .tcp(let host, _) = self else { return nil }
    return host
  }

  /// The same host at this port; itself where that is nil.
  package func with(port: Int?) -> Listener.Address {
    guard case .tcp(let host, _) = self, let port else { return self }
    return .tcp(host: host, port: port)
  }

  /// `HOST:PORT` with this port instead of its own, or the path.
  fileprivate func description(port bound: Int?) -> String {
    switch self {
    case .tcp(let host, let port): "\(host.contains(":") ? "[\(host)]" : host):\(bound ?? port)"
    case .unix(let path): path
    }
  }
}

/// Why an address can't be listened on, in one line.
package struct ListenError: Error, CustomStringConvertible {
  package var description: String
  /// Whether this machine does not have that address, or speaks no such protocol.
  package let isUnavailable: Bool

  /// What chooses the address of most listeners.
  package static let flag = "--listen"

  /// - Parameters:
  ///   - flag: the flag by which another address is chosen.
  ///   - holder: the process that has the address.
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

/// The loops of the process, each with its context and its handler.
package final class Loops: Sendable {
  package let group: MultiThreadedEventLoopGroup
  private let parts: [ObjectIdentifier: NIOLoopBound<(LoopContext, any Handler)>]

  /// Makes a context and a handler on every loop; each asks devices for a sign of life every `pingInterval`, and looks
  /// for idle connections every `idleCheck`.
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

  /// The parts of the loop that runs this.
  package func current(_ loop: any EventLoop) -> (LoopContext, any Handler) {
    guard let part = parts[ObjectIdentifier(loop)] else { preconditionFailure("a loop that is not ours") }
    return part.value
  }

  /// Ends every connection in good order, within these times.
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

  /// Does something with every connection, each on its loop.
  package func forEachConnection(_ body: @escaping @Sendable (Connection) -> Void) {
    for part in parts.values {
      part.eventLoop.execute { for connection in part.value.0.connections.values { body(connection) } }
    }
  }

  /// Asks something of every connection, each on its loop.
  package func connections<Value: Sendable>(_ body: @escaping @Sendable (Connection) -> Value) async -> [Value] {
    var values: [Value] = []
    for part in parts.values {
      values += (try? await part.eventLoop.submit { part.value.0.connections.values.map(body) }.get()) ?? []
    }
    return values
  }

  /// Whether every loop gets to a task within a time: one that does not is stuck, or has far too much to do.
  package func answer(within time: Duration) async -> Bool {
    var limit: Task<Void, Never>?
    let isComplete = await withCheckedContinuation { continuation in
      let roll = CountdownLatch(count: parts.count) { continuation.resume(returning: $0) }
      limit = Task {
        try? await Task.sleep(for: time)
        roll.end()
      }
      for part in parts.values { part.eventLoop.execute { roll.here() } }
    }
    // Anybody may ask: nothing waits on when all have answered.
    limit?.cancel()
    return isComplete
  }

  package func shutdown() async { try? await group.shutdownGracefully() }
}

/// Counts those who answer until all have, or the time is over.
private final class CountdownLatch: Sendable {
  private let state: Mutex<(missing: Int, done: (@Sendable (Bool) -> Void)?)>

  init(count: Int, done: @escaping @Sendable (Bool) -> Void) { state = Mutex((count, done)) }

  func here() {
    let done = state.withLock { state in
      state.missing -= 1
      return state.missing == 0 ? state.done.take() : nil
    }
    done?(true)
  }

  func end() { state.withLock { $0.done.take() }?(false) }
}

/// The server's side of a connection: hands requests to the loop's handler.
package final class ServerSide: HTTP2SessionDelegate, ConnectionOwner {
  private unowned let connection: Connection
  private let handler: any Handler

  private init(_ connection: Connection, _ handler: any Handler) {
    self.connection = connection
    self.handler = handler
  }

  /// Makes the server's side; the session keeps it until the connection closes.
  package static func attach(to connection: Connection, handler: any Handler) {
    let side = ServerSide(connection, handler)
    connection.session.delegate = side
    connection.owner = side
  }

  package func session(_ session: HTTP2Session, receivedHeadOn stream: HTTP2Stream) {
    handler.receivedHead(of: Exchange(connection: connection, stream: stream))
  }

  package func session(_ session: HTTP2Session, receivedEndOn stream: HTTP2Stream) {
    if stream.consumer == nil {
      handler.receivedRequest(Exchange(connection: connection, stream: stream))
    }
  }

  package func session(_ session: HTTP2Session, closed stream: HTTP2Stream, errorCode: UInt32) {
    guard connection.isDraining else { return }
    // The stream counts as open until this returns.
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

  package func sessionReceivedSettings(_ session: HTTP2Session) {}
  package func sessionReceivedPong(_ session: HTTP2Session) {}
  package func session(_ session: HTTP2Session, goingAwayAfter lastStreamID: Int32, debugData: [UInt8]) {}
}

extension ProxyHeader.Origin {
  /// The address of a client behind a balancer, and where it is. One that has the balancer's loopback address, or none, is
  /// counted as the balancer; no client of a balancer is on this machine.
  package func place(of peer: SocketAddress?) -> (client: IPAddress?, place: PeerOrigin) {
    switch self {
    case .balancer: (nil, PeerOrigin(peer))
    case .client(let address): (address.flatMap { $0.isLoopback ? nil : $0 }, .remote)
    }
  }
}

extension Connection.Peer {
  /// What an address says of the peer: one that can't be had says nothing.
  init(_ address: SocketAddress?) {
    self = address?.ipAddress.flatMap(IPAddress.init)?.isLoopback == true ? .loopback : .remote
  }
}
