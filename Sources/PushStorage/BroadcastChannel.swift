package import PushCore

/// A broadcast channel of one app in one environment (reference §8.2).
package struct BroadcastChannel: Sendable {
  /// What is kept for devices that are not connected (`message-storage-policy`); never changes.
  package enum StoragePolicy: Int, Sendable {
    case none = 0
    case mostRecentMessage = 1
  }

  package var id: ChannelID
  package var app: AppID
  package var environment: Environment
  package var policy: StoragePolicy
  /// Milliseconds since 1970.
  package var created: Int64
  /// When it was deleted, in milliseconds since 1970; nil while it is there.
  package var deleted: Int64?
  /// The number of the last message that was stored; 0 before there was one.
  package var lastNumber: UInt64 = 0
  /// The most recent message that was stored, until it ends.
  package var message: BroadcastMessage?
  /// Devices that subscribe to it.
  package var subscriptions = 0
}

/// One message to all who subscribe to a channel. Immutable.
package final class BroadcastMessage: Sendable {
  package let channel: ChannelID
  package let app: AppID
  /// Per channel, increasing from 1; 0 for a message that is never stored.
  package let number: UInt64
  /// The sender's `apns-request-id`, or one of ours.
  package let id: APNSID
  /// Always ours (`apns-unique-id`).
  package let uniqueID: APNSID
  /// When it was accepted, in milliseconds since 1970.
  package let received: Int64
  /// When it ends, in seconds since 1970; 0 for a message that is never stored.
  package let expires: Int64
  /// 10, 5 or 1.
  package let priority: UInt8
  /// The JSON as sent, without line breaks between its tokens.
  package let payload: [UInt8]
  /// What the payload says, where it is known: one that was read from the disk is parsed when it is sent.
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

  /// The same message with its number.
  package func numbered(_ number: UInt64) -> BroadcastMessage {
    BroadcastMessage(
      channel: channel, app: app, number: number, id: id, uniqueID: uniqueID, received: received, expires: expires,
      priority: priority, payload: payload, content: content)
  }

  /// The message as one device is pushed it, outside its mailbox.
  package func push(to device: DeviceID) -> StoredPush {
    StoredPush(
      device: device, app: app, id: id, isSenderID: false, uniqueID: uniqueID, received: received, expires: expires,
      priority: priority, collapseID: "", payload: payload, content: content)
  }
}
