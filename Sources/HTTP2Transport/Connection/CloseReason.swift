package import PushCore

/// Why the gateway ends a connection that could go on (reference §5.4).
///
/// The server's side knows the causes; what is said of them, to open streams and in GOAWAY, is the handler's.
package enum CloseReason: Sendable, Equatable {
  /// The gateway is stopping.
  case shutdown
  /// Nothing came for longer than the idle timeout.
  case idle
  /// The client's certificate can't be used, or was revoked.
  case badCertificate
  /// The client's certificate is of the other environment.
  case wrongEnvironment
  /// The peer went beyond a limit, more often than happens by accident.
  case excess(TransportLimit)
  /// The peer did not acknowledge SETTINGS in time (RFC 9113 §6.5.3).
  case settingsTimeout

  /// The code in GOAWAY (RFC 9113 §7).
  package var errorCode: HTTP2ErrorCode {
    switch self {
    case .shutdown, .idle, .badCertificate, .wrongEnvironment: .noError
    case .excess: .enhanceYourCalm
    case .settingsTimeout: .settingsTimeout
    }
  }
}

/// What a listener does with the connections that it takes.
package struct ConnectionOptions: Sendable {
  /// How a connection's environment is found.
  package enum EnvironmentRule: Sendable, Equatable {
    case fixed(Environment)
    /// By the host name that the client gave in its TLS handshake; for any other name, or none, the one given here.
    case byHostName(otherwise: Environment)
  }

  package var environmentRule = EnvironmentRule.fixed(.development)
  /// Streams a peer may have open; it is told in the first SETTINGS.
  package var initialStreams = Limits.maximumConcurrentStreams
  /// Whether only the management of broadcast channels is served here, as on the real service's hosts for it.
  package var servesChannelsOnly = false
  /// How long a connection without open streams may be silent; nil: for ever.
  package var idleTimeout: Duration?
  /// What every peer of the listener is, whatever is known of it; nil: loopback or remote, by its address.
  package var peer: PeerOrigin?
  /// The addresses of balancers. Each connection from them begins with a ``ProxyHeader``.
  package var balancers: Set<IPAddress> = []

  package init(
    environmentRule: EnvironmentRule = EnvironmentRule.fixed(.development),
    initialStreams: Int = Limits.maximumConcurrentStreams,
    servesChannelsOnly: Bool = false, idleTimeout: Duration? = nil, peer: PeerOrigin? = nil
  ) {
    self.peer = peer
    self.environmentRule = environmentRule
    self.initialStreams = initialStreams
    self.servesChannelsOnly = servesChannelsOnly
    self.idleTimeout = idleTimeout
  }

  /// The environment of a connection whose client named `host`.
  package func environment(host: String?) -> Environment {
    switch environmentRule {
    case .fixed(let environment): environment
    case .byHostName(let otherwise): host.flatMap(Environment.named(by:)) ?? otherwise
    }
  }
}

extension Environment {
  /// The environment that one of Apple's names stands for (reference §1.1), such as `api.sandbox.push.apple.com`, or a
  /// name of one's own that begins like it: `api.push…` or `api.sandbox…`, `api.development…`.
  package static func named(by hostName: String) -> Environment? {
    let labels = hostName.lowercased().split(separator: ".")
    guard labels.count >= 3, labels[0].hasPrefix("api") else { return nil }
    switch labels[1] {
    case "push": return .production
    case "sandbox", "development": return .development
    default: return nil
    }
  }
}
