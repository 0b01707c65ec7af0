import NIOCore
import Testing

@testable import GatewayClient
@testable import HTTP2Transport
@testable import PushCore

/// The properties of a peer come from the listener. Unknown ones are never assumed.
@Suite(.timeLimit(.minutes(5))) struct AdminPeerTests {
  @Test(
    arguments: [(1000, 1000, true), (0, 1000, true), (1001, 1000, false), (1000, 0, false), (0, 0, true)]
      as [(UInt32, UInt32, Bool)])
  func `the gateway's own user and root may use the admin socket`(
    _ user: UInt32, _ own: UInt32, _ isAllowed: Bool
  ) {
    #expect(AdminPeer.isAllowed(user, own: own) == isAllowed)
  }

  @Test(
    arguments: [
      ("127.0.0.1", .loopback), ("127.9.9.9", .loopback), ("::1", .loopback), ("::ffff:127.0.0.1", .loopback),
      ("10.0.0.1", .remote), ("::ffff:10.0.0.1", .remote), ("fe80::1", .remote), ("128.127.0.1", .remote),
    ] as [(String, Connection.Peer)])
  func `an address says loopback or remote`(_ address: String, _ peer: Connection.Peer) throws {
    #expect(Connection.Peer(try SocketAddress(ipAddress: address, port: 1)) == peer)
  }

  @Test func `an address that can't be had makes nobody an administrator`() throws {
    #expect(Connection.Peer(nil) == .remote)
    #expect(Connection.Peer(try SocketAddress(unixDomainSocketPath: "/run/x")) == .remote)
  }

  @Test(arguments: [(nil, 403), (.loopback, 403), (.remote, 403), (.adminSocket, 200)] as [(Connection.Peer?, Int)])
  func `only where the listener says so does the admin API ask for nothing`(_ peer: Connection.Peer?, _ status: Int)
    async throws
  {
    try await TestGateway.run(options: ConnectionOptions(peer: peer ?? .remote)) { gateway in
      let answer = try await gateway.client().request("GET", "/admin/v1/status")
      #expect(answer.status == status)
    }
  }
}
