/// A push that an administrator sends. The gateway signs it with a key of the app's team in the state folder.
package struct PushSendRequest: Codable, Sendable {
  /// The device token, in hex.
  package var token: String
  package var topic: String
  /// The payload, as a text.
  package var payload: String
  /// The `apns-push-type`; nil: that of the topic's suffix, else `alert`.
  package var pushType: String?
  package var priority: Int?
  package var collapseID: String?
  /// The `apns-expiration`, in seconds since 1970; nil: without one.
  package var expiration: Int64?
  /// The `apns-deliver-at`, in seconds since 1970; nil: now.
  package var deliverAt: Int64?
  /// The `apns-id`; nil: a new one.
  package var id: String?

  package init(token: String, topic: String, payload: String) {
    (self.token, self.topic, self.payload) = (token, topic, payload)
  }

  package enum CodingKeys: String, CodingKey {
    case token, topic, payload, priority, expiration, id
    case pushType = "push_type"
    case collapseID = "collapse_id"
    case deliverAt = "deliver_at"
  }
}

/// The answer of the provider API to a push that an administrator sent.
package struct PushSendRecord: Codable, Sendable {
  /// The status of the provider API: 200 for an accepted push.
  package var status: Int
  /// The `apns-id`.
  package var id: String?
  /// The `apns-unique-id`, in development.
  package var uniqueID: String?
  /// The reason of a refusal.
  package var reason: String?
  /// The description of the violated rule, or the advice for the reason.
  package var message: String?
  /// The violated rule.
  package var rule: String?
  /// The position of the violation in the payload, as a JSON pointer.
  package var at: String?

  package init(status: Int, id: String?, uniqueID: String?) {
    (self.status, self.id, self.uniqueID) = (status, id, uniqueID)
  }

  package enum CodingKeys: String, CodingKey {
    case status, id, reason, message, rule, at
    case uniqueID = "unique_id"
  }
}

/// A payload to be checked without sending.
package struct PushCheckRequest: Codable, Sendable {
  /// The payload, as a text.
  package var payload: String
  /// The `apns-push-type`, which determines the maximum size; nil: `alert`.
  package var pushType: String?
  /// The device that decides, and the app; nil: the payload alone is checked.
  package var device: String?
  package var topic: String?

  package init(payload: String, pushType: String? = nil, device: String? = nil, topic: String? = nil) {
    (self.payload, self.pushType, self.device, self.topic) = (payload, pushType, device, topic)
  }

  package enum CodingKeys: String, CodingKey {
    case payload, device, topic
    case pushType = "push_type"
  }
}

/// The findings about a payload, and the decision of a device.
package struct PushCheckRecord: Codable, Sendable {
  /// A finding of `lint`.
  package struct Finding: Codable, Sendable {
    /// The position in the payload, as a JSON pointer.
    package var at: String
    package var rule: String
    /// `error` or `warning`.
    package var severity: String
    package var message: String
    /// The recommended change.
    package var advice: String?
    /// The whole corrected text.
    package var fix: String?

    package init(at: String, rule: String, severity: String, message: String, advice: String?, fix: String?) {
      (self.at, self.rule, self.severity) = (at, rule, severity)
      (self.message, self.advice, self.fix) = (message, advice, fix)
    }
  }

  /// A part that the device would not present.
  package struct Removed: Codable, Sendable {
    package var part: String
    package var rule: String
    /// The setting in the preferences of the recipient.
    package var setting: String
    package var reason: String

    package init(part: String, rule: String, setting: String, reason: String) {
      (self.part, self.rule, self.setting, self.reason) = (part, rule, setting, reason)
    }
  }

  /// A violation for which the gateway would refuse the push.
  package struct Violation: Codable, Sendable {
    package var rule: String
    /// The position in the payload, as a JSON pointer.
    package var at: String
    package var message: String

    package init(rule: String, at: String, message: String) { (self.rule, self.at, self.message) = (rule, at, message) }
  }

  package var findings: [Finding]
  /// The parts that the device would present; nil without a device, or for an invalid payload.
  package var presented: [String]?
  /// True if the alert would go to the notification center instead.
  package var center: Bool?
  package var removed: [Removed]?
  package var refused: [Violation]?

  package init(findings: [Finding]) { self.findings = findings }
}
