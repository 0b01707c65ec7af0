/// A link that opens the console in one browser. Its code is sent only here.
package struct CreatedConsoleLink: Codable, Sendable {
  /// The code, which follows `/console#` in the link.
  package var code: String
  /// The role of the session: that of the credential that requested the link.
  package var role: String
  /// The time at which the link ends, RFC 3339, UTC.
  package var expires: String

  package init(code: String, role: String, expires: String) {
    (self.code, self.role, self.expires) = (code, role, expires)
  }
}

/// The beginning of a session of the console.
package struct ConsoleSignIn: Codable, Sendable {
  /// The code of a link.
  package var code: String

  package init(code: String) { self.code = code }
}

/// The session of the console.
package struct ConsoleSession: Codable, Sendable {
  /// The administrator, as the audit trail shows requests of the session.
  package var who: String
  package var role: String
  /// The time at which the session ends, RFC 3339, UTC.
  package var expires: String
  /// True at a test gateway; nil at any other.
  package var test: Bool?

  package init(who: String, role: String, expires: String, test: Bool? = nil) {
    (self.who, self.role, self.expires, self.test) = (who, role, expires, test)
  }
}
