import PushPolicy

/// What the admin API and the commands say to each other, as JSON with snake_case keys.

/// A team.
public struct TeamRecord: Codable, Sendable {
  /// 10 characters.
  public var id: String

  public init(id: String) { self.id = id }

  enum CodingKeys: String, CodingKey { case id = "team_id" }
}

/// The wish for a new key.
public struct KeyRequest: Codable, Sendable {
  public var team: String
  /// `development`, `production`, or nil for both.
  public var environment: String?
  /// Empty for every topic.
  public var topics: [String]

  public init(team: String, environment: String?, topics: [String]) {
    self.team = team
    self.environment = environment
    self.topics = topics
  }
}

/// A key that was made. The private half is told this once and not kept.
public struct CreatedKey: Codable, Sendable {
  /// 10 characters.
  public var id: String
  public var team: String
  /// PEM, as a `.p8` file holds it.
  public var privateKey: String

  enum CodingKeys: String, CodingKey {
    case id = "key_id"
    case team = "team_id"
    case privateKey = "private_key"
  }
}

/// A key as it is listed.
public struct KeyRecord: Codable, Sendable {
  public var id: String
  public var team: String
  /// `development`, `production` or `both`.
  public var environment: String
  /// nil for every topic.
  public var topics: [String]?

  init(_ key: ProviderKey) {
    id = key.id
    team = key.team
    environment = key.environment?.rawValue ?? "both"
    topics = key.topics?.sorted()
  }

  enum CodingKeys: String, CodingKey {
    case id = "key_id"
    case team = "team_id"
    case environment, topics
  }
}

/// The wish for an app, or for a change of one.
public struct AppRequest: Codable, Sendable {
  public var topic: String
  public var name: String
  /// One emoji or two letters; nil: as it was, or the name's initials.
  public var icon: String?
  /// `enforce` or `report`; nil: as it was, or `enforce`.
  public var policyMode: String?

  public init(topic: String, name: String, icon: String?, policyMode: String?) {
    self.topic = topic
    self.name = name
    self.icon = icon
    self.policyMode = policyMode
  }

  enum CodingKeys: String, CodingKey {
    case topic, name, icon
    case policyMode = "policy_mode"
  }
}

/// A device as it is listed.
public struct DeviceRecord: Codable, Sendable {
  /// Its public identifier.
  public var device: String
  public var name: String
  public var person: String
  /// Topics it is registered for.
  public var apps: [String]
  /// Pushes that wait for it.
  public var waiting: Int
  /// Streams it has open now.
  public var streams: Int
}

/// The wish for a registration.
public struct RegistrationRequest: Codable, Sendable {
  public var topic: String
  /// nil: the gateway's.
  public var environment: String?

  public init(topic: String, environment: String?) {
    self.topic = topic
    self.environment = environment
  }
}

/// A registration as it is listed.
public struct RegistrationRecord: Codable, Sendable {
  /// 64 hex digits.
  public var token: String
  public var topic: String
  public var environment: String
}

/// The wish for an invitation.
public struct InvitationRequest: Codable, Sendable {
  public var validSeconds: Int

  public init(validSeconds: Int) { self.validSeconds = validSeconds }

  enum CodingKeys: String, CodingKey { case validSeconds = "valid_seconds" }
}

/// Changes of preferences, such as `badge=off`.
public struct PreferencesRequest: Codable, Sendable {
  public var settings: [String]
  public var app: String?
  public var category: String?

  public init(settings: [String], app: String?, category: String?) {
    self.settings = settings
    self.app = app
    self.category = category
  }
}

/// The wish for a backup.
public struct BackupRequest: Codable, Sendable {
  /// Absolute: the gateway has a working folder of its own.
  public var path: String

  public init(path: String) { self.path = path }
}

/// A gateway's state.
public struct GatewayStatus: Codable, Sendable {
  /// `HOST:PORT` of every listener.
  public var listening: [String]
  public var environment: String
  /// RFC 3339, UTC.
  public var started: String
}

/// What a refused request says (RFC 9457).
public struct ProblemRecord: Codable, Sendable {
  public var status: Int
  public var title: String
  public var detail: String
}
