/// A device as lists show it.
package struct DeviceRecord: Codable, Sendable {
  /// The public identifier.
  package var device: String
  package var name: String
  /// The role; nil from a gateway without roles.
  package var role: String?
  package var person: String
  /// The topics for which the device is registered, each once.
  package var apps: [String]
  /// The same topics with their environments; nil from a gateway of an earlier version.
  package var registrations: [Registrations]?
  /// The number of pending pushes; in a cluster, as far as the answering gateway can determine it.
  package var waiting: Int
  /// The number of open streams of the device.
  package var streams: Int
  /// The time of the last connection, RFC 3339, UTC; nil: never.
  package var lastSeen: String?
  /// The last reported state of the silent switch.
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

  /// An app for which a device is registered.
  package struct Registrations: Codable, Sendable, Equatable {
    package var topic: String
    /// `development`, `production`, or both.
    package var environments: [String]

    package init(topic: String, environments: [String]) { (self.topic, self.environments) = (topic, environments) }
  }
}

package struct RegistrationRequest: Codable, Sendable {
  package var topic: String
  /// `development` or `production`; nil: the gateway's environment.
  package var environment: String?
  /// The time in seconds for which a new token is valid; nil: until it is unregistered.
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

/// A registration as lists show it.
package struct RegistrationRecord: Codable, Sendable {
  /// The device token as 64 hex digits.
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
package struct PreferencesRequest: Codable, Sendable, Equatable {
  package var settings: [String]
  package var app: String?
  package var category: String?
  /// The `apns-id` of the push on whose alert the user made the change; nil for none.
  package var push: String?

  package init(settings: [String], app: String?, category: String?, push: String? = nil) {
    self.settings = settings
    self.app = app
    self.category = category
    self.push = push
  }
}

/// A request for many devices at once, each with a user of its own and registered for one app.
package struct BatchRequest: Codable, Sendable {
  /// The prefix of their names; `-` and a number follow.
  package var name: String
  /// The number of the first device.
  package var first: Int
  /// The number of devices.
  package var count: Int
  package var topic: String

  package init(name: String, first: Int, count: Int, topic: String) {
    self.name = name
    self.first = first
    self.count = count
    self.topic = topic
  }
}

/// One device of a batch. The secret is sent only here and stored only as a hash.
package struct BatchDevice: Codable, Sendable {
  package var secret: String
  /// The device token as 64 hex digits.
  package var token: String

  package init(secret: String, token: String) {
    self.secret = secret
    self.token = token
  }
}
