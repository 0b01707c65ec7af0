import PushPolicy

/// What a person can do about a reason of the provider API.
enum RefusalAdvice {
  /// One clause, or nil where the reason says it all.
  static func text(for reason: String, payload: [UInt8]) -> String? {
    switch reason {
    case "BadDeviceToken": "no device here has this token: `pushcli devices register NAME TOPIC` prints one"
    case "DeviceTokenNotForTopic": "the token belongs to another app: check --topic"
    case "Unregistered": "the device has unregistered from the app: register it again for a new token"
    case "ExpiredToken": "the token's time is over: register the device again for a new one"
    case "TopicDisallowed": "the key or certificate is made for other topics: `pushcli keys list` and `certs list`"
    case "BadTopic", "MissingTopic": "a topic is an app's bundle id, as com.example.news"
    case "PayloadTooLarge": "the payload has \(payload.count) bytes; 4096 are allowed, 5120 for voip"
    case "PayloadEmpty": payloadFault(payload)
    case "InvalidProviderToken": "this key is not known here, or not for this team: check --key, --key-id, --team"
    case "ExpiredProviderToken": "the token's time is over: check this machine's clock"
    case "BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken":
      "the key is made for the other environment: `pushcli keys list` shows it"
    case "BadChannelId", "ChannelNotRegistered": "there is no such channel: `pushcli channels list` shows them"
    case "BroadcastFeatureNotEnabled", "FeatureNotEnabled": "this app may not broadcast: `pushcli channels enable APP`"
    case "BadRequestPayload": "a broadcast is a JSON object that updates or ends an activity"
    case "BadMessageId": "an id is a UUID"
    case "BadPriority": "a priority is 10, 5 or 1"
    case "InvalidPushType": "a push type is alert, background, voip, …"
    case "BadCollapseId": "a collapse id has at most 64 bytes"
    case "TooManyRequests": "too many pushes for one device: try again later"
    case "ServiceUnavailable": "the gateway can't store it now, and its log says why: try again later"
    default: nil
    }
  }

  /// The provider API has one reason for all that is no payload; here is which.
  private static func payloadFault(_ payload: [UInt8]) -> String? {
    do {
      _ = try JSONParser().payload(payload.span)
      return nil
    } catch {
      switch error {
      case .empty: return "the payload is empty"
      case .notJSON(let words): return "the payload is not JSON (\(words))"
      case .notAnObject: return "the payload is JSON, but no object: expected {\"aps\":{…}}"
      }
    }
  }
}
