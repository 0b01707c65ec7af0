import NIOCore
import NIOEmbedded
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

/// The limit for connections of HTTP/1.1, and the selection of the connection to close.
@Suite struct ConnectionLimiterTests {
  static let remote = UnauthenticatedConnections.Source.network([10, 0, 0, 1])

  /// A limiter, and its accepted connections, which are idle and have no sockets.
  final class Fixture {
    let limits = LimitCounters()
    let limiter: ConnectionLimiter
    let routes: HTTP1Routes
    let meter: GatewayMeter
    var closed: [Int] = []

    init(_ gateway: TestGateway, rate: TokenBucket.Rate? = nil) {
      limiter = ConnectionLimiter(limits: limits, rate: rate)
      meter = gateway.meters.gateway
      routes = HTTP1Routes(
        health: HealthAPI(check: gateway.parts.healthCheck), meters: gateway.meters, token: nil, logger: .silent)
    }

    func admit(_ source: UnauthenticatedConnections.Source, at now: Int64 = 0) -> Bool {
      limiter.admit(source, at: now) { number in
        HTTP1Connection(routes: routes, isLoopback: source == .loopback) { self.closed.append(number) }
      } != nil
    }

    /// Begins a connection of the remote address whose channel has ended already.
    func beginEnded() throws {
      let channel = EmbeddedChannel()
      channel.remoteAddress = try SocketAddress(ipAddress: "10.0.0.1", port: 1)
      _ = try channel.finish()
      let door = HTTP1Server.Door(
        routes: routes, tls: nil, limiter: NIOLoopBound(limiter, eventLoop: channel.eventLoop))
      try HTTP1Server.begin(channel, from: .balancer, door, meter)
    }

    /// Removes a connection from its channel, which was never active, and returns the number of its reported ends.
    func endsOfRemoved() throws -> Int {
      var ends = 0
      let (channel, connection) = (
        EmbeddedChannel(), HTTP1Connection(routes: routes, isLoopback: true) { ends += 1 }
      )
      try HTTP1Server.addHandlers(to: channel.pipeline.syncOperations, connection)
      connection.handlerRemoved(context: try channel.pipeline.syncOperations.context(handler: connection))
      guard ends == 1 else { return ends }
      _ = try channel.finish()
      return ends
    }

    var refusals: UInt64 { limits.totals[ReachedLimit.httpConnections.rawValue] }
  }

  @Test func `one address has so many, and loopback more`() async throws {
    try await TestGateway.run { gateway in
      let fixture = Fixture(gateway)
      for _ in 0..<Limits.maximumAddressConnections { #expect(fixture.admit(ConnectionLimiterTests.remote)) }
      #expect(!fixture.admit(ConnectionLimiterTests.remote))
      #expect(fixture.refusals == 1)
      #expect(fixture.admit(.network([10, 0, 0, 2])))
      for _ in 0..<Limits.maximumAddressConnections + 1 { #expect(fixture.admit(.loopback)) }
    }
  }

  @Test func `another address begins so many connections with TLS in a time, and loopback more`() async throws {
    try await TestGateway.run { gateway in
      let fixture = Fixture(gateway, rate: .init(burst: 2, perSecond: 1))
      let remote = ConnectionLimiterTests.remote
      #expect(fixture.admit(remote) && fixture.admit(remote))
      #expect(!fixture.admit(remote) && !fixture.admit(remote, at: 999))
      #expect(fixture.refusals == 2)
      #expect(fixture.admit(remote, at: 1_000))
      #expect(fixture.admit(.network([10, 0, 0, 2]), at: 1_000))
      for _ in 0..<3 { #expect(fixture.admit(.loopback, at: 1_000)) }
    }
  }

  @Test func `so many refused connections get an answer at the same time`() async throws {
    try await TestGateway.run { gateway in
      let limiter = Fixture(gateway).limiter
      for _ in 0..<Limits.maximumHTTP1Refusals { #expect(limiter.beginRefusal()) }
      #expect(!limiter.beginRefusal())
      limiter.endRefusal()
      #expect(limiter.beginRefusal())
    }
  }

  @Test func `a connection that ends before it begins is not counted`() async throws {
    try await TestGateway.run { gateway in
      let fixture = Fixture(gateway)
      #expect(throws: ChannelError.self) { try fixture.beginEnded() }
      #expect(fixture.limiter.count == 0)
      for _ in 0..<Limits.maximumAddressConnections { #expect(fixture.admit(ConnectionLimiterTests.remote)) }
      #expect(throws: ChannelError.self) { try fixture.beginEnded() }
      for _ in 0..<Limits.maximumHTTP1Refusals { #expect(fixture.limiter.beginRefusal()) }
    }
  }

  @Test func `a connection whose channel was never active ends once`() async throws {
    try await TestGateway.run { gateway in
      let ends = try Fixture(gateway).endsOfRemoved()
      #expect(ends == 1)
    }
  }

  @Test func `with as many as there may be the oldest idle one of elsewhere gives way, then one of this machine`()
    async throws
  {
    try await TestGateway.run { gateway in
      let fixture = Fixture(gateway)
      #expect(fixture.admit(.loopback))
      #expect(fixture.admit(ConnectionLimiterTests.remote))
      for _ in 2..<Limits.maximumHTTP1Connections { #expect(fixture.admit(.loopback)) }
      #expect(fixture.limiter.count == Limits.maximumHTTP1Connections)
      #expect(fixture.admit(.loopback))
      #expect(fixture.admit(.loopback))
      #expect(fixture.limiter.count == Limits.maximumHTTP1Connections)
      #expect(fixture.refusals == 2)
      // The address may use the capacity again.
      for _ in 0..<Limits.maximumAddressConnections { #expect(fixture.admit(ConnectionLimiterTests.remote)) }
    }
  }
}
