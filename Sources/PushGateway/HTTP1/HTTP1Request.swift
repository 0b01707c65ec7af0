import HTTP2Transport
import NIOHTTP1
import PushCore

/// An HTTP/1.1 request with its head, or the reason for refusing it: a value without a socket.
enum HTTP1Request: Sendable {
  case served(ControlRequest, isHead: Bool)
  /// Answered with this problem, after which the connection ends.
  case refused(Problem)

  /// - Parameters:
  ///   - isLoopback: true if the peer is on this machine.
  ///   - maximumBodySize: the maximum size of a body in bytes; 0 to refuse requests with a body.
  ///   - servesPage: true if the pages are served: their requests have an origin and bodies.
  ///   - servesMessages: true if messages are served: they have bodies.
  ///   - messageSize: returns the maximum size of a message's body in bytes, by its head.
  init(
    _ head: HTTPRequestHead, isLoopback: Bool, maximumBodySize: Int = 0, servesPage: Bool = false,
    servesMessages: Bool = false,
    messageSize: (ControlRequest, MessageDoor) -> Int = { _, door in door.maximumBodySize }
  ) {
    let path = head.uri.prefix { $0 != "?" }
    let isOfPage = servesPage && WebAPI.isFor(path: path)
    let messagePath = servesMessages ? MessageRelay.path(path, method: head.method.rawValue) : nil
    let ownSize = isOfPage ? Limits.maximumPreferencesBodySize : 0
    var request = HTTP1Request.request(head, isLoopback: isLoopback)
    if let messagePath {
      request.path = messagePath
      for (name, value) in head.headers where request.fields[name.lowercased()] == nil {
        request.fields[name.lowercased()] = value
      }
    }
    let size = messagePath.flatMap { MessageDoor(path: $0) }.map { messageSize(request, $0) } ?? 0
    let problem = HTTP1Request.problem(
      with: head, maximumBodySize: max(maximumBodySize, ownSize, size), isOfPage: isOfPage)
    if let problem {
      self = .refused(problem)
    } else if let messagePath, head.headers["authorization"].count > 1 {
      self = .refused(
        Problem(400, "Bad Request", "\(messagePath): expected one field authorization"))
    } else {
      self = .served(request, isHead: head.method == .HEAD)
    }
  }

  private static func problem(with head: HTTPRequestHead, maximumBodySize: Int, isOfPage: Bool) -> Problem? {
    let fields = head.headers
    let hosts = fields["host"]
    if hosts.count > 1 || hosts.isEmpty && head.version.minor > 0 {
      return Problem(400, "Bad Request", "expected one Host field (RFC 9112 §3.2)")
    }
    let sizes = fields["content-length"]
    if maximumBodySize == 0 {
      // A request without a body can't be interpreted as two requests by an intermediary.
      if fields.contains(name: "transfer-encoding") || sizes.contains(where: { $0 != "0" }) {
        return Problem(413, "Content Too Large", "expected a request without a body")
      }
    } else if fields.contains(name: "transfer-encoding") {
      return Problem(411, "Length Required", "expected a body with content-length, not in chunks")
    } else if sizes.contains(where: { Int($0).map { $0 > maximumBodySize } ?? true }) {
      return Problem(413, "Content Too Large", "expected a body of at most \(maximumBodySize) bytes")
    }
    if head.method == .CONNECT || fields.contains(name: "upgrade") {
      return Problem(
        400, "Bad Request", "expected HTTP/1.1; pushes are sent over HTTP/2 to a `listen` address")
    }
    // The routes of the page check the origin themselves.
    if fields.contains(name: "origin"), !isOfPage {
      return Problem(403, "Forbidden", "requests from web pages are refused: omit Origin")
    }
    guard head.uri.utf8.first == UInt8(ascii: "/") else {
      return Problem(400, "Bad Request", "expected a path, as /readyz")
    }
    return nil
  }

  private static func request(_ head: HTTPRequestHead, isLoopback: Bool) -> ControlRequest {
    // A foreign web page may resolve its own name to this machine (DNS rebinding): a request with such a name counts
    // as remote. A request through a proxy on this machine also counts as remote.
    let isLocal =
      isLoopback && head.headers["host"].allSatisfy(BrowserFields.isLoopbackName)
      && !["forwarded", "x-forwarded-for", "via"].contains { head.headers.contains(name: $0) }
    var request = ControlRequest(
      method: head.method == .HEAD ? "GET" : head.method.rawValue, target: head.uri,
      authorization: head.headers.first(name: "authorization"), accept: head.headers["accept"].joined(separator: ","),
      from: isLocal ? .loopback : .remote)
    request.browser = BrowserFields(head.headers)
    return request
  }
}
