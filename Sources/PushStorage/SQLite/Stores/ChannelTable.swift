import PushCore

/// The channels, subscriptions and most recent messages in memory.
struct ChannelTable {
  struct Key: Hashable {
    var app: AppID
    var environment: Environment
  }

  struct Subscription {
    var channel: ChannelID
    /// The number of the last message that the device has.
    var seen: UInt64
  }

  struct Acknowledgement: Hashable {
    var device: DeviceID
    var channel: ChannelID
  }

  /// The time that a deleted channel is known as deleted, in milliseconds.
  static let memoryOfDeleted: Int64 = 30 * 86_400_000

  var channels: [ChannelID: BroadcastChannel] = [:]
  /// The channels that are not deleted, by app and environment.
  var byApp: [Key: Set<ChannelID>] = [:]
  /// The subscriptions of each device. A device has few: a linear search costs less than a table for each device.
  var subscriptions: [DeviceID: [Subscription]] = [:]
  /// The messages that were published since the start.
  var recent = RecentBroadcasts()
  /// The apps that may not broadcast.
  var off: Set<AppID> = []
  /// The acknowledgements that are not on disk yet.
  var unsavedAcknowledgements: Set<Acknowledgement> = []
  var isSettling = false

  /// Returns the number up to which a device has a channel's messages; 0 if it no longer subscribes.
  func seen(_ one: Acknowledgement) -> UInt64 {
    subscriptions[one.device]?.first { $0.channel == one.channel }?.seen ?? 0
  }
}

extension ChannelTable {
  mutating func add(_ channel: BroadcastChannel) {
    channels[channel.id] = channel
    guard channel.deleted == nil else { return }
    byApp[Key(app: channel.app, environment: channel.environment), default: []].insert(channel.id)
  }

  /// Returns the channels that were deleted long ago. If more than ``Limits/maximumDeletedChannels`` are deleted,
  /// returns the oldest ones beyond the limit.
  func forgettable(now: Int64) -> [ChannelID] {
    let deleted = channels.values.compactMap { channel in channel.deleted.map { (channel.id, $0) } }
    let tooMany = deleted.count - Limits.maximumDeletedChannels
    if tooMany > 0 { return deleted.sorted { $0.1 < $1.1 }.prefix(tooMany).map(\.0) }
    return deleted.filter { $0.1 <= now - ChannelTable.memoryOfDeleted }.map(\.0)
  }

  mutating func markDeleted(_ id: ChannelID, now: Int64) {
    guard let channel = channels[id] else { return }
    byApp[Key(app: channel.app, environment: channel.environment)]?.remove(id)
    channels[id]?.deleted = now
    channels[id]?.message = nil
    channels[id]?.subscriptions = 0
    recent.remove(id)
  }
}

// MARK: Invariants

extension ChannelTable {
  /// Returns a description of the first violated invariant; nil if all hold.
  func brokenInvariant() -> String? {
    var counts: [ChannelID: Int] = [:]
    for (device, list) in subscriptions {
      if list.isEmpty { return "device \(device.row) has an empty subscription list" }
      if Set(list.map(\.channel)).count < list.count { return "device \(device.row) subscribes twice" }
      for one in list { counts[one.channel, default: 0] += 1 }
    }
    if let lost = counts.keys.first(where: { channels[$0] == nil }) { return "\(lost) is no channel" }
    for channel in channels.values {
      let key = Key(app: channel.app, environment: channel.environment)
      let isListed = byApp[key]?.contains(channel.id) == true
      if isListed != (channel.deleted == nil) { return "\(channel.id) is both listed and deleted, or not listed" }
      if channel.subscriptions != counts[channel.id] ?? 0 {
        return "\(channel.id) counts \(channel.subscriptions) subscriptions of \(counts[channel.id] ?? 0)"
      }
      guard let message = channel.message else { continue }
      if channel.deleted != nil { return "\(channel.id) is deleted, and keeps a message" }
      if message.number > channel.lastNumber { return "\(channel.id) will give out \(message.number) again" }
    }
    return nil
  }

  /// Stops a debug build if an invariant is violated; a release build contains no check. A large state is not
  /// checked, because the check follows each change.
  func checkInvariants() {
    assert(channels.count + subscriptions.count > 1000 || brokenInvariant() == nil, brokenInvariant() ?? "")
  }
}
