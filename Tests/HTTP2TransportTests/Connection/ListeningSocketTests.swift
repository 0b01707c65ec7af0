import Glibc
import NIOCore
import PushTesting
import Testing

@testable import HTTP2Transport

@Suite(.timeLimit(.minutes(5))) struct ListeningSocketTests {
  let folder: TemporaryFolder
  var path: String { folder.file("socket") }

  init() throws { folder = try TemporaryFolder() }

  /// Returns true if a client can connect up to the backlog.
  static func isReached(_ address: Listener.Address) -> Bool {
    guard
      let place = try? {
        switch address {
        case .tcp(let host, let port): try SocketAddress(ipAddress: host, port: port)
        case .unix(let path): try SocketAddress(unixDomainSocketPath: path)
        }
      }()
    else { return false }
    let descriptor = socket(
      Int32(place.protocol.rawValue), Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    return unsafe place.withSockAddr { unsafe connect(descriptor, $0, socklen_t($1)) == 0 }
  }

  @Test func `it knows where it is bound`() throws {
    guard case .tcp("127.0.0.1", let port)? = try ListeningSocket.bind(.tcp(host: "localhost", port: 0)).address,
      case .tcp("::1", _)? = try ListeningSocket.bind(.tcp(host: "::1", port: 0)).address
    else {
      Issue.record("expected addresses of TCP")
      return
    }
    #expect(port > 0)
    #expect(try ListeningSocket.bind(.unix(path: path)).address == .unix(path: path))
    let pipe = unsafe open("/dev/null", O_RDONLY)
    #expect(ListeningSocket(adopting: pipe).address == nil)
  }

  @Test func `an address that can't be had is refused in a line`() throws {
    let error = #expect(throws: ListenError.self) { try ListeningSocket.bind(.tcp(host: "192.0.2.1", port: 1)) }
    #expect(error?.description == "can't listen on 192.0.2.1:1: this machine does not have that address")
  }

  @Test(arguments: [
    ("0.0.0.0", "127.0.0.1", true), ("127.0.0.1", "0.0.0.0", true), ("::", "::1", true), ("::", "127.0.0.1", true),
    ("127.0.0.1", "127.0.0.2", false), ("127.0.0.1", "::1", false),
  ]) func `addresses overlap if one is for all addresses of the machine`(
    _ one: String, _ other: String, _ overlaps: Bool
  ) {
    #expect(Listener.Address.tcp(host: one, port: 1).overlaps(.tcp(host: other, port: 1)) == overlaps)
    #expect(!Listener.Address.tcp(host: one, port: 1).overlaps(.tcp(host: other, port: 2)))
    #expect(!Listener.Address.unix(path: one).overlaps(.tcp(host: other, port: 1)))
  }

  @Test func `a listener shares its port only while both sides permit it`() async throws {
    let loops = try await Loops(count: 1) { _ in NoHandler() }
    let one = try await Listener.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: nil, loops: loops)
    let all = Listener.Address.tcp(host: "0.0.0.0", port: try #require(one.port))
    await #expect(throws: ListenError.self) { try await Listener.listen(on: all, tls: nil, loops: loops) }
    await #expect(throws: ListenError.self) {
      try await Listener.listen(on: all, sharesPort: true, tls: nil, loops: loops)
    }
    one.sharePort(true)
    let wide = try await Listener.listen(on: all, sharesPort: true, tls: nil, loops: loops)
    wide.sharePort(false)
    await one.close()
    await #expect(throws: ListenError.self) { try await Listener.listen(on: all, tls: nil, loops: loops) }
    #expect(ListeningSocketTests.isReached(.tcp(host: "127.0.0.1", port: try #require(wide.port))))
    await wide.close()
    await loops.shutdown()
  }

  @Test(arguments: [true, false]) func `peers of a listener that hands its socket over wait, others are refused`(
    isTCP: Bool
  ) async throws {
    let loops = try await Loops(count: 1) { _ in NoHandler() }
    let listener = try await Listener.listen(
      on: isTCP ? .tcp(host: "127.0.0.1", port: 0) : .unix(path: path), tls: nil, loops: loops)
    let socket = try #require(await listener.handOver())
    let address = try #require(socket.address)
    #expect(ListeningSocketTests.isReached(address))
    #expect(await listener.handOver() == nil)
    let next = try await Listener.listen(on: address, socket: socket, tls: nil, loops: loops)
    if isTCP { #expect(next.description == listener.description) }
    #expect(ListeningSocketTests.isReached(address))
    await next.close()
    await loops.shutdown()
    // The listener had its own descriptor.
    #expect(ListeningSocketTests.isReached(address))
    _ = consume socket
  }

  @Test func `a listener that closes lets go of its socket`() async throws {
    let loops = try await Loops(count: 1) { _ in NoHandler() }
    let listener = try await Listener.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: nil, loops: loops)
    let port = try #require(listener.description.split(separator: ":").last.flatMap { Int($0) })
    let shared = listener.shareSocket()
    await listener.close()
    #expect(ListeningSocketTests.isReached(.tcp(host: "127.0.0.1", port: port)) == (shared != nil))
    #expect(listener.shareSocket() == nil)
    await loops.shutdown()
  }
}

/// A handler that ignores all requests.
private final class NoHandler: Handler {
  func receivedHead(of exchange: Exchange) {}
  func receivedRequest(_ exchange: Exchange) {}
  func cause(toRefuse connection: Connection) -> CloseReason? { nil }
  func began(_ connection: Connection) {}
  func abandon(_ exchange: Exchange, for cause: CloseReason) {}
  func debugData(of cause: CloseReason) -> [UInt8] { [] }
  func answersExcessFields(of exchange: Exchange) -> Bool { false }
  func timeOut(_ exchange: Exchange) {}
  func exceeded(_ limit: TransportLimit, on connection: Connection) {}
}
