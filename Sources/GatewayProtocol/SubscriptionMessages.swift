/// The subscription of a browser at its push service, as its page sends it (the Push API's `PushSubscription`).
package struct SubscriptionRequest: Codable, Sendable {
  /// The keys of the browser, in base64url.
  package struct Keys: Codable, Sendable {
    package var p256dh: String
    package var auth: String

    package init(p256dh: String, auth: String) { (self.p256dh, self.auth) = (p256dh, auth) }
  }

  /// The address to which messages are posted.
  package var endpoint: String
  package var keys: Keys
  /// True if the browser permits messages that show nothing.
  package var quiet: Bool?
  /// The state of the device for the time in which the page is closed.
  package var silent: Bool?
  package var focus: String?

  package init(endpoint: String, keys: Keys, quiet: Bool? = nil, silent: Bool? = nil, focus: String? = nil) {
    (self.endpoint, self.keys, self.quiet) = (endpoint, keys, quiet)
    (self.silent, self.focus) = (silent, focus)
  }
}

/// The key with which a page subscribes, and the state of its subscription.
package struct SubscriptionRecord: Codable, Sendable {
  /// The public key of the gateway for push services, in base64url: `applicationServerKey`.
  package var key: String
  /// The endpoint of the device's subscription; nil: it has none.
  package var endpoint: String?
  /// The status with which the push service refused a message; nil while the subscription is in use.
  package var refused: Int?

  package init(key: String, endpoint: String? = nil, refused: Int? = nil) {
    (self.key, self.endpoint, self.refused) = (key, endpoint, refused)
  }
}
