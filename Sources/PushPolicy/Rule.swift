/// A numbered rule of the interface guidelines that this product enforces.
///
/// The numbers never change: decisions, refusals, the delivery log and tests contain them.
package enum Rule: String, Sendable, Codable, CaseIterable {
  /// A badge is a whole number of at least 0; no other value is a badge.
  case b1 = "B1"
  /// A sound is named by a bare file name.
  case s1 = "S1"
  /// A sender cannot make the device vibrate.
  case s3 = "S3"
  /// The ring/silent switch silences all sounds that the user did not request.
  case s4 = "S4"
  /// Alerts are for brief, important messages: passive pushes show none, and each app has a budget.
  case a8 = "A8"
  /// An alert does not advertise, unless the user has allowed it for that app.
  case a9 = "A9"
  /// One switch refuses all notifications on the whole device.
  case n4 = "N4"
  /// A user sets badge, sound and alert separately for each app.
  case n5 = "N5"
  /// A user sets the three parts separately for each category of an app.
  case n6 = "N6"
  /// A sender never overrides a preference: quiet hours, Focus, summary, an app on probation.
  case n7 = "N7"
  /// Marketing is shown only to users who have turned it on, for everything or for the app.
  case n9 = "N9"
  /// A new category of an app starts quiet until the user has chosen; a category that the user keeps quiet stays so.
  case n10 = "N10"
  /// Alerts of an app that recipients reported as advertising go to the summary for a time.
  case n11 = "N11"
}

/// A sender's violation of a rule that the gateway enforces: the push is refused, and the sender gets the reason.
package struct Violation: Error, Sendable, Equatable {
  package var rule: Rule
  /// The JSON pointer (RFC 6901) of the value in the payload, such as `/aps/badge`.
  package var pointer: String
  /// The error and the correct value, in one sentence.
  package var message: String
  /// The offending texts of the payload, shortened for display.
  package var evidence: [String]

  package init(rule: Rule, pointer: String, message: String, evidence: [String] = []) {
    (self.rule, self.pointer, self.message, self.evidence) = (rule, pointer, message, evidence)
  }
}
