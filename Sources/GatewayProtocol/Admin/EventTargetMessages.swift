package struct EventTargetRequest: Codable, Sendable {
  package var name: String
  /// The address of the server.
  package var url: String
  /// The topics of the apps whose events are sent; nil: all apps.
  package var apps: [String]?
  /// The events to send; nil: all events.
  package var events: [String]?
  /// The certificates to trust in addition to the system, as PEM; nil: none.
  package var ca: String?

  package init(name: String, url: String, apps: [String]? = nil, events: [String]? = nil, ca: String? = nil) {
    (self.name, self.url, self.apps, self.events, self.ca) = (name, url, apps, events, ca)
  }
}

/// The secret of an event target. It is sent only here.
package struct CreatedEventTarget: Codable, Sendable {
  package var name: String
  package var secret: String

  package init(name: String, secret: String) { (self.name, self.secret) = (name, secret) }
}

/// The result of a test of an event target.
package struct EventTargetTestRecord: Codable, Sendable {
  /// The status of the answer; nil without an answer.
  package var status: Int?
  /// The beginning of the answer's body; nil without an answer.
  package var answer: String?
  /// The reason for which there is no answer; nil with one.
  package var error: String?
  /// The time until the answer or the error.
  package var milliseconds: Int

  package init(status: Int? = nil, answer: String? = nil, error: String? = nil, milliseconds: Int) {
    (self.status, self.answer, self.error, self.milliseconds) = (status, answer, error, milliseconds)
  }
}
