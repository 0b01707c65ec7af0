import HTTP2Transport

/// The clients that get the pages in a browser: the setting `web`.
enum WebSetting: String, Sendable, CaseIterable {
  /// All clients.
  case on
  case off
  /// Clients on this machine.
  case loopback

  /// Returns true if a client gets the pages. The HTTP/1.1 server reaches its own gateway through the admin socket.
  func serves(_ peer: Connection.Peer) -> Bool {
    switch self {
    case .on: true
    case .off: false
    case .loopback: peer != .remote
    }
  }
}
