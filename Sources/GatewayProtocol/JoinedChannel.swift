/// A device's request to subscribe to a channel by its link.
package struct JoinChannelRequest: Codable, Sendable {
  package var invitation: String

  package init(invitation: String) { self.invitation = invitation }
}

/// A channel to which a device subscribes by a link.
package struct JoinedChannel: Codable, Sendable, Equatable {
  /// The id in base64.
  package var id: String
  package var topic: String
  package var environment: String
  /// True if the device was already subscribed; the use of the link is then not counted.
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
