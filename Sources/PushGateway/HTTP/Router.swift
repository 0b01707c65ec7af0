import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy

/// A control-plane request, as a value that may leave its loop.
struct ControlRequest: Sendable {
  var method: String
  /// The path without the query.
  var path: String
  /// The decoded `name=value` pairs of the query.
  var query: [String: String]
  var body: [UInt8]
  /// The text after `Bearer` in `authorization`.
  var bearer: String?
  /// The administrator who sent the request: through the admin socket, or with a credential; nil for any other
  /// sender.
  var administrator: Administrator?
  /// The location of the sender.
  var peer: Connection.Peer
  /// The source with which the sender is counted.
  var source = UnauthenticatedConnections.Source.loopback
  /// The environment of the listener that received the request.
  var environment = Environment.development
  /// The parts of the path that match placeholders of its route, in order.
  var parameters: [String] = []

  /// The fields by which a browser describes the request.
  var browser = BrowserFields()
  /// The media types that the sender accepts; nil if it names none.
  var accept: String?
  /// The query as it was sent.
  let queryText: String
  /// The fields by their names in lower case, the first of each name: only of a message.
  var fields: [String: String] = [:]

  /// Creates a request from a message.
  init(_ message: Message, from peer: Connection.Peer) {
    self.init(
      method: message.text(.method) ?? "", target: message.text(.path) ?? "/", body: message.body,
      authorization: message.text(.authorization), accept: message.text(.accept), from: peer)
    browser = BrowserFields(message)
  }

  /// - Parameters:
  ///   - target: the path and the query.
  ///   - authorization: the value of the field `authorization`.
  init(
    method: String, target: String, body: [UInt8] = [], authorization: String?, accept: String? = nil,
    from peer: Connection.Peer
  ) {
    ReadingSteps.add(target.utf8.count)
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    self.method = method
    path = String(parts[0])
    queryText = parts.count > 1 ? String(parts[1]) : ""
    query = [:]
    for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      query[percentDecoded(sides[0])] = sides.count > 1 ? percentDecoded(sides[1]) : ""
    }
    self.body = body
    self.accept = accept
    bearer = authorization.flatMap { value in
      value.lowercased().hasPrefix("bearer ") ? String(value.dropFirst(7)) : nil
    }
    self.peer = peer
    if peer == .adminSocket { administrator = Administrator(role: .admin, credential: .socket(user: nil)) }
  }
}

/// A table of routes: each with a method, a path with `{…}` placeholders, and the function that serves it. The part of a path
/// with a placeholder may have an ending, as `{number}.svg`.
struct Router: Sendable {
  typealias Serve = @Sendable (ControlRequest) async throws -> Response

  struct Route: Sendable {
    var method: String
    var pattern: [Substring]
    /// The minimum role for an administrative route; nil if the route checks permissions itself.
    var role: Role?
    /// True if the route may wait for an event: the wait is canceled when its stream closes or is to end.
    var isWaiting: Bool
    var serve: Serve

    /// Creates an administrative route with a minimum role.
    init(_ method: String, _ path: AdminPath, _ role: Role, isWaiting: Bool = false, _ serve: @escaping Serve) {
      self.init(method, path.pattern, role: role, isWaiting: isWaiting, serve)
    }

    /// Creates an administrative route whose response has no body.
    static func empty(
      _ method: String, _ path: AdminPath, _ role: Role,
      _ act: @escaping @Sendable (ControlRequest) async throws -> Void
    ) -> Route {
      Route(method, path, role) { request in
        try await act(request)
        return .noContent
      }
    }

    /// Creates a route; without a role, it checks permissions itself.
    init(
      _ method: String, _ pattern: String, role: Role? = nil, isWaiting: Bool = false, _ serve: @escaping Serve
    ) {
      (self.method, self.role, self.isWaiting) = (method, role, isWaiting)
      self.pattern = pattern.split(separator: "/")
      self.serve = serve
    }
  }

  enum Match: Sendable {
    case found(Route, parameters: [String])
    /// The path exists, but only with these methods.
    case otherMethods([String])
    case unknown
  }

  /// The routes, in the order of matching.
  let routes: [Route]

  init(_ routes: [Route]) { self.routes = routes }

  /// Finds the route of a request.
  func match(method: String, path: String) -> Match {
    let parts = path.split(separator: "/")
    ReadingSteps.add(path.utf8.count)
    var methods: [String] = []
    for route in routes where route.pattern.count == parts.count {
      ReadingSteps.add(parts.count)
      var parameters: [String] = []
      let fits = zip(route.pattern, parts).allSatisfy { pattern, part in
        guard pattern.hasPrefix("{"), let close = pattern.firstIndex(of: "}") else { return pattern == part }
        let ending = pattern[pattern.index(after: close)...]
        guard part.hasSuffix(ending) else { return false }
        parameters.append(percentDecoded(part.dropLast(ending.count)))
        return true
      }
      guard fits else { continue }
      if route.method == method { return .found(route, parameters: parameters) }
      methods.append(route.method)
    }
    return methods.isEmpty ? .unknown : .otherMethods(methods)
  }
}

/// Decodes `%xx` (RFC 3986 §2.1), leaving all other characters unchanged.
private func percentDecoded(_ text: Substring) -> String {
  ReadingSteps.add(text.utf8.count)
  return String(decoding: decodedEscapes(Array(text.utf8)[...], mark: UInt8(ascii: "%")), as: UTF8.self)
}

/// Returns bytes with each mark and its two hex digits decoded; an incomplete one is itself.
///
/// - Parameter space: the byte that stands for a space; nil: none.
func decodedEscapes(_ text: ArraySlice<UInt8>, mark: UInt8, space: UInt8? = nil) -> [UInt8] {
  var bytes: [UInt8] = []
  var rest = text
  while let byte = rest.popFirst() {
    if byte == mark, rest.count >= 2, let high = hexValue(rest[rest.startIndex]),
      let low = hexValue(rest[rest.startIndex + 1])
    {
      bytes.append(high << 4 | low)
      rest = rest.dropFirst(2)
    } else {
      bytes.append(byte == space ? UInt8(ascii: " ") : byte)
    }
  }
  return bytes
}
