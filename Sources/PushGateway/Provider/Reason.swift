/// The reasons of the provider API (reference §3.3); the raw value is what goes over the wire.
///
/// Client libraries know these and no others: none is ever invented.
enum Reason: String, Sendable, CaseIterable {
  case badCollapseId = "BadCollapseId"
  case badDeviceToken = "BadDeviceToken"
  case badExpirationDate = "BadExpirationDate"
  case badMessageId = "BadMessageId"
  case badPriority = "BadPriority"
  case badTopic = "BadTopic"
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case duplicateHeaders = "DuplicateHeaders"
  case invalidPushType = "InvalidPushType"
  case missingDeviceToken = "MissingDeviceToken"
  case missingTopic = "MissingTopic"
  case payloadEmpty = "PayloadEmpty"
  case topicDisallowed = "TopicDisallowed"
  case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
  case expiredProviderToken = "ExpiredProviderToken"
  case forbidden = "Forbidden"
  case invalidProviderToken = "InvalidProviderToken"
  case missingProviderToken = "MissingProviderToken"
  case badPath = "BadPath"
  case methodNotAllowed = "MethodNotAllowed"
  case unregistered = "Unregistered"
  case payloadTooLarge = "PayloadTooLarge"
  case tooManyRequests = "TooManyRequests"
  case serviceUnavailable = "ServiceUnavailable"

  /// The HTTP status that goes with it.
  var status: Int {
    switch self {
    case .badCollapseId, .badDeviceToken, .badExpirationDate, .badMessageId, .badPriority, .badTopic,
      .deviceTokenNotForTopic, .duplicateHeaders, .invalidPushType, .missingDeviceToken, .missingTopic,
      .payloadEmpty, .topicDisallowed:
      400
    case .badEnvironmentKeyInToken, .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken:
      403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .unregistered: 410
    case .payloadTooLarge: 413
    case .tooManyRequests: 429
    case .serviceUnavailable: 503
    }
  }
}
