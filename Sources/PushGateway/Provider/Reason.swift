import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The reasons of the provider API (reference §3.3, §8.3); the raw value is what goes over the wire.
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
  case idleTimeout = "IdleTimeout"
  case invalidPushType = "InvalidPushType"
  case missingDeviceToken = "MissingDeviceToken"
  case missingTopic = "MissingTopic"
  case payloadEmpty = "PayloadEmpty"
  case topicDisallowed = "TopicDisallowed"
  case badChannelId = "BadChannelId"
  case badRequestParams = "BadRequestParams"
  case badRequestPayload = "BadRequestPayload"
  /// As it was seen on the wire.
  case broadcastFeatureNotEnabled = "BroadcastFeatureNotEnabled"
  case cannotCreateChannelConfig = "CannotCreateChannelConfig"
  case channelNotRegistered = "ChannelNotRegistered"
  /// As Apple's documentation spells ``broadcastFeatureNotEnabled``; only sent when a setting asks for it.
  case featureNotEnabled = "FeatureNotEnabled"
  case missingChannelId = "MissingChannelId"
  case missingChannelQueueSize = "MissingChannelQueueSize"
  case missingPushType = "MissingPushType"
  case badCertificate = "BadCertificate"
  case badCertificateEnvironment = "BadCertificateEnvironment"
  /// As Apple's documentation spells ``badEnvironmentKeyInToken``; only sent when a setting asks for it.
  case badEnvironmentKeyIdInToken = "BadEnvironmentKeyIdInToken"
  /// As it was seen on the wire.
  case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
  case expiredProviderToken = "ExpiredProviderToken"
  case forbidden = "Forbidden"
  case invalidProviderToken = "InvalidProviderToken"
  case missingProviderToken = "MissingProviderToken"
  case topicMismatch = "TopicMismatch"
  case unrelatedKeyIdInToken = "UnrelatedKeyIdInToken"
  case badPath = "BadPath"
  case methodNotAllowed = "MethodNotAllowed"
  case expiredToken = "ExpiredToken"
  case unregistered = "Unregistered"
  case payloadTooLarge = "PayloadTooLarge"
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  case tooManyRequests = "TooManyRequests"
  case internalServerError = "InternalServerError"
  case serviceUnavailable = "ServiceUnavailable"
  case shutdown = "Shutdown"

  /// The HTTP status that goes with it.
  var status: Int {
    switch self {
    case .badCollapseId, .badDeviceToken, .badExpirationDate, .badMessageId, .badPriority, .badTopic,
      .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
      .missingTopic, .payloadEmpty, .topicDisallowed, .badChannelId, .badRequestParams, .badRequestPayload,
      .broadcastFeatureNotEnabled, .cannotCreateChannelConfig, .channelNotRegistered, .featureNotEnabled,
      .missingChannelId, .missingChannelQueueSize, .missingPushType:
      400
    case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIdInToken, .badEnvironmentKeyInToken,
      .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken, .topicMismatch,
      .unrelatedKeyIdInToken:
      403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .expiredToken, .unregistered: 410
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates, .tooManyRequests: 429
    case .internalServerError: 500
    case .serviceUnavailable, .shutdown: 503
    }
  }
}
