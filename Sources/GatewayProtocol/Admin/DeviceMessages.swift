/// A device as it is listed.
package struct DeviceRecord: Codable, Sendable {
  /// Its public identifier.
  package var device: String
  package var name: String
  /// nil from a gateway that knows no roles.
  package var role: String?
  package var person: String
  /// Topics it is registered for, each once.
  package var apps: [String]
  /// The same with their environments; nil from a gateway of an earlier version.
  package var registrations: [Registrations]?
  /// Pushes that wait for it; in a cell as far as the gateway that is asked knows.
  package var waiting: Int
  /// Streams it has open now.
  package var streams: Int
  /// When it was last connected, RFC 3339, UTC; nil: never.
  package var lastSeen: String?
  /// What it last reported: whether its silent switch is on, and the Focus that is.
  package var silent: Bool?
  package var focus: String?

  package init(
    device: String, name: String, role: String? = nil, person: String, registrations: [Registrations], waiting: Int,
    streams: Int, lastSeen: String? = nil, silent: Bool? = nil, focus: String? = nil
  ) {
    self.lastSeen = lastSeen
    self.device = device
    self.role = role
    self.name = name
    self.person = person
    self.registrations = registrations
    apps = registrations.map(\.topic)
    self.waiting = waiting
    self.streams = streams
    self.silent = silent
    self.focus = focus
  }

  package enum CodingKeys: String, CodingKey {
    case device, name, role, person, apps, registrations, waiting, streams, silent, focus
    case lastSeen = "last_seen"
  }

  /// An app that a device is registered for.
  package struct Registrations: Codable, Sendable, Equatable {
    package var topic: String
    /// `development`, `production`, or both.
    package var environments: [String]

    package init(topic: String, environments: [String]) { (self.topic, self.environments) = (topic, environments) }
  }
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
