import GatewayProtocol
import HTTP2Transport

extension CloseReason {
  /// The reason sent to providers.
  var reason: Reason {
    switch self {
    case .shutdown: .shutdown
    case .idle: .idleTimeout
    case .badCertificate: .badCertificate
    case .wrongEnvironment: .badCertificateEnvironment
    case .excess: .tooManyRequests
    case .settingsTimeout: .idleTimeout
    }
  }
}
