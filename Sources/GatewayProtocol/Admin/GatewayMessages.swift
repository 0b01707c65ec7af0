/// A request for a backup.
package struct BackupRequest: Codable, Sendable {
  /// Absolute: the gateway has a working folder of its own.
  package var path: String

  package init(path: String) { self.path = path }
}

/// A request for another level of the log.
package struct LogLevelRequest: Codable, Sendable {
  /// One of swift-log's; nil: what the settings say.
  package var level: String?
  /// How long it holds; nil: until the gateway ends.
  package var seconds: Int?

  package init(level: String?, seconds: Int?) { (self.level, self.seconds) = (level, seconds) }
}

/// The level of the log that is in force.
package struct LogLevelRecord: Codable, Sendable {
  package var level: String
  /// What the settings say.
  package var configured: String
  /// Until when it holds, RFC 3339, UTC; nil: until it is changed.
  package var until: String?

  package init(level: String, configured: String, until: String?) {
    (self.level, self.configured, self.until) = (level, configured, until)
  }
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
  /// `HOST:PORT` of where HTTP/1.1 is served; older gateways do not say it.
  package var http: [String]?
  /// The gateway's process, to measure it from outside.
  package var pid: Int32
  /// The fingerprint of the authority that clients see (`AuthorityFingerprint`); older gateways do not say it.
  package var authority: String?

  package init(
    listening: [String], environment: String, started: String, listeners: [ListenerRecord] = [], http: [String]? = nil,
    pid: Int32, authority: String? = nil
  ) {
    self.authority = authority
    self.listening = listening
    self.environment = environment
    self.started = started
    self.listeners = listeners
    self.http = http
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

/// The settings of a running gateway.
package struct SettingsRecord: Codable, Sendable {
  /// The absolute path of the configuration file; nil: there is none.
  package var file: String?
  package var settings: [SettingRecord]

  package init(file: String?, settings: [SettingRecord]) { (self.file, self.settings) = (file, settings) }
}

/// One setting with its value.
package struct SettingRecord: Codable, Sendable, Equatable {
  package var name: String
  package var value: String
  /// `flag`, `environment`, `file` or `default`.
  package var origin: String
  /// `reload` or `restart`: what puts another value into effect.
  package var change: String

  package init(name: String, value: String, origin: String, change: String) {
    (self.name, self.value, self.origin, self.change) = (name, value, origin, change)
  }
}

/// What came of reading a gateway's settings again.
package struct ReloadRecord: Codable, Sendable, Equatable {
  /// Settings that have another value now.
  package var changed: [String]
  /// Settings that get another value when the gateway starts again.
  package var waiting: [String]

  package init(changed: [String], waiting: [String]) { (self.changed, self.waiting) = (changed, waiting) }

  package enum CodingKeys: String, CodingKey {
    case changed
    case waiting = "at_restart"
  }
}

/// What a refused request says (RFC 9457).
package struct ProblemRecord: Codable, Sendable {
  package var status: Int
  package var title: String
  package var detail: String
}
