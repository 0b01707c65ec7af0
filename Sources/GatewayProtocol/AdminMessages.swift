package import PushPolicy

/// What the admin API and the commands say to each other, as JSON with snake_case keys.

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

/// A request for an app, or for a change of one.
package struct AppRequest: Codable, Sendable {
  package var topic: String
  package var name: String
  /// One emoji or two letters; nil: as it was, or the name's initials.
  package var icon: String?
  /// `enforce` or `report`; nil: as it was, or `enforce`.
  package var policyMode: String?
  /// Whether payloads that break the schema of `aps` are refused; nil: as it was, or not.
  package var strict: Bool?
  /// `off`, `report`, `hold` or `refuse`; nil: as it was, or `refuse`.
  package var ads: String?
  /// The team whose keys may push to it; nil: as it was, or the only one that there is.
  package var team: String?

  package init(
    topic: String, name: String, icon: String?, policyMode: String?, strict: Bool? = nil, ads: String? = nil,
    team: String? = nil
  ) {
    self.topic = topic
    self.name = name
    self.icon = icon
    self.policyMode = policyMode
    self.strict = strict
    self.ads = ads
    self.team = team
  }

  package enum CodingKeys: String, CodingKey {
    case topic, name, icon, strict, ads
    case policyMode = "policy_mode"
    case team = "team_id"
  }
}

/// An event type of an app, and what its alerts offer.
package struct CategoryRecord: Codable, Sendable {
  /// As payloads name it.
  package var category: String
  package var actions: [AlertAction]

  package init(category: String, actions: [AlertAction]) {
    self.category = category
    self.actions = actions
  }
}

/// A device as it is listed.
package struct DeviceRecord: Codable, Sendable {
  /// Its public identifier.
  package var device: String
  package var name: String
  /// nil from a gateway that knows no roles.
  package var role: String?
  package var person: String
  /// Topics it is registered for.
  package var apps: [String]
  /// Pushes that wait for it.
  package var waiting: Int
  /// Streams it has open now.
  package var streams: Int
  /// When it was last connected, RFC 3339, UTC; nil: never.
  package var lastSeen: String?
  /// What it last reported: whether its silent switch is on, and the Focus that is.
  package var silent: Bool?
  package var focus: String?

  package init(
    device: String, name: String, role: String? = nil, person: String, apps: [String], waiting: Int, streams: Int,
    lastSeen: String? = nil, silent: Bool? = nil, focus: String? = nil
  ) {
    self.lastSeen = lastSeen
    self.device = device
    self.role = role
    self.name = name
    self.person = person
    self.apps = apps
    self.waiting = waiting
    self.streams = streams
    self.silent = silent
    self.focus = focus
  }

  package enum CodingKeys: String, CodingKey {
    case device, name, role, person, apps, waiting, streams, silent, focus
    case lastSeen = "last_seen"
  }
}

/// A person as they are listed.
package struct PersonRecord: Codable, Sendable {
  package var name: String
  /// The names of their devices.
  package var devices: [String]

  package init(name: String, devices: [String]) {
    self.name = name
    self.devices = devices
  }
}

/// A request for another name.
package struct PersonRequest: Codable, Sendable {
  package var name: String

  package init(name: String) { self.name = name }
}

/// A request for a registration.
package struct RegistrationRequest: Codable, Sendable {
  package var topic: String
  /// nil: the gateway's.
  package var environment: String?
  /// How long a new token is good for; nil: until it is unregistered.
  package var validSeconds: Int?

  package init(topic: String, environment: String?, validSeconds: Int? = nil) {
    self.topic = topic
    self.environment = environment
    self.validSeconds = validSeconds
  }

  package enum CodingKeys: String, CodingKey {
    case topic, environment
    case validSeconds = "valid_seconds"
  }
}

/// A registration as it is listed.
package struct RegistrationRecord: Codable, Sendable {
  /// 64 hex digits.
  package var token: String
  package var topic: String
  package var environment: String

  package init(token: String, topic: String, environment: String) {
    self.token = token
    self.topic = topic
    self.environment = environment
  }
}

/// A request for an invitation.
package struct InvitationRequest: Codable, Sendable {
  package var validSeconds: Int
  /// Whose device it is for; nil: a new person's.
  package var person: String?
  /// nil: `device`.
  package var role: String?

  package init(validSeconds: Int, person: String? = nil, role: String? = nil) {
    self.validSeconds = validSeconds
    self.person = person
    self.role = role
  }

  package enum CodingKeys: String, CodingKey {
    case person, role
    case validSeconds = "valid_seconds"
  }
}

/// An invitation as it is listed.
package struct InvitationRecord: Codable, Sendable {
  /// The first 16 hex digits of its code's hash.
  package var id: String
  /// nil: a new person's.
  package var person: String?
  package var role: String
  /// RFC 3339, UTC.
  package var expires: String

  package init(id: String, person: String?, role: String, expires: String) {
    self.id = id
    self.person = person
    self.role = role
    self.expires = expires
  }
}

