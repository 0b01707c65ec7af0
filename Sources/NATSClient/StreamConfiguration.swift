/// The configuration of a JetStream stream. The broker's default applies to a nil property.
package struct StreamConfiguration: Codable, Sendable, Equatable {
  package struct Republish: Codable, Sendable, Equatable {
    package var source: String
    package var destination: String

    package init(source: String, destination: String) { (self.source, self.destination) = (source, destination) }

    package enum CodingKeys: String, CodingKey {
      case source = "src"
      case destination = "dest"
    }
  }

  package var name: String
  package var subjects: [String]
  package var replicas: Int
  package var storage: String? = "file"
  package var retention: String? = "limits"
  /// `old` or `new`.
  package var discard: String?
  package var maximumMessages: Int64?
  package var maximumMessagesPerSubject: Int64?
  package var maximumSize: Int64?
  /// The maximum age of a message, in nanoseconds.
  package var maximumAge: Int64?
  /// The time for which message ids are compared, in nanoseconds.
  package var duplicateWindow: Int64?
  package var allowsDirect: Bool?
  package var allowsTTL: Bool?
  package var allowsRollup: Bool?
  package var deniesDelete: Bool?
  package var deniesPurge: Bool?
  package var firstSequence: UInt64?
  package var republish: Republish?

  package init(name: String, subjects: [String], replicas: Int) {
    (self.name, self.subjects, self.replicas) = (name, subjects, replicas)
  }

  package enum CodingKeys: String, CodingKey {
    case name, subjects, storage, retention, discard, republish
    case replicas = "num_replicas"
    case maximumMessages = "max_msgs"
    case maximumMessagesPerSubject = "max_msgs_per_subject"
    case maximumSize = "max_bytes"
    case maximumAge = "max_age"
    case duplicateWindow = "duplicate_window"
    case allowsDirect = "allow_direct"
    case allowsTTL = "allow_msg_ttl"
    case allowsRollup = "allow_rollup_hdrs"
    case deniesDelete = "deny_delete"
    case deniesPurge = "deny_purge"
    case firstSequence = "first_seq"
  }
}

/// JetStream's description of a stream.
package struct StreamInfo: Codable, Sendable {
  package struct State: Codable, Sendable {
    package var messages: UInt64
    package var firstSequence: UInt64
    package var lastSequence: UInt64
    /// The number of subjects; nil when subjects were requested.
    package var subjectCount: Int?
    /// The number of messages of each requested subject, for at most 100,000 subjects.
    package var subjects: [String: UInt64]?

    package enum CodingKeys: String, CodingKey {
      case messages, subjects
      case firstSequence = "first_seq"
      case lastSequence = "last_seq"
      case subjectCount = "num_subjects"
    }
  }

  package var config: StreamConfiguration
  package var state: State
}

package struct StoredMessage: Sendable {
  package var sequence: UInt64
  package var subject: String
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  package init(sequence: UInt64, subject: String, headers: [(name: String, value: String)], body: [UInt8]) {
    (self.sequence, self.subject, self.headers, self.body) = (sequence, subject, headers, body)
  }
}

/// The confirmation that a stream has stored a message.
package struct PublishAcknowledgement: Sendable, Equatable {
  package var stream: String
  package var sequence: UInt64
  /// True if the stream had already stored a message with this id, whose number is ``sequence``.
  package var isDuplicate = false
}
