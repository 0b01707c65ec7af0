package struct CertificateRequest: Codable, Sendable {
  package var topic: String
  /// Topics in addition to ``topic`` and those of ``kinds``.
  package var topics: [String]
  /// Kinds of push in addition to plain ones: `voip`, `complication`, ….
  package var kinds: [String]
  /// `development`, `production`, or nil for both.
  package var environment: String?
  package var days: Int

  package init(topic: String, topics: [String], kinds: [String], environment: String?, days: Int) {
    self.topic = topic
    self.topics = topics
    self.kinds = kinds
    self.environment = environment
    self.days = days
  }
}

/// The certificate that the gateway presents to its clients.
package struct ServerCertificateRecord: Codable, Sendable {
  package var names: [String]
  package var addresses: [String]
  /// The organization and the common name of the CA that issued it; nil if the CA has neither.
  package var issuer: String?
  /// The end of its validity, RFC 3339, UTC.
  package var expires: String

  package init(names: [String], addresses: [String], issuer: String?, expires: String) {
    self.names = names
    self.addresses = addresses
    self.issuer = issuer
    self.expires = expires
  }
}

package struct ServerCertificateRequest: Codable, Sendable {
  package var names: [String]
  package var addresses: [String]
  /// True if the gateway itself uses the certificate, from the next connection on.
  package var isInstalled: Bool
  /// True if the names of the present certificate are kept; if it has all requested names, none is issued.
  package var keeps: Bool

  package init(names: [String], addresses: [String], isInstalled: Bool, keeps: Bool = false) {
    self.names = names
    self.addresses = addresses
    self.isInstalled = isInstalled
    self.keeps = keeps
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    names = try container.decode([String].self, forKey: .names)
    addresses = try container.decode([String].self, forKey: .addresses)
    isInstalled = try container.decode(Bool.self, forKey: .isInstalled)
    keeps = try container.decodeIfPresent(Bool.self, forKey: .keeps) ?? false
  }

  package enum CodingKeys: String, CodingKey {
    case names, addresses, keeps
    case isInstalled = "installed"
  }
}

/// A step of a rollover of the gateway's CA.
package struct RolloverRequest: Codable, Sendable {
  /// True if the step puts the next CA into effect; false if it creates the next CA.
  package var isLast: Bool

  package init(isLast: Bool) { self.isLast = isLast }

  package enum CodingKeys: String, CodingKey { case isLast = "finish" }
}

/// The fingerprints of a gateway's CAs.
package struct RolloverRecord: Codable, Sendable {
  package var authority: String?
  /// The CA that takes over; nil when no rollover is in progress.
  package var next: String?

  package init(authority: String?, next: String?) { (self.authority, self.next) = (authority, next) }
}

/// A certificate that was created. The key is sent only here and not stored.
package struct CreatedCertificate: Codable, Sendable {
  /// The first 16 hex digits of its SHA-256.
  package var id: String
  /// The certificate as PEM.
  package var certificate: String
  /// The key as PEM; empty if the certificate was installed with its key.
  package var key: String

  package init(id: String, certificate: String, key: String) {
    self.id = id
    self.certificate = certificate
    self.key = key
  }
}

/// A provider's certificate as lists show it.
package struct CertificateRecord: Codable, Sendable {
  /// The first 16 hex digits of its SHA-256.
  package var id: String
  package var topic: String?
  package var topics: [String]
  package var environments: [String]
  /// The end of its validity, RFC 3339, UTC.
  package var expires: String?
  /// The time at which it was revoked, RFC 3339, UTC; nil if it is not revoked.
  package var revoked: String?

  package init(
    id: String, topic: String? = nil, topics: [String], environments: [String], expires: String? = nil,
    revoked: String? = nil
  ) {
    self.id = id
    self.topic = topic
    self.topics = topics
    self.environments = environments
    self.expires = expires
    self.revoked = revoked
  }
}

/// A request to revoke a certificate: one by its id, or any by its PEM.
package struct RevocationRequest: Codable, Sendable {
  package var id: String?
  package var certificate: String?

  package init(id: String?, certificate: String?) {
    self.id = id
    self.certificate = certificate
  }
}
