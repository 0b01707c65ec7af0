package import PushCore

/// A broadcast channel of one app in one environment (reference §8.2).
package struct BroadcastChannel: Sendable {
  /// The storage of messages for devices that are not connected (`message-storage-policy`). It never changes.
  package enum StoragePolicy: Int, Sendable {
    case none = 0
    case mostRecentMessage = 1
  }

  package var id: ChannelID
  package var app: AppID
  package var environment: Environment
  package var policy: StoragePolicy
  /// The creation time, in milliseconds since 1970.
  package var created: Int64
  /// The deletion time, in milliseconds since 1970; nil while the channel exists.
  package var deleted: Int64?
  /// The number of the last stored message; 0 before the first one.
  package var lastNumber: UInt64 = 0
  /// The most recent stored message, until it expires.
  package var message: BroadcastMessage?
  /// The number of devices that subscribe to the channel.
  package var subscriptions = 0
}

/// One message to all subscribers of a channel. Immutable.
package final class BroadcastMessage: Sendable {
  package let channel: ChannelID
  package let app: AppID
  /// The number of the message in its channel, increasing from 1; 0 for a message that is never stored.
  package let number: UInt64
  /// The sender's `apns-request-id`, or an id that the gateway made.
  package let id: APNSID
  /// The `apns-unique-id`, always made by the gateway.
  package let uniqueID: APNSID
  /// The time at which the gateway accepted the message, in milliseconds since 1970.
  package let received: Int64
  /// The time at which the message expires, in seconds since 1970; 0 for a message that is never stored.
  package let expires: Int64
  /// The `apns-priority`: 10, 5 or 1.
  package let priority: UInt8
  /// The JSON as sent, without line breaks between its tokens.
  package let payload: [UInt8]
  /// The parsed payload; nil for a message that was read from the disk, which is parsed when it is sent.
  package let content: PushContent?

  package init(
    channel: ChannelID, app: AppID, number: UInt64, id: APNSID, uniqueID: APNSID, received: Int64, expires: Int64,
    priority: UInt8, payload: [UInt8], content: PushContent? = nil
  ) {
    self.channel = channel
    self.app = app
    self.number = number
    self.id = id
    self.uniqueID = uniqueID
    self.received = received
    self.expires = expires
    self.priority = priority
    self.payload = payload
    self.content = content
  }

  package func numbered(_ number: UInt64) -> BroadcastMessage {
    BroadcastMessage(
      channel: channel, app: app, number: number, id: id, uniqueID: uniqueID, received: received, expires: expires,
      priority: priority, payload: payload, content: content)
  }

  /// Returns the message as a push to one device, which is sent outside the device's mailbox.
  package func push(to device: DeviceID) -> StoredPush {
    StoredPush(
      device: device, app: app, id: id, isSenderID: false, uniqueID: uniqueID, received: received, expires: expires,
      priority: priority, collapseID: "", payload: payload, content: content)
  }
}
