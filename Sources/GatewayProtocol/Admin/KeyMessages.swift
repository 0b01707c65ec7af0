package struct TeamRecord: Codable, Sendable {
  /// The team id: 10 characters.
  package var id: String

  package init(id: String) { self.id = id }

  package enum CodingKeys: String, CodingKey { case id = "team_id" }
}

package struct KeyRequest: Codable, Sendable {
  package var team: String
  /// `development`, `production`, or nil for both.
  package var environment: String?
  /// The topics to which the key may push; empty for every topic.
  package var topics: [String]
  /// The key with which it is rotated.
  package var related: String?
  /// The id of an existing key, whose public half is in ``pem``.
  package var id: String?
  /// A public or private key as PEM; nil: a new one is created. A private half is not stored.
  package var pem: String?

  package init(
    team: String, environment: String?, topics: [String], related: String? = nil, id: String? = nil, pem: String? = nil
  ) {
    self.team = team
    self.environment = environment
    self.topics = topics
    self.related = related
    self.id = id
    self.pem = pem
  }
}

/// A key that was created. The private half is sent only here and not stored.
package struct CreatedKey: Codable, Sendable {
  /// The key id: 10 characters.
  package var id: String
  package var team: String
  /// The private key as PEM, as in a `.p8` file; nil for an existing key.
  package var privateKey: String?

  package init(id: String, team: String, privateKey: String? = nil) {
    self.id = id
    self.team = team
    self.privateKey = privateKey
  }

  package enum CodingKeys: String, CodingKey {
    case id = "key_id"
    case team = "team_id"
    case privateKey = "private_key"
  }
}

/// A key as lists show it.
package struct KeyRecord: Codable, Sendable {
  package var id: String
  package var team: String
  /// `development`, `production` or `both`.
  package var environment: String
  /// The topics to which the key may push; nil for every topic.
  package var topics: [String]?
  /// The key with which it is rotated.
  package var related: String?

  package init(id: String, team: String, environment: String, topics: [String]? = nil, related: String? = nil) {
    self.id = id
    self.team = team
    self.environment = environment
    self.topics = topics
    self.related = related
  }

  package enum CodingKeys: String, CodingKey {
    case id = "key_id"
    case team = "team_id"
    case environment, topics, related
  }
}
