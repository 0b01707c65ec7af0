import PushCore

/// The ids of the last messages of each channel, so that a retry of a message is recognized.
struct RecentBroadcasts: Sendable {
  /// The number of ids that are kept for a channel.
  static let idsOfChannel = 16

  private var ids: [ChannelID: [APNSID]] = [:]

  func contains(_ message: BroadcastMessage) -> Bool { ids[message.channel]?.contains(message.id) ?? false }

  mutating func add(_ message: BroadcastMessage) {
    ids[message.channel, default: []].append(message.id)
    if ids[message.channel]?.count ?? 0 > RecentBroadcasts.idsOfChannel { ids[message.channel]?.removeFirst() }
  }

  mutating func remove(_ channel: ChannelID) { ids[channel] = nil }
}
