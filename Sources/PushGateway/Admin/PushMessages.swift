/// A push that an administrator sends. The gateway signs it with a key of the app's team in the state folder.
struct PushSendRequest: Codable, Sendable {
  /// The device token, in hex.
  var token: String
  var topic: String
  /// The payload, as a text.
  var payload: String
  /// The `apns-push-type`; nil: that of the topic's suffix, else `alert`.
  var pushType: String?
  var priority: Int?
  var collapseID: String?
  /// The `apns-expiration`, in seconds since 1970; nil: without one.
  var expiration: Int64?
  /// The `apns-deliver-at`, in seconds since 1970; nil: now.
  var deliverAt: Int64?
  /// The `apns-id`; nil: a new one.
  var id: String?

  enum CodingKeys: String, CodingKey {
    case token, topic, payload, priority, expiration, id
    case pushType = "push_type"
    case collapseID = "collapse_id"
    case deliverAt = "deliver_at"
  }
}

/// The answer of the provider API to a push that an administrator sent.
struct PushSendRecord: Codable, Sendable {
  /// The status of the provider API: 200 for an accepted push.
  var status: Int
  /// The `apns-id`.
  var id: String?
  /// The `apns-unique-id`, in development.
  var uniqueID: String?
  /// The reason of a refusal.
  var reason: String?
  /// The description of the violated rule, or the advice for the reason.
  var message: String?
  /// The violated rule.
  var rule: String?
  /// The position of the violation in the payload, as a JSON pointer.
  var at: String?

  enum CodingKeys: String, CodingKey {
    case status, id, reason, message, rule, at
    case uniqueID = "unique_id"
  }
}

/// A payload to be checked without sending.
struct PushCheckRequest: Codable, Sendable {
  /// The payload, as a text.
  var payload: String
  /// The `apns-push-type`, which determines the maximum size; nil: `alert`.
  var pushType: String?
  /// The device that decides, and the app; nil: the payload alone is checked.
  var device: String?
  var topic: String?

  enum CodingKeys: String, CodingKey {
    case payload, device, topic
    case pushType = "push_type"
  }
}

/// The findings about a payload, and the decision of a device.
struct PushCheckRecord: Codable, Sendable {
  /// A finding of `lint`.
  struct Finding: Codable, Sendable {
    /// The position in the payload, as a JSON pointer.
    var at: String
    var rule: String
    /// `error` or `warning`.
    var severity: String
    var message: String
    /// The recommended change.
    var advice: String?
    /// The whole corrected text.
    var fix: String?
  }

  /// A part that the device would not present.
  struct Removed: Codable, Sendable {
    var part: String
    var rule: String
    /// The setting in the preferences of the recipient.
    var setting: String
    var reason: String
  }

  /// A violation for which the gateway would refuse the push.
  struct Violation: Codable, Sendable {
    var rule: String
    /// The position in the payload, as a JSON pointer.
    var at: String
    var message: String
  }

  var findings: [Finding]
  /// The parts that the device would present; nil without a device, or for an invalid payload.
  var presented: [String]?
  /// True if the alert would go to the notification center instead.
  var center: Bool?
  var removed: [Removed]?
  var refused: [Violation]?
}
