/// A team.
package struct TeamRecord: Codable, Sendable {
  /// 10 characters.
  package var id: String

  package init(id: String) { self.id = id }

  package enum CodingKeys: String, CodingKey { case id = "team_id" }
}

/// A request for a new key.
package struct KeyRequest: Codable, Sendable {
  package var team: String
  /// `development`, `production`, or nil for both.
  package var environment: String?
  /// Empty for every topic.
  package var topics: [String]
  /// The key it is rotated with.
  package var related: String?
  /// Its id, when there is a key already, whose public half follows.
  package var id: String?
  /// PEM, public or private; nil: a new one is made. A private half is not kept.
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

/// A key that was made. The private half is told this once and not kept.
package struct CreatedKey: Codable, Sendable {
  /// 10 characters.
  package var id: String
  package var team: String
  /// PEM, as a `.p8` file holds it; nil for a key that was there already.
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

/// A key as it is listed.
package struct KeyRecord: Codable, Sendable {
  package var id: String
  package var team: String
  /// `development`, `production` or `both`.
  package var environment: String
  /// nil for every topic.
  package var topics: [String]?
  /// The key it is rotated with.
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
