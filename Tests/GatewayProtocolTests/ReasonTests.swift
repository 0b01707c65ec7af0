import Testing

@testable import GatewayProtocol

@Suite struct ReasonTests {
  /// The reasons and their statuses (reference §3.3 and §8.3).
  static let table: [String: Int] = [
    "BadCollapseId": 400, "BadDeviceToken": 400, "BadExpirationDate": 400, "BadMessageId": 400, "BadPriority": 400,
    "BadTopic": 400, "DeviceTokenNotForTopic": 400, "DuplicateHeaders": 400, "IdleTimeout": 400,
    "InvalidPushType": 400, "MissingDeviceToken": 400, "MissingTopic": 400, "PayloadEmpty": 400,
    "TopicDisallowed": 400, "BadCertificate": 403, "BadCertificateEnvironment": 403, "ExpiredProviderToken": 403,
    "Forbidden": 403, "InvalidProviderToken": 403, "MissingProviderToken": 403, "UnrelatedKeyIdInToken": 403,
    "BadEnvironmentKeyInToken": 403, "BadEnvironmentKeyIdInToken": 403, "BadPath": 404, "MethodNotAllowed": 405,
    "Unregistered": 410, "ExpiredToken": 410, "BadChannelId": 400, "BadRequestParams": 400, "BadRequestPayload": 400,
    "BroadcastFeatureNotEnabled": 400, "FeatureNotEnabled": 400, "CannotCreateChannelConfig": 400,
    "ChannelNotRegistered": 400, "MissingChannelId": 400, "MissingChannelQueueSize": 400, "MissingPushType": 400,
    "TopicMismatch": 403,
    "PayloadTooLarge": 413, "TooManyProviderTokenUpdates": 429, "TooManyRequests": 429, "InternalServerError": 500,
    "ServiceUnavailable": 503, "Shutdown": 503,
  ]

  @Test(arguments: Reason.allCases)
  func `a reason is one of the reference and has its status`(_ reason: Reason) {
    #expect(ReasonTests.table[reason.rawValue] == reason.status)
  }

  @Test func `every reason of the reference is there`() {
    #expect(Set(Reason.allCases.map(\.rawValue)) == Set(ReasonTests.table.keys))
  }
}
