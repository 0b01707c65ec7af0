package import NATSClient
package import PushCore
package import PushStorage

/// Messages between gateways for content that is never stored: pushes with `apns-expiration: 0`, and broadcasts of
/// channels without storage.
package enum EphemeralMessages {
  package typealias Message = (headers: [(name: String, value: String)], body: [UInt8])

  package static func message(of push: StoredPush) -> Message {
    // Headers for a stream are left out.
    (PushHeaders.write(push, now: push.expires).filter { !$0.name.hasPrefix("Nats-") }, push.payload)
  }

  /// Reads a push.
  ///
  /// - Returns: nil when the message is not a push.
  package static func push(of message: NATSMessage, to device: DeviceID) -> StoredPush? {
    PushHeaders.read(message.headers, message.body, of: device)
  }

  package static func message(of broadcast: BroadcastMessage) -> Message {
    let headers = [
      (name: "Channel", value: broadcast.channel.description), ("App", "\(broadcast.app.row)"),
      ("Id", broadcast.id.description), ("Unique-Id", broadcast.uniqueID.description),
      ("Received", "\(broadcast.received)"), ("Priority", "\(broadcast.priority)"),
    ]
    return (headers, broadcast.payload)
  }

  /// Reads a broadcast.
  ///
  /// - Returns: nil when the message is not a broadcast, or a number is beyond its ``ColumnBounds``.
  package static func broadcast(of message: NATSMessage) -> BroadcastMessage? {
    guard let channel = message.header("Channel").flatMap({ ChannelID($0.utf8) }),
      let app = PushHeaders.number(message.header("App"), in: ColumnBounds.app),
      let id = message.header("Id").flatMap({ APNSID($0) }),
      let unique = message.header("Unique-Id").flatMap({ APNSID($0) }),
      let received = PushHeaders.number(message.header("Received"), in: ColumnBounds.milliseconds),
      let priority = message.header("Priority").flatMap({ UInt8($0) })
    else { return nil }
    return BroadcastMessage(
      channel: channel, app: AppID(row: app), number: 0, id: id, uniqueID: unique, received: received, expires: 0,
      priority: priority, payload: message.body)
  }
}
