/// The reasons of the provider API (reference §3.3, §8.3). The raw value is the text on the wire.
///
/// Client libraries support only these, so the project adds none. No other part of the project contains their texts.
package enum Reason: String, Sendable, CaseIterable {
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
  /// The spelling that was observed on the wire.
  case broadcastFeatureNotEnabled = "BroadcastFeatureNotEnabled"
  case cannotCreateChannelConfig = "CannotCreateChannelConfig"
  case channelNotRegistered = "ChannelNotRegistered"
  /// The spelling of ``broadcastFeatureNotEnabled`` in Apple's documentation; only sent when a setting selects it.
  case featureNotEnabled = "FeatureNotEnabled"
  case missingChannelId = "MissingChannelId"
  case missingChannelQueueSize = "MissingChannelQueueSize"
  case missingPushType = "MissingPushType"
  case badCertificate = "BadCertificate"
  case badCertificateEnvironment = "BadCertificateEnvironment"
  /// The spelling of ``badEnvironmentKeyInToken`` in Apple's documentation; only sent when a setting selects it.
  case badEnvironmentKeyIdInToken = "BadEnvironmentKeyIdInToken"
  /// The spelling that was observed on the wire.
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

  /// The HTTP status of a response with this reason.
  package var status: Int { row.status }

  /// A remedy for the sender, in one clause; nil if the reason is sufficient.
  package var advice: String? { row.advice }

  /// True if the request lacks a valid provider token or certificate.
  package var isAboutCredential: Bool {
    switch self {
    case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIdInToken, .badEnvironmentKeyInToken,
      .expiredProviderToken, .invalidProviderToken, .missingProviderToken, .tooManyProviderTokenUpdates,
      .unrelatedKeyIdInToken:
      true
    default: false
    }
  }

  /// The status and the advice of each reason.
  private var row: (status: Int, advice: String?) {
    switch self {
    case .badCollapseId: (400, "expected at most 64 bytes")
    case .badDeviceToken:
      (
        400,
        "no device has this token in this environment: "
          + "`pushcli devices register NAME TOPIC --environment ENVIRONMENT` prints one"
      )
    case .badExpirationDate: (400, nil)
    case .badMessageId: (400, "expected a UUID")
    case .badPriority: (400, "expected 10, 5 or 1")
    case .badTopic: (400, "expected an app's bundle id, as com.example.news")
    case .deviceTokenNotForTopic: (400, "the token belongs to another app: check --topic")
    case .duplicateHeaders: (400, nil)
    case .idleTimeout: (400, nil)
    case .invalidPushType: (400, "expected alert, background, voip, …")
    case .missingDeviceToken: (400, nil)
    case .missingTopic: (400, "expected an app's bundle id, as com.example.news")
    case .payloadEmpty: (400, #"expected a JSON object, as {"aps":{"alert":"Hello"}}"#)
    case .topicDisallowed:
      (400, "the key or certificate is valid for other topics: `pushcli keys list` and `certs list`")
    case .badChannelId: (400, "there is no such channel: `pushcli channels list` shows them")
    case .badRequestParams: (400, nil)
    case .badRequestPayload: (400, "expected a JSON object that updates or ends an activity")
    case .broadcastFeatureNotEnabled: (400, "this app may not broadcast: `pushcli channels enable APP`")
    case .cannotCreateChannelConfig: (400, nil)
    case .channelNotRegistered: (400, "there is no such channel: `pushcli channels list` shows them")
    case .featureNotEnabled: (400, "this app may not broadcast: `pushcli channels enable APP`")
    case .missingChannelId: (400, nil)
    case .missingChannelQueueSize: (400, nil)
    case .missingPushType: (400, nil)
    case .badCertificate:
      (403, "the client certificate is not trusted, has expired or was revoked: `pushcli certs list` shows them")
    case .badCertificateEnvironment:
      (403, "the client certificate is valid for the other environment only: `pushcli certs list` shows it")
    case .badEnvironmentKeyIdInToken:
      (403, "the key is valid for the other environment only: `pushcli keys list` shows it")
    case .badEnvironmentKeyInToken:
      (403, "the key is valid for the other environment only: `pushcli keys list` shows it")
    case .expiredProviderToken: (403, "the token has expired: check this machine's clock")
    case .forbidden: (403, nil)
    case .invalidProviderToken:
      (403, "the gateway does not have this key, or has it for another team: check --key, --key-id, --team")
    case .missingProviderToken: (403, nil)
    case .topicMismatch: (403, nil)
    case .unrelatedKeyIdInToken: (403, nil)
    case .badPath: (404, nil)
    case .methodNotAllowed: (405, nil)
    case .expiredToken: (410, "the token has expired: register the device again for a new one")
    case .unregistered: (410, "the device has unregistered from the app: register it again for a new token")
    case .payloadTooLarge: (413, "expected at most 4096 bytes, 5120 for voip")
    case .tooManyProviderTokenUpdates: (429, nil)
    case .tooManyRequests: (429, "too many pushes for one device: try again later")
    case .internalServerError: (500, nil)
    case .serviceUnavailable: (503, "the gateway can't store the push now (its log has the cause): try again later")
    case .shutdown: (503, nil)
    }
  }
}
