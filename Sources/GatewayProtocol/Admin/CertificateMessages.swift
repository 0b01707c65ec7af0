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

  package init(names: [String], addresses: [String], isInstalled: Bool) {
    self.names = names
    self.addresses = addresses
    self.isInstalled = isInstalled
  }

  package enum CodingKeys: String, CodingKey {
    case names, addresses
    case isInstalled = "installed"
  }
}

/// A certificate that was made. The key is told this once and not kept.
package struct CreatedCertificate: Codable, Sendable {
  /// The first 16 hex digits of its SHA-256.
  package var id: String
  /// PEM.
  package var certificate: String
  /// PEM.
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
