import HTTP2Transport
import PushCore

/// A request of the control plane, as a value that may leave its loop.
struct ControlRequest: Sendable {
  var method: String
  /// Without the query.
  var path: String
  /// `name=value` pairs of the query, decoded.
  var query: [String: String]
  var body: [UInt8]
  /// What follows `Bearer` in `authorization`.
  var bearer: String?
  /// Who asks, where that is somebody who administers: the admin socket, or whoever has shown a credential for it.
  var administrator: Administrator?
  /// Where it came from.
  var peer: Connection.Peer
  /// What its sender is counted with.
  var source = UnauthenticatedConnections.Source.loopback
  /// The environment of the listener that it came by.
  var environment = Environment.development
  /// The parts of the path that its route leaves open, in order.
  var parameters: [String] = []

  /// The media types that its sender can read; nil: it names none.
  var accept: String?

  /// Reads a message.
  init(_ message: Message, from peer: Connection.Peer) {
    self.init(
      method: message.text(.method) ?? "", target: message.text(.path) ?? "/", body: message.body,
      authorization: message.text(.authorization), accept: message.text(.accept), from: peer)
  }

  /// - Parameters:
  ///   - target: path and query.
  ///   - authorization: the field of this name.
  init(
    method: String, target: String, body: [UInt8] = [], authorization: String?, accept: String? = nil,
    from peer: Connection.Peer
  ) {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    self.method = method
    path = String(parts[0])
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

/// Routes in one table: method, path with `{…}` for what it leaves open, and what serves it.
struct Router: Sendable {
  typealias Serve = @Sendable (ControlRequest) async throws -> Response

  struct Route: Sendable {
    var method: String
    var pattern: [Substring]
    /// The least role that it takes, of a route that administers; nil: the route looks itself.
    var role: Role?
    /// Whether it may wait for something to happen: the wait is cancelled when its stream is over, or is to end.
    var isWaiting: Bool
    var serve: Serve

    /// A route that looks itself who asks.
    init(_ method: String, _ pattern: String, isWaiting: Bool = false, _ serve: @escaping Serve) {
      self.init(method, pattern, role: nil, isWaiting: isWaiting, serve)
    }

    /// A route that administers, for whoever has a role.
    init(_ method: String, _ pattern: String, _ role: Role, isWaiting: Bool = false, _ serve: @escaping Serve) {
      self.init(method, pattern, role: role, isWaiting: isWaiting, serve)
    }

    private init(_ method: String, _ pattern: String, role: Role?, isWaiting: Bool, _ serve: @escaping Serve) {
      (self.method, self.role, self.isWaiting) = (method, role, isWaiting)
      self.pattern = pattern.split(separator: "/")
      self.serve = serve
    }
  }

  enum Match: Sendable {
    case found(Route, parameters: [String])
    /// The path is known, and takes only these methods.
    case otherMethods([String])
    case unknown
  }

  /// In the order in which they are tried.
  let routes: [Route]

  init(_ routes: [Route]) { self.routes = routes }

  /// Finds what serves a request.
  func match(method: String, path: String) -> Match {
    let parts = path.split(separator: "/")
    var methods: [String] = []
    for route in routes where route.pattern.count == parts.count {
      var parameters: [String] = []
      let fits = zip(route.pattern, parts).allSatisfy { pattern, part in
        guard pattern.hasPrefix("{") else { return pattern == part }
        parameters.append(percentDecoded(part))
        return true
      }
      guard fits else { continue }
      if route.method == method { return .found(route, parameters: parameters) }
      methods.append(route.method)
    }
    return methods.isEmpty ? .unknown : .otherMethods(methods)
  }
}

/// Decodes `%xx` (RFC 3986 §2.1) and leaves everything else as it is.
private func percentDecoded(_ text: Substring) -> String {
  var bytes: [UInt8] = []
  var rest = text.utf8[...]
  while let byte = rest.popFirst() {
    if byte == UInt8(ascii: "%"), rest.count >= 2, let high = hexValue(rest[rest.startIndex]),
      let low = hexValue(rest[rest.index(after: rest.startIndex)])
    {
      bytes.append(high << 4 | low)
      rest = rest.dropFirst(2)
    } else {
      bytes.append(byte)
    }
  }
  return String(decoding: bytes, as: UTF8.self)
}
