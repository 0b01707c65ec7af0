import HTTP2Transport
import NIOHTTP1
import PushCore

/// A request of HTTP/1.1 whose head is there, or why it is not served: a value, without a socket.
enum DoorRequest: Sendable {
  case served(ControlRequest, isHead: Bool)
  /// It is answered with this, and the connection ends.
  case refused(Problem)

  /// - Parameters:
  ///   - isLoopback: whether the peer is on this machine.
  init(_ head: HTTPRequestHead, isLoopback: Bool) {
    self =
      switch DoorRequest.problem(with: head) {
      case let problem?: .refused(problem)
      case nil: .served(DoorRequest.request(head, isLoopback: isLoopback), isHead: head.method == .HEAD)
      }
  }

  private static func problem(with head: HTTPRequestHead) -> Problem? {
    let fields = head.headers
    let hosts = fields["host"]
    if hosts.count > 1 || hosts.isEmpty && head.version.minor > 0 {
      return Problem(400, "Bad Request", "expected one Host field (RFC 9112 §3.2)")
    }
    // What has no body can't be taken for two requests by somebody in between.
    if fields.contains(name: "transfer-encoding") || fields["content-length"].contains(where: { $0 != "0" }) {
      return Problem(413, "Content Too Large", "expected a request without a body")
    }
    if head.method == .CONNECT || fields.contains(name: "upgrade") {
      return Problem(
        400, "Bad Request", "expected HTTP/1.1; pushes are sent over HTTP/2 to a `listen` address")
    }
    if fields.contains(name: "origin") {
      return Problem(403, "Forbidden", "requests from web pages are refused: omit Origin")
    }
    guard head.uri.utf8.first == UInt8(ascii: "/") else {
      return Problem(400, "Bad Request", "expected a path, as /readyz")
    }
    return nil
  }

  private static func request(_ head: HTTPRequestHead, isLoopback: Bool) -> ControlRequest {
    // A page of a stranger may have its own name lead here (DNS rebinding): who says such a name is a stranger. So is who
    // comes by a proxy of this machine.
    let isLocal =
      isLoopback && head.headers["host"].allSatisfy(isLoopbackName)
      && !["forwarded", "x-forwarded-for", "via"].contains { head.headers.contains(name: $0) }
    return ControlRequest(
      method: head.method == .HEAD ? "GET" : head.method.rawValue, target: head.uri,
      authorization: head.headers.first(name: "authorization"), accept: head.headers["accept"].joined(separator: ","),
      from: isLocal ? .loopback : .remote)
  }

  /// Whether a Host field names this machine, whatever name servers say: `localhost`, names below it, or an address of
  /// loopback, each with or without a port.
  static func isLoopbackName(_ host: String) -> Bool {
    let host = host.lowercased()
    if host.hasPrefix("[") { return host == "[::1]" || host.hasPrefix("[::1]:") }
    let name = host.prefix { $0 != ":" }
    if name == "localhost" || name.hasSuffix(".localhost") { return true }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
