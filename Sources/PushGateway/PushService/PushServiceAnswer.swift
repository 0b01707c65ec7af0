import PushCore

/// The consequence of a push service's answer to a message (RFC 8030 §5).
enum PushServiceOutcome: Sendable, Equatable {
  /// The service has the message.
  case accepted
  /// The subscription has ended.
  case gone
  /// The service takes shorter messages only.
  case tooLarge
  /// The same message is posted again, at the earliest after the pause that the service requests, if it requests one.
  case failed(retryAfter: Duration?)
  /// The service takes no message of this gateway for the subscription.
  case refused

  /// True if the service itself fails. All other answers concern one subscription or one message.
  var isFailure: Bool {
    if case .failed = self { true } else { false }
  }
}

extension EventAnswer {
  /// Returns the consequence of this answer of a push service.
  ///
  /// - Parameter now: seconds since 1970.
  func pushServiceOutcome(at now: Int64) -> PushServiceOutcome {
    switch status {
    case 200, 201, 202, 204: .accepted
    case 404, 410: .gone
    case 413: .tooLarge
    case 408, 425, 429, 500..<600: .failed(retryAfter: pause(now))
    // Redirects are not followed. All other answers are the same for every message.
    default: .refused
    }
  }
}
