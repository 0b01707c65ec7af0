/// A request for a token of an administrator.
package struct AdministratorTokenRequest: Codable, Sendable {
  /// Whose, or what it is for.
  package var name: String
  /// `reader`, `operator` or `admin`.
  package var role: String
  /// How long it is good.
  package var days: Int

  package init(name: String, role: String, days: Int) {
    (self.name, self.role, self.days) = (name, role, days)
  }
}

/// A token of an administrator as it is listed.
package struct AdministratorTokenRecord: Codable, Sendable {
  package var name: String
  package var role: String
  /// RFC 3339, UTC.
  package var created: String
  /// RFC 3339, UTC.
  package var expires: String
  /// The hour in which it was last shown, RFC 3339, UTC; nil: never.
  package var lastUsed: String?

  package init(name: String, role: String, created: String, expires: String, lastUsed: String?) {
    (self.name, self.role, self.created, self.expires) = (name, role, created, expires)
    self.lastUsed = lastUsed
  }

  package enum CodingKeys: String, CodingKey {
    case name, role, created, expires
    case lastUsed = "last_used"
  }
}

/// A token of an administrator that was made. It is told this once; the gateway keeps its hash.
package struct CreatedAdministratorToken: Codable, Sendable {
  package var token: String
  package var name: String
  package var role: String
  /// RFC 3339, UTC.
  package var expires: String
  /// Whether the gateway lets anybody in with one, now (`remote_admin`).
  package var isUsable: Bool

  package init(token: String, name: String, role: String, expires: String, isUsable: Bool) {
    (self.token, self.name, self.role, self.expires, self.isUsable) = (token, name, role, expires, isUsable)
  }

  package enum CodingKeys: String, CodingKey {
    case token, name, role, expires
    case isUsable = "remote_admin"
  }
}
