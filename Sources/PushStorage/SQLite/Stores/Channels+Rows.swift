import Foundation
import GRDB
package import PushCore
import Synchronization

/// The stored rows of channels, and changes by other gateways.
extension Channels {
  /// Sets the callbacks for changes by other gateways.
  ///
  /// - Parameters:
  ///   - published: called when a message was published.
  ///   - changed: called when devices subscribe to other channels than before.
  package func follow(
    published: @escaping @Sendable (BroadcastMessage) -> Void, changed: @escaping @Sendable (Set<DeviceID>) -> Void
  ) {
    follower.withLock { $0 = (published, changed) }
  }

  static let tables: Set = ["channel", "channel_message", "channel_subscription", "broadcast_off"]

  // MARK: Rows

  static func load(_ db: Database) throws -> ChannelTable {
    var state = ChannelTable()
    let off = try PreparedStatement(db, "SELECT app FROM broadcast_off")
    while try off.next() { state.off.insert(AppID(row: try off.integer(0))) }
    let channels = try PreparedStatement(db, "SELECT \(channelColumns) FROM channel")
    while try channels.next() { if let channel = try Channels.channel(channels) { state.add(channel) } }
    let messages = try PreparedStatement(db, "SELECT \(messageColumns) FROM channel_message")
    while try messages.next() {
      guard let id = ChannelID(bytes: messages.blob(0)), let channel = state.channels[id] else { continue }
      guard let message = try Channels.message(messages, of: channel) else { continue }
      state.channels[id]?.message = message
      // In a database with damaged rows, the stored message can be ahead of the number of its channel.
      state.channels[id]?.lastNumber = max(channel.lastNumber, message.number)
    }
    let subscriptions = try PreparedStatement(db, "SELECT device, channel, seen FROM channel_subscription")
    while try subscriptions.next() {
      guard let id = ChannelID(bytes: subscriptions.blob(1)), state.channels[id] != nil else { continue }
      let device = DeviceID(row: try subscriptions.integer(0))
      let seen = UInt64(try subscriptions.integer(2, in: ColumnBounds.progress))
      state.subscriptions[device, default: []].append(ChannelTable.Subscription(channel: id, seen: seen))
      state.channels[id]?.subscriptions += 1
    }
    return state
  }

  private static let channelColumns = "id, app, environment, storage_policy, created, deleted, last_number"

  private static func channel(_ row: PreparedStatement) throws -> BroadcastChannel? {
    guard let id = ChannelID(bytes: row.blob(0)) else { return nil }
    return BroadcastChannel(
      id: id, app: AppID(row: try row.integer(1)),
      environment: Environment(rawValue: try row.text(2)) ?? .development,
      policy: BroadcastChannel.StoragePolicy(rawValue: Int(try row.integer(3))) ?? .none,
      created: try row.integer(4, in: ColumnBounds.milliseconds),
      deleted: try row.optionalInteger(5, in: ColumnBounds.milliseconds),
      lastNumber: UInt64(try row.integer(6, in: ColumnBounds.progress)))
  }

  private static let messageColumns =
    "channel, number, request_id, unique_id, received, expires, priority, payload"

  private static func message(_ row: PreparedStatement, of channel: BroadcastChannel) throws -> BroadcastMessage? {
    guard let requestID = row.id(2), let uniqueID = row.id(3) else { return nil }
    return BroadcastMessage(
      channel: channel.id, app: channel.app, number: UInt64(try row.integer(1, in: ColumnBounds.number)),
      id: requestID, uniqueID: uniqueID, received: try row.integer(4, in: ColumnBounds.milliseconds),
      expires: try row.integer(5, in: ColumnBounds.seconds), priority: try row.priority(6), payload: row.blob(7))
  }

  // MARK: Changes by other gateways

  /// A subscription that another gateway has changed.
  fileprivate struct Change {
    var device: DeviceID
    var channel: ChannelID
    /// The number of the last message that the device has; nil if the subscription has ended.
    var seen: UInt64?
  }

