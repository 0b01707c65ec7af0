import GatewayProtocol

/// The behavior that an answer demands of a sender.
enum SenderDemand: Sendable, Equatable {
  /// No further push to the token.
  case forgetToken
  /// The same push again, after a pause.
  case retryLater
  /// The same push again, with a new provider token.
  case renewProviderToken
  /// One provider token for all pushes.
  case keepProviderToken
  /// No push like this one.
  case correct

  init(_ push: RecordedPush) {
    guard let reason = push.reason.flatMap({ Reason(rawValue: $0) }) else {
      self = push.status.map { $0 >= 500 } ?? true ? .retryLater : .correct
      return
    }
    self =
      switch reason {
      case .unregistered, .badDeviceToken, .expiredToken: .forgetToken
      case .expiredProviderToken: .renewProviderToken
      case .tooManyProviderTokenUpdates: .keepProviderToken
      case .tooManyRequests, .internalServerError, .serviceUnavailable, .shutdown, .idleTimeout: .retryLater
      default: .correct
      }
  }

  /// The demand in words.
  func words(for push: RecordedPush) -> String {
    switch self {
    case .forgetToken: "no more pushes to this token"
    case .retryLater:
      if let seconds = push.retryAfter {
        "the same push again, after \(seconds) s (retry-after)"
      } else if push.status == nil {
        "the same push again, on a new connection if this one has ended"
      } else {
        "the same push again, after a pause"
      }
    case .renewProviderToken: "the same push again, with a new provider token: renew it after 20 to 60 minutes"
    case .keepProviderToken: SenderDemand.oneProviderToken
    case .correct:
      if let finding = push.findings.first(where: \.isRefused) {
        "a payload without a violation of rule \(finding.rule) at \(finding.pointer)"
      } else {
        SenderDemand.correction(of: push.reason) ?? "a corrected request, not the same again"
      }
    }
  }

  static let oneProviderToken = "one provider token for all pushes, renewed after 20 to 60 minutes"

  /// Returns the correction of a request with a mistake; nil if the reason is sufficient.
  private static func correction(of reason: String?) -> String? {
    switch reason.flatMap({ Reason(rawValue: $0) }) {
    case .badCollapseId: "an apns-collapse-id of at most 64 bytes"
    case .badExpirationDate: "apns-expiration in seconds since 1970"
    case .badMessageId: "a UUID as apns-id, or no apns-id"
    case .badPriority: "apns-priority 10, 5 or 1; for a background push 5 or 1"
    case .badTopic, .missingTopic: "the bundle id of the app as apns-topic, with the suffix of the push type"
    case .deviceTokenNotForTopic: "the topic of the app whose token this is"
    case .topicDisallowed: "a topic that the key or certificate permits, with the suffix of the push type"
    case .duplicateHeaders: "each header once"
    case .invalidPushType: "a push type of Apple's list, as alert or background"
    case .missingDeviceToken: "the device token in the path"
    case .payloadEmpty: "a JSON object as the body"
    case .payloadTooLarge: "a payload of at most 4096 bytes, of a voip push at most 5120"
    case .invalidProviderToken: "a JWT with ES256, kid, iss and iat, signed with a key of the team"
    case .missingProviderToken: "a provider token or a client certificate"
    case .badPath: "the path /3/device/TOKEN"
    case .methodNotAllowed: "the method POST"
    default: nil
    }
  }
}
