/// The rule of a finding: a rule of the interface guidelines, or a requirement of the format.
package enum LintRule: String, Sendable, Codable, CaseIterable {
  /// The file is not JSON, or not a payload.
  case json = "JSON"
  /// The types and keys of `aps`.
  case aps
  case b1 = "B1"
  case s1 = "S1"
  case s3 = "S3"
  case a9 = "A9"
  case a10 = "A10"
  case t1 = "T1"
  case t2 = "T2"
  case t3 = "T3"
  case t4 = "T4"
  case t5 = "T5"
  case t6 = "T6"
  case t7 = "T7"
  case t8 = "T8"
  case t9 = "T9"
  case t10 = "T10"
  case x3 = "X3"
  case x4 = "X4"
}

/// A problem of a payload, reported to its sender.
package struct LintFinding: Sendable, Equatable {
  package enum Severity: String, Sendable, Codable {
    /// The gateway or the device would refuse or ignore the value.
    case error
    /// The text would be shown, but could be better.
    case warning
  }

  /// The position in the payload, as a JSON pointer (RFC 6901).
  package var pointer: String
  package var rule: LintRule
  package var severity: Severity
  /// The description of the problem.
  package var message: String
  /// The recommended change, in words or as the new text.
  package var advice: String
  /// The whole corrected text, if it follows from the rule alone.
  package var fix: String?

  init(
    _ rule: LintRule, at pointer: String, _ message: String, advice: String, severity: Severity = .warning,
    fix: String? = nil
  ) {
    (self.rule, self.pointer, self.message) = (rule, pointer, message)
    (self.advice, self.severity, self.fix) = (advice, severity, fix)
  }
}