  func adopt(_ changes: [RowChange], _ db: Database) throws {
    let ids = Set(
      changes.filter { $0.table == "channel" || $0.table == "channel_message" }
        .compactMap { ($0.key["id"] ?? $0.key["channel"])?.blob.flatMap { ChannelID(bytes: $0) } })
    let found = try ids.map { id in (id, try Channels.stored(id, db)) }
    let subscriptions = try changes.filter { $0.table == "channel_subscription" }.compactMap {
      try Channels.subscription($0, db)
    }
    let isOffChanged = changes.contains { $0.table == "broadcast_off" }
    let off =
      isOffChanged ? Set(try Int64.fetchAll(db, sql: "SELECT app FROM broadcast_off").map(AppID.init(row:))) : nil
    db.afterNextTransaction { [weak self] _ in self?.take(found, subscriptions, off: off) }
  }

  private static func stored(_ id: ChannelID, _ db: Database) throws -> BroadcastChannel? {
    let rows = try PreparedStatement(db, "SELECT \(channelColumns) FROM channel WHERE id = ?")
    let messages = try PreparedStatement(db, "SELECT \(messageColumns) FROM channel_message WHERE channel = ?")
    return try unsafe id.bytes.withUnsafeBytes { bytes in
      unsafe rows.bind(borrowed: bytes)
      guard try rows.next(), var channel = try Channels.channel(rows) else { return nil }
      unsafe messages.bind(borrowed: bytes)
      if try messages.next() { channel.message = try Channels.message(messages, of: channel) }
      return channel
    }
  }

  private static func subscription(_ change: RowChange, _ db: Database) throws -> Change? {
    if change.kind == .delete {
      guard let device = change.values["device"]?.integer,
        let channel = change.values["channel"]?.blob.flatMap({ ChannelID(bytes: $0) })
      else { return nil }
      return Change(device: DeviceID(row: device), channel: channel)
    }
    guard let number = change.key["id"]?.integer,
      let row = try Row.fetchOne(
        db, sql: "SELECT device, channel, seen FROM channel_subscription WHERE id = ?", arguments: [number]),
      let channel = ChannelID(bytes: Array(row["channel"] as Data))
    else { return nil }
    return Change(device: DeviceID(row: row["device"]), channel: channel, seen: UInt64(clamping: row["seen"] as Int64))
  }

  private func take(_ found: [(ChannelID, BroadcastChannel?)], _ subscriptions: [Change], off: Set<AppID>?) {
    let (published, changed) = state.withLock { state in
      let changed = Set(subscriptions.filter { state.take($0) }.map(\.device))
      let published = found.compactMap { state.take($0, as: $1) }
      for message in published { state.recent.add(message) }
      if let off { state.off = off }
      state.checkInvariants()
      return (published, changed)
    }
    guard let follower = follower.withLock({ $0 }) else { return }
    if !changed.isEmpty { follower.changed(changed) }
    for message in published { follower.published(message) }
  }
}

extension ChannelTable {
  /// Takes over the current state of a subscription.
  ///
  /// - Returns: true if the device subscribes to a new channel, or to one fewer.
  fileprivate mutating func take(_ change: Channels.Change) -> Bool {
    let index = subscriptions[change.device]?.firstIndex { $0.channel == change.channel }
    switch (index, change.seen) {
    case (let index?, let seen?):
      let known = subscriptions[change.device]?[index].seen ?? 0
      subscriptions[change.device]?[index].seen = max(known, seen)
      return false
    case (let index?, nil):
      subscriptions[change.device]?.remove(at: index)
      if subscriptions[change.device]?.isEmpty == true { subscriptions[change.device] = nil }
      channels[change.channel]?.subscriptions -= 1
      return true
    case (nil, let seen?):
      subscriptions[change.device, default: []].append(ChannelTable.Subscription(channel: change.channel, seen: seen))
      channels[change.channel]?.subscriptions += 1
      return true
    case (nil, nil): return false
    }
  }

  /// Takes over the current state of a channel.
  ///
  /// - Returns: the channel's message if it is new.
  fileprivate mutating func take(_ id: ChannelID, as channel: BroadcastChannel?) -> BroadcastMessage? {
    let before = channels[id]
    if let before { byApp[ChannelTable.Key(app: before.app, environment: before.environment)]?.remove(id) }
    if channel?.deleted != nil || channel == nil { recent.remove(id) }
    guard var channel else {
      channels[id] = nil
      return nil
    }
    channel.subscriptions = before?.subscriptions ?? subscriptions.values.count { $0.contains { $0.channel == id } }
    add(channel)
    return channel.message.flatMap { $0.number > before?.lastNumber ?? 0 ? $0 : nil }
  }
}
