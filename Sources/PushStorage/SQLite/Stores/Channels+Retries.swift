import PushCore

/// Recognizes retries of messages.
extension Channels.State {
  /// The number of ids that are kept for a channel.
  static let idsOfChannel = 16

  /// Returns true if a message has the id of a recent message of its channel.
  func hasPublished(_ message: BroadcastMessage) -> Bool {
    channels[message.channel]?.message?.id == message.id
      || published[message.channel]?.contains(message.id) ?? false
  }

  /// Remembers the id of a message.
  mutating func notePublished(_ message: BroadcastMessage) {
    published[message.channel, default: []].append(message.id)
    if published[message.channel]?.count ?? 0 > Channels.State.idsOfChannel {
      published[message.channel]?.removeFirst()
    }
  }
}
