/// One request of a sender, with its answer and the events of the push.
public struct RecordedPush: Sendable, Equatable, Decodable {
  /// A part of the presentation that the preferences of the user removed.
  public struct Removal: Sendable, Equatable, Decodable {
    public let part: String
    /// The code of the rule, such as `N5`.
    public let rule: String
    public let setting: String
  }

  /// A violation of a rule for payloads, or a finding of `pushcli lint`.
  public struct Finding: Sendable, Equatable, Decodable {
    public let rule: String
    /// The JSON pointer into the payload.
    public let at: String
    public let message: String
    /// The weight of a finding of `pushcli lint`; nil for a violation.
    public let severity: String?
    /// True for a violation that caused the refusal; nil for a finding of `pushcli lint`.
    public let refused: Bool?
  }

  /// A row of the delivery log.
  public struct Event: Sendable, Equatable, Decodable {
    /// The time in RFC 3339.
    public let at: String
    public let event: String
    public let detail: String?
  }

  /// The sender of a request, as far as the request names it.
  public struct Sender: Sendable, Equatable, Decodable {
    /// The number of the connection.
    public let connection: Int
    public let address: String?
    public let keyID: String?
    public let teamID: String?
    /// The age of the provider token in seconds.
    public let tokenAge: Int?
    /// The topic of the client certificate.
    public let certificate: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
      case connection, address, certificate
      case keyID = "key_id"
      case teamID = "team_id"
      case tokenAge = "token_age"
    }
  }

  /// The number in the order of arrival.
  public let number: Int
  /// The time of arrival in RFC 3339, by the clock of the gateway.
  public let received: String
  /// The time of the answer; nil without an answer.
  public let answered: String?
  /// The `apns-id`.
  public let id: String
  public let method: String
  public let path: String
  public let token: String?
  public let topic: String?
  /// The suffix of the topic, such as `.voip`; nil if it has none.
  public let suffix: String?
  public let pushType: String?
  public let priority: Int?
  public let expiration: Int?
  public let collapseID: String?
  /// The `apns-…` fields of the request.
  public let headers: [String: String]
  /// The body; nil if it is not JSON.
  public let payload: JSONValue?
  /// The body if it is not JSON.
  public let payloadText: String?
  /// The size of the body in bytes.
  public let size: Int
  public let sender: Sender
  /// `accepted`, `duplicate`, `refused`, `dropped`, `reset` or `open`.
  public let outcome: String
  /// The status of the answer; nil without an answer.
  public let status: Int?
  /// The reason of a refusal, such as `BadDeviceToken`.
  public let reason: String?
  /// The seconds in the field `retry-after` of the answer; nil without the field.
  public let retryAfter: Int?
  public let states: [String]
  /// The parts that the device presented: `alert`, `badge`, `sound`.
  public let presented: [String]
  public let suppressed: [Removal]
  public let findings: [Finding]
  public let lint: [Finding]
  public let events: [Event]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case number, received, answered, id, method, path, token, topic, suffix, priority, expiration, headers, payload
    case size, sender, outcome, status, reason, states, presented, suppressed, findings, lint, events
    case pushType = "push_type"
    case collapseID = "collapse_id"
    case payloadText = "payload_text"
    case retryAfter = "retry_after"
  }

  /// The title of the alert.
  public var title: String? { payload?["aps"]?["alert"]?["title"]?.text }

  /// The body of the alert, also of an alert that is only a text.
  public var body: String? {
    let alert = payload?["aps"]?["alert"]
    return alert?.text ?? alert?["body"]?.text
  }

  /// The push in a few words: its number, its text and its answer.
  var summary: String {
    let text = (title ?? body).map { " \(JSONValue.string($0))" } ?? ""
    let answer = status.map { "\($0)" + (reason.map { " \($0)" } ?? "") } ?? "no answer"
    return "push \(number)\(text), \(answer)"
  }
}

/// A state of a push that an expectation names. A push can have several.
public enum PushState: String, Sendable, CaseIterable {
  /// The sender got 200.
  case accepted
  /// The device showed or played a part of it.
  case presented
  /// The preferences of the user removed a part of it.
  case suppressed
  /// The sender got another status than 200.
  case refused
  /// Any of these, and pushes without an answer.
  case any
}

/// The state of a token, which determines the answers to its pushes.
public enum TokenState: String, Sendable, CaseIterable {
  /// Pushes are answered as usual.
  case registered
  case unregistered
  case otherEnvironment = "other-environment"
  case throttled
  case unavailable
  case acceptedAndDropped = "accepted-and-dropped"
}

/// The reactions of the sender to refusals and to requests without an answer, and its mistakes in accepted pushes.
public struct PushReport: Sendable, Equatable, Decodable {
  /// One refusal with the reaction of the sender, or a mistake in an accepted push.
  public struct Line: Sendable, Equatable, Decodable {
    /// The number of the push.
    public let number: Int
    public let id: String
    public let token: String?
    public let status: Int?
    public let reason: String?
    /// `handled`, `retried-too-early`, `retried`, `never-retried`, or `mistake` for a request that is wrong itself.
    public let verdict: String
    /// The correct behavior in words.
    public let expected: String
    /// The line in words.
    public let text: String
  }

  public let lines: [Line]
  /// The number of lines with each verdict.
  public let summary: [String: Int]
  /// The number of pushes that left the record before the report.
  public let dropped: Int

  /// The mistakes: all lines but those about refusals that the sender handled.
  public var unhandled: [Line] { lines.filter { $0.verdict != "handled" } }
}
