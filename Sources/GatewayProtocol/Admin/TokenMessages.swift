package struct AdministratorTokenRequest: Codable, Sendable {
  /// The name of its owner or purpose.
  package var name: String
  /// `reader`, `operator` or `admin`.
  package var role: String
  /// The number of days for which the token is valid.
  package var days: Int

  package init(name: String, role: String, days: Int) {
    (self.name, self.role, self.days) = (name, role, days)
  }
}

/// An administrator's token that was created. It is sent only here; the gateway stores its hash.
package struct CreatedAdministratorToken: Codable, Sendable {
  package var token: String
  package var name: String
  package var role: String
  /// The time at which it expires, RFC 3339, UTC.
  package var expires: String
  /// True if the gateway currently accepts such tokens (`remote_admin`).
  package var isUsable: Bool

  package init(token: String, name: String, role: String, expires: String, isUsable: Bool) {
    (self.token, self.name, self.role, self.expires, self.isUsable) = (token, name, role, expires, isUsable)
  }

  package enum CodingKeys: String, CodingKey {
    case token, name, role, expires
    case isUsable = "remote_admin"
  }
}
