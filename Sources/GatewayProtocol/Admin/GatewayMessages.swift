package struct BackupRequest: Codable, Sendable {
  /// The absolute path of the backup: the gateway has another working folder.
  package var path: String

  package init(path: String) { self.path = path }
}

/// A request for another log level.
package struct LogLevelRequest: Codable, Sendable {
  /// A level of swift-log; nil: the configured level.
  package var level: String?
  /// The time in seconds for which the level is in effect; nil: until the gateway ends.
  package var seconds: Int?

  package init(level: String?, seconds: Int?) { (self.level, self.seconds) = (level, seconds) }
}

package struct LogLevelRecord: Codable, Sendable {
  package var level: String
  package var configured: String
  /// The time until which the level is in effect, RFC 3339, UTC; nil: until it is changed.
  package var until: String?

  package init(level: String, configured: String, until: String?) {
    (self.level, self.configured, self.until) = (level, configured, until)
  }
}

package struct GatewayStatus: Codable, Sendable {
  /// The `HOST:PORT` of every listener.
  package var listening: [String]
  package var environment: String
  /// The start time, RFC 3339, UTC.
  package var started: String
  /// Every listener with its environment.
  package var listeners: [ListenerRecord] = []
  /// The `HOST:PORT` of every HTTP/1.1 listener, with TLS `https://HOST:PORT`; nil from an earlier version.
  package var http: [String]?
  /// The id of the gateway's process, for measurements from outside.
  package var pid: Int32
  /// The fingerprint of the gateway's CA (`AuthorityFingerprint`); nil from an earlier version.
  package var authority: String?
  /// The certificate of new connections; nil from an earlier version.
  package var certificate: ServerCertificateRecord?
  /// The `HOST:PORT` of the other gateways of the cluster; nil without a cluster, and from an earlier version.
  package var gateways: [String]?

  package init(
    listening: [String], environment: String, started: String, listeners: [ListenerRecord] = [], http: [String]? = nil,
    pid: Int32, authority: String? = nil, certificate: ServerCertificateRecord? = nil, gateways: [String]? = nil
  ) {
    self.authority = authority
    self.certificate = certificate
    self.gateways = gateways
    self.listening = listening
    self.environment = environment
    self.started = started
    self.listeners = listeners
    self.http = http
    self.pid = pid
  }

  package struct ListenerRecord: Codable, Sendable {
    /// The address as `HOST:PORT`.
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

package struct SettingRecord: Codable, Sendable, Equatable {
  package var name: String
  package var value: String
  /// The source of the value: `flag`, `environment`, `file` or `default`.
  package var origin: String
  /// The action that puts another value into effect: `reload` or `restart`.
  package var change: String

  package init(name: String, value: String, origin: String, change: String) {
    (self.name, self.value, self.origin, self.change) = (name, value, origin, change)
  }
}

/// The result of a reload of a gateway's settings.
package struct ReloadRecord: Codable, Sendable, Equatable {
  /// The settings that have another value now.
  package var changed: [String]
  /// The settings that get another value when the gateway restarts.
  package var waiting: [String]

  package init(changed: [String], waiting: [String]) { (self.changed, self.waiting) = (changed, waiting) }

  package enum CodingKeys: String, CodingKey {
    case changed
    case waiting = "at_restart"
  }
}

/// The body of a refused request (RFC 9457).
package struct ProblemRecord: Codable, Sendable {
  package var status: Int
  package var detail: String
}
