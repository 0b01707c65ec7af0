/// A numbered rule of the interface guidelines that this product enforces.
///
/// The numbers are stable: decisions, refusals, the delivery log and tests quote them.
package enum Rule: String, Sendable, Codable, CaseIterable {
  /// A badge is a whole number of at least 0; nothing else is a badge.
  case b1 = "B1"
  /// A sound is named by a bare file name.
  case s1 = "S1"
  /// A sender cannot make the device vibrate.
  case s3 = "S3"
  /// The ring/silent switch silences what the person did not ask for.
  case s4 = "S4"
  /// Alerts are for brief, important messages: passive pushes have none, and an app has no more than its budget.
  case a8 = "A8"
  /// No advertising in an alert, unless the person allowed it to that app.
  case a9 = "A9"
  /// One switch refuses notifications for the whole device.
  case n4 = "N4"
  /// For every app a person decides badge, sound and alert separately.
  case n5 = "N5"
  /// For every category of an app a person decides which of the three it may use.
  case n6 = "N6"
  /// A sender never overrides a preference: quiet hours, Focus, summary, an app on probation.
  case n7 = "N7"
}

/// A sender's breach of a rule that holds at the door: the push is refused and the sender is told.
package struct Violation: Error, Sendable, Equatable {
  /// The rule that was broken.
  package var rule: Rule
  /// Where in the payload, as a JSON pointer (RFC 6901), such as `/aps/badge`.
  package var pointer: String
  /// One sentence: what is wrong and what to write instead.
  package var message: String
  /// The offending texts of the payload, as short as they can be shown.
  package var evidence: [String]

  package init(rule: Rule, pointer: String, message: String, evidence: [String] = []) {
    self.rule = rule
    self.pointer = pointer
    self.message = message
    self.evidence = evidence
  }
}
