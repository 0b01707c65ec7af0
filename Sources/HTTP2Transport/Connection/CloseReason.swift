package import PushCore

/// The reason for which the gateway ends a connection that could continue (APNs reference §5.4).
///
/// The transport determines the reason; the ``Handler`` chooses the response of open streams and the text in GOAWAY.
package enum CloseReason: Sendable, Equatable {
  /// The gateway is stopping.
  case shutdown
  /// No data arrived for longer than the idle timeout.
  case idle
  /// The client's certificate is not valid, or was revoked.
  case badCertificate
  /// The client's certificate belongs to the other environment.
  case wrongEnvironment
  /// The peer exceeded a limit more often than an honest client does by accident.
  case excess(TransportLimit)
  /// The peer did not acknowledge SETTINGS in time (RFC 9113 §6.5.3).
  case settingsTimeout

  /// The error code in GOAWAY (RFC 9113 §7).
  package var errorCode: HTTP2ErrorCode {
    switch self {
    case .shutdown, .idle, .badCertificate, .wrongEnvironment: .noError
    case .excess: .enhanceYourCalm
    case .settingsTimeout: .settingsTimeout
    }
  }
}

/// The settings of a listener for the connections that it accepts.
package struct ConnectionOptions: Sendable {
  /// The rule that determines the environment of a connection.
  package enum EnvironmentRule: Sendable, Equatable {
    case fixed(Environment)
    /// Determined by the host name in the client's TLS handshake; `otherwise` for any other name, or none.
    case byHostName(otherwise: Environment)
  }

  package var environmentRule = EnvironmentRule.fixed(.development)
  /// The maximum number of open streams of a peer, announced in the first SETTINGS.
  package var initialStreams = Limits.maximumConcurrentStreams
  /// True if the listener serves only the management of broadcast channels, like the real service's hosts for it.
  package var servesChannelsOnly = false
  /// The time that a connection without open streams may be silent; nil for no limit.
  package var idleTimeout: Duration?
  /// The origin of every peer of the listener; nil for loopback or remote, by the peer's address.
  package var peer: PeerOrigin?
  /// The addresses of load balancers. Each connection from them begins with a ``ProxyHeader``.
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

  /// Returns the environment of a connection whose client sent `host` in its TLS handshake.
  package func environment(host: String?) -> Environment {
    switch environmentRule {
    case .fixed(let environment): environment
    case .byHostName(let otherwise): host.flatMap(Environment.named(by:)) ?? otherwise
    }
  }
}

extension Environment {
  /// Returns the environment that a host name stands for: one of Apple's names (APNs reference §1.1), such as
  /// `api.sandbox.push.apple.com`, or another name that begins with `api.push…`, `api.sandbox…` or
  /// `api.development…`.
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
