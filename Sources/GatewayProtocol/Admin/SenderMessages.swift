/// A request for a sender of messages.
package struct SenderRequest: Codable, Sendable {
  package var name: String
  /// The topic of its app.
  package var app: String
  /// The names of devices and groups.
  package var recipients: [String]
  /// The maximum number of messages in a minute; nil: the usual one.
  package var rate: Int?
  /// The time in seconds in which equal messages become one; nil: each is a push of its own.
  package var combine: Int?

  package init(name: String, app: String, recipients: [String], rate: Int?, combine: Int? = nil) {
    (self.name, self.app, self.recipients, self.rate, self.combine) = (name, app, recipients, rate, combine)
  }
}

/// A sender of messages as lists show it.
package struct SenderRecord: Codable, Sendable {
  package var name: String
  /// The topic of its app.
  package var app: String
  /// The names of devices and groups, without removed ones.
  package var recipients: [String]
  /// The maximum number of messages in a minute.
  package var rate: Int
  /// The time at which it was created, RFC 3339, UTC.
  package var created: String
  /// The hour of its last message, RFC 3339, UTC; nil: never.
  package var lastUsed: String?
  /// The time in seconds in which equal messages become one; nil: each is a push of its own.
  package var combine: Int?

  package init(
    name: String, app: String, recipients: [String], rate: Int, created: String, lastUsed: String?, combine: Int?
  ) {
    (self.name, self.app, self.recipients, self.rate) = (name, app, recipients, rate)
    (self.created, self.lastUsed, self.combine) = (created, lastUsed, combine)
  }

  package enum CodingKeys: String, CodingKey {
    case name, app, recipients, rate, created, combine
    case lastUsed = "last_used"
  }
}

/// The token of a sender of messages. It is sent only here; the gateway stores its hash.
package struct CreatedSender: Codable, Sendable {
  package var name: String
  package var token: String

  package init(name: String, token: String) { (self.name, self.token) = (name, token) }
}
