package struct ChannelRequest: Codable, Sendable {
  package var topic: String
  /// `development` or `production`; nil: the gateway's environment.
  package var environment: String?
  /// The storage of messages: 0 for none, 1 for the most recent message.
  package var storagePolicy: Int
  /// The number of channels, all with the same settings.
  package var count: Int

  package init(topic: String, environment: String?, storagePolicy: Int, count: Int) {
    self.topic = topic
    self.environment = environment
    self.storagePolicy = storagePolicy
    self.count = count
  }

  package enum CodingKeys: String, CodingKey {
    case topic, environment, count
    case storagePolicy = "message_storage_policy"
  }
}

/// A channel as lists show it.
package struct ChannelRecord: Codable, Sendable {
  /// The id in base64.
  package var id: String
  package var topic: String
  package var environment: String
  /// The storage of messages: 0 for none, 1 for the most recent message.
  package var storagePolicy: Int
  /// The number of subscribed devices.
  package var subscriptions: Int
  /// The number of open streams of subscribed devices.
  package var connected: Int
  /// The number of messages that were stored so far.
  package var published: Int
  /// True if a stored message exists for devices that connect.
  package var isStored: Bool

  package init(
    id: String, topic: String, environment: String, storagePolicy: Int, subscriptions: Int, connected: Int,
    published: Int, isStored: Bool
  ) {
    self.id = id
    self.topic = topic
    self.environment = environment
    self.storagePolicy = storagePolicy
    self.subscriptions = subscriptions
    self.connected = connected
    self.published = published
    self.isStored = isStored
  }

  package enum CodingKeys: String, CodingKey {
    case id, topic, environment, subscriptions, connected, published
    case storagePolicy = "message_storage_policy"
    case isStored = "stored"
  }
}

/// The permission of an app to send broadcasts.
package struct BroadcastFeature: Codable, Sendable {
  package var topic: String
  package var isOn: Bool

  package init(topic: String, isOn: Bool) {
    self.topic = topic
    self.isOn = isOn
  }

  package enum CodingKeys: String, CodingKey {
    case topic
    case isOn = "on"
  }
}

/// A request to subscribe devices to a channel.
package struct ChannelSubscriptionRequest: Codable, Sendable {
  package var devices: [String]
  /// A batch whose devices are also subscribed.
  package var batch: String?

  package init(devices: [String], batch: String? = nil) {
    self.devices = devices
    self.batch = batch
  }
}

/// A request for a link of a channel.
package struct ShareRequest: Codable, Sendable {
  package var validSeconds: Int
  /// The number of times that the link may be used.
  package var uses: Int

  package init(validSeconds: Int, uses: Int) { (self.validSeconds, self.uses) = (validSeconds, uses) }

  package enum CodingKeys: String, CodingKey {
    case uses
    case validSeconds = "valid_seconds"
  }
}
