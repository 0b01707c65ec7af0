extension DeliveryDetail {
  /// A violation of a rule by the sender.
  package struct Finding: Sendable, Equatable {
    /// A numbered rule, or `aps` for the types of its members.
    package var rule: String
    /// The JSON pointer of the value in the payload.
    package var pointer: String
    package var message: String
    /// The offending texts; nil if the rule is not about texts.
    package var evidence: [String]?
    /// True if the push was accepted nevertheless.
    package var isReportOnly: Bool

    package init(
      rule: String, pointer: String, message: String, evidence: [String]? = nil, isReportOnly: Bool = false
    ) {
      (self.rule, self.pointer, self.message) = (rule, pointer, message)
      (self.evidence, self.isReportOnly) = (evidence, isReportOnly)
    }

    package init(_ violation: Violation, isReportOnly: Bool) {
      self.init(
        rule: violation.rule.rawValue, pointer: violation.pointer, message: violation.message,
        evidence: violation.evidence, isReportOnly: isReportOnly)
    }
  }

  /// The error response to a push, and the push's sender.
  package struct Refusal: Sendable, Equatable {
    package var status: Int
    /// The reason in the response, as the provider API spells it.
    package var reason: String
    /// The topic of the request; nil if it has none.
    package var topic: String?
    /// The key id of the provider token; nil for a sender without one. A refused token may name any key.
    package var keyID: String?
    /// The team of the provider token.
    package var team: String?
    /// The violated rule, if it is the reason.
    package var finding: Finding?

    package init(
      status: Int, reason: String, topic: String? = nil, keyID: String? = nil, team: String? = nil,
      finding: Finding? = nil
    ) {
      (self.status, self.reason, self.topic) = (status, reason, topic)
      (self.keyID, self.team, self.finding) = (keyID, team, finding)
    }
  }

  /// The answer to a push that was forwarded to the upstream, and the push's sender.
  package struct Forwarding: Sendable, Equatable {
    /// The host of the upstream.
    package var upstream: String
    /// The status of the answer to the sender.
    package var status: Int
    /// The reason in the answer; nil if it has none.
    package var reason: String?
    package var topic: String?
    /// The key id and the team of the provider token; the upstream verifies them.
    package var keyID: String?
    package var team: String?
    /// True if the upstream gave no answer, so that this gateway answered.
    package var isUnanswered = false

    package init(
      upstream: String, status: Int, reason: String? = nil, topic: String? = nil, keyID: String? = nil,
      team: String? = nil, isUnanswered: Bool = false
    ) {
      (self.upstream, self.status, self.reason, self.topic) = (upstream, status, reason, topic)
      (self.keyID, self.team, self.isUnanswered) = (keyID, team, isUnanswered)
    }
  }
}
