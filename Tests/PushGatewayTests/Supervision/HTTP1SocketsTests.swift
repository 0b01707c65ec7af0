import Glibc
import HTTP2Transport
import PushTesting
import Testing

@testable import PushGateway

@Suite struct HTTP1SocketsTests {
  /// A socket on which this process accepts, with the name of an entry, and its port.
  func accepting(_ entry: (Int) -> String, host: String = "127.0.0.1") throws -> (
    entry: InheritedSockets.Entry, port: Int
  ) {
    let socket = try ListeningSocket.bind(.tcp(host: host, port: 0))
    guard case .tcp(_, let port)? = socket.address, listen(socket.descriptor, 1) == 0 else {
      throw ConfigurationError(description: "no address")
    }
    return (.init(name: InheritedSockets.Name.http(entry(port)), socket: socket), port)
  }

  func next(_ sockets: HTTP1Sockets, _ entries: String...) async throws -> [InheritedSockets.Entry] {
    try await sockets.bind(.addresses(entries))
  }

  @Test func `an address that another program uses is refused, and the sockets stay`() async throws {
    let sockets = HTTP1Sockets()
    let (own, other) = try (accepting { "127.0.0.1:\($0)" }, accepting { "127.0.0.1:\($0)" })
    sockets.note([own.entry])
    let error = await #expect(throws: ListenError.self) {
      try await sockets.bind(.addresses(["127.0.0.1:\(own.port)", "127.0.0.1:\(other.port)"]))
    }
    #expect(error?.description.contains("can't listen on 127.0.0.1:\(other.port): it is in use") == true)
    #expect(error?.description.contains("--http-listen") == true)
    #expect(sockets.handOver().map(\.name) == [own.entry.name])
  }

  @Test func `all addresses of a port follow one of them, and the other way round`() async throws {
    for (host, follower) in [("127.0.0.1", "0.0.0.0"), ("0.0.0.0", "127.0.0.1")] {
      let sockets = HTTP1Sockets()
      let own = try accepting({ "\(host):\($0)" }, host: host)
      sockets.note([own.entry])
      let found = try await next(sockets, "\(follower):\(own.port)")
      #expect(found.map(\.socket.address) == [.tcp(host: follower, port: own.port)])
      sockets.prepare(found)
      #expect(sockets.handOver().map(\.name) == [InheritedSockets.Name.http("\(follower):\(own.port)")])
    }
  }

  @Test func `a socket is found by its entry, and by its address in another spelling`() async throws {
    let sockets = HTTP1Sockets()
    let (free, named) = try (accepting { _ in "127.0.0.1:0" }, accepting { "127.0.0.1:\($0)" })
    sockets.note([free.entry, named.entry])
    let found = try await next(sockets, "localhost:\(named.port)", "127.0.0.1:0")
    #expect(found.map(\.socket.descriptor) == [named.entry.socket.descriptor, free.entry.socket.descriptor])
    #expect(found.map(\.name) == ["localhost:\(named.port)", "127.0.0.1:0"].map(InheritedSockets.Name.http))
  }

  @Test func `a socket stays with its address when TLS is added or removed`() async throws {
    let sockets = HTTP1Sockets()
    let (plain, secure) = try (accepting { "127.0.0.1:\($0)" }, accepting { "https://127.0.0.1:\($0)" })
    sockets.note([plain.entry, secure.entry])
    let kept = try await next(sockets, "https://127.0.0.1:\(secure.port)")
    #expect(kept.map(\.socket.descriptor) == [secure.entry.socket.descriptor])
    let changed = ["https://127.0.0.1:\(plain.port)", "127.0.0.1:\(secure.port)"]
    let found = try await sockets.bind(.addresses(changed))
    #expect(found.map(\.socket.descriptor) == [plain.entry.socket.descriptor, secure.entry.socket.descriptor])
    #expect(found.map(\.name) == changed.map(InheritedSockets.Name.http))
  }

  @Test func `an address that is given twice is refused`() async throws {
    let own = try accepting { "127.0.0.1:\($0)" }
    let (address, sockets) = ("127.0.0.1:\(own.port)", HTTP1Sockets())
    sockets.note([own.entry])
    await #expect(throws: ListenError.self) { try await sockets.bind(.addresses([address, address])) }
  }

  @Test func `a restart that was prepared twice finds its own sockets`() async throws {
    let port = try accepting { "127.0.0.1:\($0)" }.port
    let sockets = HTTP1Sockets()
    let first = try await next(sockets, "127.0.0.1:\(port)")
    sockets.prepare(first)
    let second = try await next(sockets, "127.0.0.1:\(port)")
    #expect(second.map(\.socket.descriptor) == first.map(\.socket.descriptor))
  }

  @Test func `a setting without addresses hands over the socket that fits, or none`() async throws {
    let sockets = HTTP1Sockets()
    let (standard, free) = try (accepting { _ in HTTPListen.standard }, accepting { _ in HTTPListen.free })
    sockets.note([standard.entry, free.entry])
    #expect(try await sockets.bind(.none).isEmpty)
    #expect(try await sockets.bind(.automatic).map(\.name) == [free.entry.name])
    sockets.note([standard.entry])
    #expect(try await sockets.bind(.automatic).map(\.name) == [standard.entry.name])
    sockets.release()
    #expect(sockets.handOver().isEmpty)
  }
}