/// An invitation that was made. The code is told this once and kept only as a hash.
package struct CreatedInvitation: Codable, Sendable {
  package var code: String
  package var id: String
  package var person: String?
  package var role: String
  package var expires: String

  package init(code: String, _ record: InvitationRecord) {
    self.code = code
    (id, person, role, expires) = (record.id, record.person, record.role, record.expires)
  }

  package enum CodingKeys: String, CodingKey {
    case code = "invitation"
    case id, person, role, expires
  }
}

/// Changes of preferences, such as `badge=off`.
package struct PreferencesRequest: Codable, Sendable {
  package var settings: [String]
  package var app: String?
  package var category: String?

  package init(settings: [String], app: String?, category: String?) {
    self.settings = settings
    self.app = app
    self.category = category
  }
}

/// A request for a backup.
package struct BackupRequest: Codable, Sendable {
  /// Absolute: the gateway has a working folder of its own.
  package var path: String

  package init(path: String) { self.path = path }
}

/// A gateway's state.
package struct GatewayStatus: Codable, Sendable {
  /// `HOST:PORT` of every listener.
  package var listening: [String]
  package var environment: String
  /// RFC 3339, UTC.
  package var started: String
  /// Every listener with its environment.
  package var listeners: [ListenerRecord] = []
  /// The gateway's process, to measure it from outside.
  package var pid: Int32

  package init(
    listening: [String], environment: String, started: String, listeners: [ListenerRecord] = [], pid: Int32
  ) {
    self.listening = listening
    self.environment = environment
    self.started = started
    self.listeners = listeners
    self.pid = pid
  }

  /// A listener as it is listed.
  package struct ListenerRecord: Codable, Sendable {
    /// `HOST:PORT`.
    package var address: String
    /// `development`, `production` or `by-name`.
    package var environment: String

    package init(address: String, environment: String) {
      self.address = address
      self.environment = environment
    }
  }
}

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

/// A request for many devices at once, each with a person of its own and registered for one app.
package struct BatchRequest: Codable, Sendable {
  /// What their names begin with; `-` and a number follow.
  package var name: String
  /// The number of the first.
  package var first: Int
  /// How many.
  package var count: Int
  package var topic: String

  package init(name: String, first: Int, count: Int, topic: String) {
    self.name = name
    self.first = first
    self.count = count
    self.topic = topic
  }
}

/// One device of a batch. Its secret is told this once and kept only as a hash.
package struct BatchDevice: Codable, Sendable {
  package var secret: String
  /// 64 hex digits.
  package var token: String

  package init(secret: String, token: String) {
    self.secret = secret
    self.token = token
  }
}

/// One row of the delivery log as commands print it.
package struct LogRecord: Codable, Sendable {
  /// Its place in the log, for reading on.
  package var number: Int64
  /// RFC 3339, UTC.
  package var at: String
  /// What happened (design §1).
  package var event: String
  /// The `apns-id`.
  package var id: String
  /// The `apns-unique-id`, in the row of acceptance.
  package var uniqueID: String?
  /// The status that the real service's console has for it, if it has one (reference §9.1).
  package var status: String?
  package var device: String?
  package var topic: String?
  /// The rule, the parts or the action that it is about, in words.
  package var detail: String?
  /// The same in facts; nil from a gateway that only has words.
  package var details: DeliveryDetail?

  /// What it is about, also where there are only words.
  package var facts: DeliveryDetail { details ?? DeliveryDetail(words: detail ?? "", of: event) }

  package init(
    number: Int64, at: String, event: String, id: String, uniqueID: String?, status: String?, device: String?,
    topic: String?, _ details: DeliveryDetail
  ) {
    (self.number, self.at, self.event, self.id, self.uniqueID) = (number, at, event, id, uniqueID)
    (self.status, self.device, self.topic) = (status, device, topic)
    let words = details.words
    detail = words.isEmpty ? nil : words
    self.details = details == .nothing ? nil : details
  }

  package enum CodingKeys: String, CodingKey {
    case number, at, event, id, status, device, topic, detail, details
    case uniqueID = "unique_id"
  }
}

/// A person's report as a device sends it.
package struct AdReportRequest: Codable, Sendable {
  /// The `apns-id`.
  package var id: String
  /// The app's topic.
  package var topic: String
  /// What the device showed.
  package var text: String?

  package init(id: String, topic: String, text: String?) {
    self.id = id
    self.topic = topic
    self.text = text
  }
}

/// A person's report as commands print it.
package struct AdReportRecord: Codable, Sendable {
  /// RFC 3339, UTC.
  package var at: String
  package var device: String?
  package var topic: String?
  /// The `apns-id`.
  package var id: String
  /// What the device showed.
  package var text: String?
  /// What the detector makes of the text now: `pass`, `hold` or `refuse`.
  package var outcome: String?

  package init(
    at: String, device: String? = nil, topic: String? = nil, id: String, text: String? = nil, outcome: String? = nil
  ) {
    self.at = at
    self.device = device
    self.topic = topic
    self.id = id
    self.text = text
    self.outcome = outcome
  }
}

/// What a refused request says (RFC 9457).
package struct ProblemRecord: Codable, Sendable {
  package var status: Int
  package var title: String
  package var detail: String
}
