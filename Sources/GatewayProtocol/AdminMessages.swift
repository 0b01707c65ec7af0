public import PushPolicy

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
  /// The key it is rotated with.
  public var related: String?
  /// Its id, when there is a key already, whose public half follows.
  public var id: String?
  /// PEM, public or private; nil: a new one is made. A private half is not kept.
  public var pem: String?

  public init(
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
public struct CreatedKey: Codable, Sendable {
  /// 10 characters.
  public var id: String
  public var team: String
  /// PEM, as a `.p8` file holds it; nil for a key that was there already.
  public var privateKey: String?

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
  /// The key it is rotated with.
  public var related: String?

  init(_ key: ProviderKey) {
    id = key.id
    team = key.team
    environment = key.environment?.rawValue ?? "both"
    topics = key.topics?.sorted()
    related = key.related
  }

  enum CodingKeys: String, CodingKey {
    case id = "key_id"
    case team = "team_id"
    case environment, topics, related
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
  /// Whether payloads that break the schema of `aps` are refused; nil: as it was, or not.
  public var strict: Bool?
  /// `off`, `report`, `hold` or `refuse`; nil: as it was, or `refuse`.
  public var ads: String?

  public init(
    topic: String, name: String, icon: String?, policyMode: String?, strict: Bool? = nil, ads: String? = nil
  ) {
    self.topic = topic
    self.name = name
    self.icon = icon
    self.policyMode = policyMode
    self.strict = strict
    self.ads = ads
  }

  enum CodingKeys: String, CodingKey {
    case topic, name, icon, strict, ads
    case policyMode = "policy_mode"
  }
}

/// An event type of an app, and what its alerts offer.
public struct CategoryRecord: Codable, Sendable {
  /// As payloads name it.
  public var category: String
  public var actions: [AlertAction]

  public init(category: String, actions: [AlertAction]) {
    self.category = category
    self.actions = actions
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
  /// What it last reported: whether its silent switch is on, and the Focus that is.
  public var silent: Bool?
  public var focus: String?
}

/// The wish for a registration.
public struct RegistrationRequest: Codable, Sendable {
  public var topic: String
  /// nil: the gateway's.
  public var environment: String?
  /// How long a new token is good for; nil: until it is unregistered.
  public var validSeconds: Int?

  public init(topic: String, environment: String?, validSeconds: Int? = nil) {
    self.topic = topic
    self.environment = environment
    self.validSeconds = validSeconds
  }

  enum CodingKeys: String, CodingKey {
    case topic, environment
    case validSeconds = "valid_seconds"
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
  /// Every listener with its environment.
  public var listeners: [ListenerRecord] = []
  /// The gateway's process, to measure it from outside.
  public var pid: Int32

  /// A listener as it is listed.
  public struct ListenerRecord: Codable, Sendable {
    /// `HOST:PORT`.
    public var address: String
    /// `development`, `production` or `by-name`.
    public var environment: String
  }
}

/// The wish for a provider's certificate.
public struct CertificateRequest: Codable, Sendable {
  public var topic: String
  /// Further topics, besides the one above and those of ``kinds``.
  public var topics: [String]
  /// Kinds of push besides plain ones: `voip`, `complication`, ….
  public var kinds: [String]
  /// `development`, `production`, or nil for both.
  public var environment: String?
  public var days: Int

  public init(topic: String, topics: [String], kinds: [String], environment: String?, days: Int) {
    self.topic = topic
    self.topics = topics
    self.kinds = kinds
    self.environment = environment
    self.days = days
  }
}

/// The wish for a server's certificate.
public struct ServerCertificateRequest: Codable, Sendable {
  public var names: [String]
  public var addresses: [String]
  /// Whether the gateway itself is to use it, from the next connection on.
  public var isInstalled: Bool

  public init(names: [String], addresses: [String], isInstalled: Bool) {
    self.names = names
    self.addresses = addresses
    self.isInstalled = isInstalled
  }

  enum CodingKeys: String, CodingKey {
    case names, addresses
    case isInstalled = "installed"
  }
}

/// A certificate that was made. The key is told this once and not kept.
public struct CreatedCertificate: Codable, Sendable {
  /// The first 16 hex digits of its SHA-256.
  public var id: String
  /// PEM.
  public var certificate: String
  /// PEM.
  public var key: String
}

/// A certificate of a provider as it is listed.
public struct CertificateRecord: Codable, Sendable {
  /// The first 16 hex digits of its SHA-256.
  public var id: String
  public var topic: String?
  public var topics: [String]
  public var environments: [String]
  /// RFC 3339, UTC.
  public var expires: String?
  /// RFC 3339, UTC; nil while it is good.
  public var revoked: String?

  init(_ certificate: ProviderCertificate) {
    func text(_ milliseconds: Int64?) -> String? {
      milliseconds.map { milliseconds in
        var bytes: [UInt8] = []
        appendTimestamp(milliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
      }
    }
    id = certificate.id
    topic = certificate.topic
    topics = certificate.topics.sorted()
    environments = certificate.environments.map(\.rawValue).sorted()
    expires = text(certificate.expires.map { $0 * 1000 })
    revoked = text(certificate.revoked)
  }
}

/// The wish that a certificate be good no longer: one by its id, or any by its PEM.
public struct RevocationRequest: Codable, Sendable {
  public var id: String?
  public var certificate: String?

  public init(id: String?, certificate: String?) {
    self.id = id
    self.certificate = certificate
  }
}

/// The wish for many devices at once, each with a person of its own and registered for one app.
public struct BatchRequest: Codable, Sendable {
  /// What their names begin with; `-` and a number follow.
  public var name: String
  /// The number of the first.
  public var first: Int
  /// How many.
  public var count: Int
  public var topic: String

  public init(name: String, first: Int, count: Int, topic: String) {
    self.name = name
    self.first = first
    self.count = count
    self.topic = topic
  }
}

/// One device of a batch. Its secret is told this once and kept only as a hash.
public struct BatchDevice: Codable, Sendable {
  public var secret: String
  /// 64 hex digits.
  public var token: String
}

/// One row of the delivery log as commands print it.
public struct LogRecord: Codable, Sendable {
  /// Its place in the log, for reading on.
  public var number: Int64
  /// RFC 3339, UTC.
  public var at: String
  /// What happened (design §1).
  public var event: String
  /// The `apns-id`.
  public var id: String
  /// The `apns-unique-id`, in the row of acceptance.
  public var uniqueID: String?
  /// The status that the real service's console has for it, if it has one (reference §9.1).
  public var status: String?
  public var device: String?
  public var topic: String?
  /// The rule, the parts or the action that it is about.
  public var detail: String?

  enum CodingKeys: String, CodingKey {
    case number, at, event, id, status, device, topic, detail
    case uniqueID = "unique_id"
  }
}

/// A person's report as a device sends it.
public struct AdReportRequest: Codable, Sendable {
  /// The `apns-id`.
  public var id: String
  /// The app's topic.
  public var topic: String
  /// What the device showed.
  public var text: String?

  public init(id: String, topic: String, text: String?) {
    self.id = id
    self.topic = topic
    self.text = text
  }
}

/// A person's report as commands print it.
public struct AdReportRecord: Codable, Sendable {
  /// RFC 3339, UTC.
  public var at: String
  public var device: String?
  public var topic: String?
  /// The `apns-id`.
  public var id: String
  /// What the device showed.
  public var text: String?
  /// What the detector makes of the text now: `pass`, `hold` or `refuse`.
  public var outcome: String?
}

/// What a refused request says (RFC 9457).
public struct ProblemRecord: Codable, Sendable {
  public var status: Int
  public var title: String
  public var detail: String
}
