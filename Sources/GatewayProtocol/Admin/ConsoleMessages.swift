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
