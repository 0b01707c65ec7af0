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
  /// The service of a webhook (`HookKind`); nil for a sender of messages.
  package var kind: String?
  /// The JSON pointers to the fields of a message, by their names; only for the kind `json`.
  package var fields: [String: String]?

  package init(
    name: String, app: String, recipients: [String], rate: Int?, combine: Int? = nil, kind: String? = nil,
    fields: [String: String]? = nil
  ) {
    (self.name, self.app, self.recipients, self.rate) = (name, app, recipients, rate)
    (self.combine, self.kind, self.fields) = (combine, kind, fields)
  }
}

/// The token of a sender of messages. It is sent only in this answer. The gateway stores its hash, and for a
/// service that signs with it, the token itself.
package struct CreatedSender: Codable, Sendable {
  package var name: String
  package var token: String
  /// The service of a webhook; nil for a sender of messages.
  package var kind: String?

  package init(name: String, token: String, kind: String? = nil) {
    (self.name, self.token, self.kind) = (name, token, kind)
  }
}

/// A body of a webhook that is read, but not sent.
package struct HookTestRequest: Codable, Sendable {
  package var body: String

  package init(body: String) { self.body = body }
}

/// The message of a body of a webhook, and the decisions of the devices.
package struct HookTestRecord: Codable, Sendable {
  package struct Device: Codable, Sendable {
    package var device: String
    /// The parts that it would present now: `badge`, `sound`, `alert`.
    package var presented: [String]
    /// Each other part with the reason.
    package var removed: [String]

    package init(device: String, presented: [String], removed: [String]) {
      (self.device, self.presented, self.removed) = (device, presented, removed)
    }
  }

  package struct Recipient: Codable, Sendable {
    package var recipient: String
    package var devices: [Device]
    /// The reason for which it would get no message; nil otherwise.
    package var refused: String?

    package init(recipient: String, devices: [Device] = [], refused: String? = nil) {
      (self.recipient, self.devices, self.refused) = (recipient, devices, refused)
    }
  }

  /// `message`, `resolved` for a body that retracts the last message about its subject, or `ignored`.
  package var result: String
  /// The event that makes no message; nil otherwise.
  package var event: String?
  /// The payload of the push, as JSON; nil without a message.
  package var payload: String?
  /// The `apns-collapse-id`, which stands for the subject; nil without a subject.
  package var collapseID: String?
  package var recipients: [Recipient]?

  package init(result: String, event: String? = nil, collapseID: String? = nil) {
    (self.result, self.event, self.collapseID) = (result, event, collapseID)
  }

  package enum CodingKeys: String, CodingKey {
    case result, event, payload, recipients
    case collapseID = "collapse_id"
  }
}
