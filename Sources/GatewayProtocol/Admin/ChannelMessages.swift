/// A request for channels.
package struct ChannelRequest: Codable, Sendable {
  package var topic: String
  /// nil: the gateway's.
  package var environment: String?
  /// 0 none, 1 the most recent message.
  package var storagePolicy: Int
  /// How many, all of one kind.
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

/// A channel as it is listed.
package struct ChannelRecord: Codable, Sendable {
  /// Base64.
  package var id: String
  package var topic: String
  package var environment: String
  /// 0 none, 1 the most recent message.
  package var storagePolicy: Int
  /// Devices that subscribe.
  package var subscriptions: Int
  /// Streams of those that are open now.
  package var connected: Int
  /// Messages that were stored so far.
  package var published: Int
  /// Whether a message waits for devices that connect.
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

/// Whether an app may broadcast.
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

/// A request that devices subscribe to a channel.
package struct ChannelSubscriptionRequest: Codable, Sendable {
  package var devices: [String]
  /// All devices of a batch besides.
  package var batch: String?

  package init(devices: [String], batch: String? = nil) {
    self.devices = devices
    self.batch = batch
  }
}

/// A request for a link of a channel.
package struct ShareRequest: Codable, Sendable {
  package var validSeconds: Int
  /// How often it may be used.
  package var uses: Int

  package init(validSeconds: Int, uses: Int) { (self.validSeconds, self.uses) = (validSeconds, uses) }

  package enum CodingKeys: String, CodingKey {
    case uses
    case validSeconds = "valid_seconds"
  }
}
