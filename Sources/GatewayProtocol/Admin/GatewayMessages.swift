package import PushPolicy

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
  /// The trace that the push belongs to, in the row that says so.
  package var traceID: String?
  /// The push's title and texts, a line each, where the person lets whoever asks find it by them.
  package var text: String?

  /// What it is about, also where there are only words.
  package var facts: DeliveryDetail { details ?? DeliveryDetail(words: detail ?? "", of: event) }

  package init(
    number: Int64, at: String, event: String, id: String, uniqueID: String?, status: String?, device: String?,
    topic: String?, _ details: DeliveryDetail, text: String? = nil
  ) {
    self.text = text
    (self.number, self.at, self.event, self.id, self.uniqueID) = (number, at, event, id, uniqueID)
    (self.status, self.device, self.topic) = (status, device, topic)
    let words = details.words
    detail = words.isEmpty ? nil : words
    self.details = details == .nothing ? nil : details
    if case .trace(let parent) = details { traceID = String(parent.dropFirst(3).prefix(32)) }
  }

  package enum CodingKeys: String, CodingKey {
    case number, at, event, id, status, device, topic, detail, details, text
    case uniqueID = "unique_id"
    case traceID = "trace_id"
  }
}

/// Rows of the delivery log, the oldest first, and where to read on.
package struct LogPage: Codable, Sendable {
  package var rows: [LogRecord]
  /// What the next page is after.
  package var next: Int64

  package init(rows: [LogRecord], next: Int64) { (self.rows, self.next) = (rows, next) }
}

/// Where so many of the newest rows of the delivery log begin.
package struct LogStart: Codable, Sendable {
  /// What the first of them is after.
  package var after: Int64

  package init(after: Int64) { self.after = after }
}

/// What a refused request says (RFC 9457).
package struct ProblemRecord: Codable, Sendable {
  package var status: Int
  package var title: String
  package var detail: String
}
