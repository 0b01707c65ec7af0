import GatewayProtocol

/// The state of a token, which determines the answers to its pushes.
enum TokenState: String, CaseIterable, Sendable {
  /// Pushes are answered as usual.
  case registered
  case unregistered
  case otherEnvironment = "other-environment"
  case throttled
  case unavailable
  case acceptedAndDropped = "accepted-and-dropped"

  /// The seconds of `retry-after` in the answers, unless a test chooses others; nil for no such field.
  var retryAfter: Int? { self == .throttled ? 1 : nil }

  /// The reason in the answers; nil for none.
  var reason: Reason? {
    switch self {
    case .registered, .acceptedAndDropped: nil
    case .unregistered: .unregistered
    case .otherEnvironment: .badDeviceToken
    case .throttled: .tooManyRequests
    case .unavailable: .serviceUnavailable
    }
  }
}
