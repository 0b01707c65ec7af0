/// The subscription of a browser at its push service, as its page sends it (the Push API's `PushSubscription`).
struct SubscriptionRequest: Codable, Sendable {
  /// The keys of the browser, in base64url.
  struct Keys: Codable, Sendable {
    var p256dh: String
    var auth: String
  }

  /// The address to which messages are posted.
  var endpoint: String
  var keys: Keys
  /// True if the browser permits messages that show nothing.
  var quiet: Bool?
  /// The state of the device for the time in which the page is closed.
  var silent: Bool?
  var focus: String?
}

/// The key with which a page subscribes, and the state of its subscription.
struct SubscriptionRecord: Codable, Sendable {
  /// The public key of the gateway for push services, in base64url: `applicationServerKey`.
  var key: String
  /// The endpoint of the device's subscription; nil: it has none.
  var endpoint: String?
  /// The status with which the push service refused a message; nil while the subscription is in use.
  var refused: Int?
}
