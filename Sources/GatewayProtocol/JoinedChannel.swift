/// A device's request to read a channel by its link.
package struct JoinChannelRequest: Codable, Sendable {
  /// The code.
  package var invitation: String

  package init(invitation: String) { self.invitation = invitation }
}

/// A channel that a device reads by a link.
package struct JoinedChannel: Codable, Sendable, Equatable {
  /// Base64.
  package var id: String
  /// Its app.
  package var topic: String
  package var environment: String
  /// Whether the device read it before; then the link was not used.
  package var isKnown: Bool

  package init(id: String, topic: String, environment: String, isKnown: Bool) {
    self.id = id
    self.topic = topic
    self.environment = environment
    self.isKnown = isKnown
  }

  package enum CodingKeys: String, CodingKey {
    case id, topic, environment
    case isKnown = "known"
  }
}
