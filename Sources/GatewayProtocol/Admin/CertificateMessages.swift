/// A request for a provider's certificate.
package struct CertificateRequest: Codable, Sendable {
  package var topic: String
  /// Further topics, besides the one above and those of ``kinds``.
  package var topics: [String]
  /// Kinds of push besides plain ones: `voip`, `complication`, ….
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

/// A request for a server's certificate.
package struct ServerCertificateRequest: Codable, Sendable {
  package var names: [String]
  package var addresses: [String]
  /// Whether the gateway itself is to use it, from the next connection on.
  package var isInstalled: Bool
  /// Whether the names that the present one has stay; nothing is issued where it has all that are asked for.
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

/// A step of a rollover of the gateway's authority.
package struct RolloverRequest: Codable, Sendable {
  /// Whether the next authority is put into force, and not made.
  package var isLast: Bool

  package init(isLast: Bool) { self.isLast = isLast }

  package enum CodingKeys: String, CodingKey { case isLast = "finish" }
}

/// Which authorities a gateway has, by their fingerprints.
package struct RolloverRecord: Codable, Sendable {
  package var authority: String?
  /// The one that takes over; nil when no rollover goes on.
  package var next: String?

  package init(authority: String?, next: String?) { (self.authority, self.next) = (authority, next) }
}

/// A certificate that was made. The key is told this once and not kept.
package struct CreatedCertificate: Codable, Sendable {
  /// The first 16 hex digits of its SHA-256.
  package var id: String
  /// PEM.
  package var certificate: String
  /// PEM; empty where the certificate was installed, with its key.
  package var key: String

  package init(id: String, certificate: String, key: String) {
    self.id = id
    self.certificate = certificate
    self.key = key
  }
}

/// A certificate of a provider as it is listed.
package struct CertificateRecord: Codable, Sendable {
  /// The first 16 hex digits of its SHA-256.
  package var id: String
  package var topic: String?
  package var topics: [String]
  package var environments: [String]
  /// RFC 3339, UTC.
  package var expires: String?
  /// RFC 3339, UTC; nil while it is good.
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

/// A request that a certificate be good no longer: one by its id, or any by its PEM.
package struct RevocationRequest: Codable, Sendable {
  package var id: String?
  package var certificate: String?

  package init(id: String?, certificate: String?) {
    self.id = id
    self.certificate = certificate
  }
}
