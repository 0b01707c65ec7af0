import Foundation
import GRDB
package import Logging
package import PushCore
import Synchronization

/// Broadcast channels, who subscribes to them, and the most recent message of each that stores it: all of it in memory,
/// each change on disk first.
///
/// Which message a device has is the exception: it is written behind, so that a crash may have a device sent once more
/// what it had acknowledged a moment before.
package final class Channels: Sendable {
  /// Why something can't be done with a channel.
  package enum Failure: Error {
    /// There is none of this name, or it is of another app or environment.
    case unknown
    case deleted
    /// The app has as many as it may have.
    case full
    /// The app may not broadcast.
    case off
  }

  struct Key: Hashable {
    var app: AppID
    var environment: Environment
  }

  struct Subscription {
    var channel: ChannelID
    /// The number of the last message that the device has.
    var seen: UInt64
  }

  struct State {
    var channels: [ChannelID: BroadcastChannel] = [:]
    /// Those that are there, by app.
    var byApp: [Key: Set<ChannelID>] = [:]
    /// A device has few, so that looking through them costs less than a table for each.
    var subscriptions: [DeviceID: [Subscription]] = [:]
    /// Apps that may not broadcast.
    var off: Set<AppID> = []
    /// What is not on disk yet.
    var unsettled: Set<Acknowledgement> = []
    var isSettling = false

    /// The number up to which a device has a channel's messages; 0 when it does not subscribe any longer.
    func seen(_ one: Acknowledgement) -> UInt64 {
      subscriptions[one.device]?.first { $0.channel == one.channel }?.seen ?? 0
    }
  }

  struct Acknowledgement: Hashable {
    var device: DeviceID
    var channel: ChannelID
  }

  private let store: SQLiteStore
  private let logger: Logger
  let state: Mutex<State>
  /// Hears what other gateways have made of channels.
  let follower = Mutex<Follower?>(nil)

  /// How long acknowledgements are collected.
  private static let settleTime = Duration.seconds(1)
  /// How long a deleted channel is known as such, in milliseconds.
  package static let memoryOfDeleted: Int64 = 30 * 86_400_000

  /// Reads everything.
  package init(store: SQLiteStore, logger: Logger) throws(StoreError) {
    self.store = store
    self.logger = logger
    do {
      state = Mutex(try store.pool.read(Channels.load))
    } catch {
      throw SQLiteStore.explain(error, path: store.path)
    }
    store.replica.onChange(of: Channels.tables) { [weak self] in try self?.adopt($1, $0) }
  }

  /// What does not fit; nil when all does.
  package func brokenInvariant() -> String? { state.withLock { $0.brokenInvariant() } }

  // MARK: Looking

  /// A channel, also one that was deleted.
  package func channel(_ id: ChannelID) -> BroadcastChannel? { state.withLock { $0.channels[id] } }

  /// An app's channel that is there.
  ///
  /// - Throws: ``Failure/unknown``, ``Failure/deleted``.
  package func channel(_ id: ChannelID, app: AppID, environment: Environment) throws(Failure) -> BroadcastChannel {
    guard let channel = channel(id), channel.app == app, channel.environment == environment else { throw .unknown }
    if channel.deleted != nil { throw .deleted }
    return channel
  }

  /// An app's channels in the order of their making. They are sorted: not for a loop to wait for.
  package func channels(of app: AppID, environment: Environment) -> [BroadcastChannel] {
    state.withLock { state in
      (state.byApp[Key(app: app, environment: environment)] ?? []).compactMap { state.channels[$0] }
    }.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
  }

  /// Whether an app may broadcast.
  package func isOn(_ app: AppID) -> Bool { state.withLock { !$0.off.contains(app) } }

  /// A channel's most recent message, unless its time is over at `now`, in seconds since 1970.
  package func message(of channel: ChannelID, now: Int64) -> BroadcastMessage? {
    state.withLock { $0.channels[channel]?.message }.flatMap { $0.expires > now ? $0 : nil }
  }

  /// The channels of a device, and the number of the last message of each that it has.
  package func subscriptions(of device: DeviceID) -> [(channel: ChannelID, seen: UInt64)] {
    state.withLock { $0.subscriptions[device]?.map { ($0.channel, $0.seen) } ?? [] }
  }

  /// Whether a device subscribes to a channel now.
  package func isSubscribed(_ device: DeviceID, to channel: ChannelID) -> Bool {
    state.withLock { $0.subscriptions[device]?.contains { $0.channel == channel } ?? false }
  }

  // MARK: Channels

  /// Makes channels, all or none.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Throws: ``Failure/full``, ``Failure/off``.
  package func create(
    _ count: Int = 1, app: AppID, environment: Environment, policy: BroadcastChannel.StoragePolicy, now: Int64
  ) async throws -> [ChannelID] {
    try await write { [self] db in
      try state.withLock { state throws in
        if state.off.contains(app) { throw Failure.off }
        let present = state.byApp[Key(app: app, environment: environment)]?.count ?? 0
        guard present + count <= Limits.maximumChannels else { throw Failure.full }
      }
      let made = (0..<count).map { _ in
        BroadcastChannel(id: .random(), app: app, environment: environment, policy: policy, created: now)
      }
      let insert = try db.makeStatement(
        sql:
          "INSERT INTO channel (id, app, environment, storage_policy, created, last_number) VALUES (?, ?, ?, ?, ?, 0)")
      for channel in made {
        try insert.execute(arguments: [
          Data(channel.id.bytes), app.row, environment.rawValue, policy.rawValue, now,
        ])
      }
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          for channel in made { state.add(channel) }
          state.checkInvariants()
        }
      }
      return made.map(\.id)
    }
  }

  /// Deletes channels with what was stored and who subscribed; they are known as deleted for a while.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Returns: the devices that subscribed to one.
  @discardableResult
  package func delete(_ ids: [ChannelID], now: Int64) async throws -> Set<DeviceID> {
    try await write { [self] db in
      for id in ids {
        try db.execute(sql: "UPDATE channel SET deleted = ? WHERE id = ?", arguments: [now, Data(id.bytes)])
        try db.execute(sql: "DELETE FROM channel_message WHERE channel = ?", arguments: [Data(id.bytes)])
        try db.execute(sql: "DELETE FROM channel_subscription WHERE channel = ?", arguments: [Data(id.bytes)])
      }
      let gone = Set(ids)
      let devices = state.withLock { state in
        Set(state.subscriptions.filter { $0.value.contains { gone.contains($0.channel) } }.keys)
      }
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          for id in ids { state.markDeleted(id, now: now) }
          for device in devices {
            state.subscriptions[device]?.removeAll { gone.contains($0.channel) }
            if state.subscriptions[device]?.isEmpty == true { state.subscriptions[device] = nil }
          }
          state.checkInvariants()
        }
      }
      return devices
    }
  }

  /// Says whether an app may broadcast. Where it may not, all its channels are deleted.
  ///
  /// - Returns: the devices that subscribed to one.
  @discardableResult
  package func setOn(_ isOn: Bool, app: AppID, now: Int64) async throws -> Set<DeviceID> {
    let sql = isOn ? "DELETE FROM broadcast_off WHERE app = ?" : "INSERT OR IGNORE INTO broadcast_off (app) VALUES (?)"
    try await write { [self] db in
      try db.execute(sql: sql, arguments: [app.row])
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          if isOn { state.off.remove(app) } else { state.off.insert(app) }
        }
      }
    }
    if isOn { return [] }
    let all = state.withLock { state in
      state.byApp.filter { $0.key.app == app }.flatMap(\.value)
    }
    return try await delete(all, now: now)
  }

  /// Forgets an app whose channels are deleted, and these with it.
  package func forget(_ app: AppID) async throws {
    try await write { [self] db in
      let gone = state.withLock { state in
        state.channels.values.filter { $0.app == app && $0.deleted != nil }.map(\.id)
      }
      let delete = try db.makeStatement(sql: "DELETE FROM channel WHERE id = ?")
      for id in gone { try delete.execute(arguments: [Data(id.bytes)]) }
      try db.execute(sql: "DELETE FROM broadcast_off WHERE app = ?", arguments: [app.row])
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          for id in gone { state.channels[id] = nil }
          state.byApp = state.byApp.filter { $0.key.app != app || !$0.value.isEmpty }
          state.off.remove(app)
          state.checkInvariants()
        }
      }
    }
  }

  // MARK: Messages

  /// Stores a message as its channel's most recent; when this returns it is on disk.
  ///
  /// - Parameter handOver: called with the numbered message, in the order of the numbers, once it is on disk.
  /// - Throws: ``Failure/deleted``, ``StoreError``.
  package func publish(_ message: BroadcastMessage, handOver: @escaping @Sendable (BroadcastMessage) -> Void)
    async throws
  {
    try await write { [self] db in
      let channel = state.withLock { $0.channels[message.channel] }
      guard let channel, channel.deleted == nil else { throw Failure.deleted }
      let message = message.numbered(channel.lastNumber + 1)
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO channel_message
          (channel, number, request_id, unique_id, received, expires, priority, payload)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          Data(message.channel.bytes), Int64(message.number), Data(message.id.stored), Data(message.uniqueID.stored),
          message.received, message.expires, Int64(message.priority), Data(message.payload),
        ])
      try db.execute(
        sql: "UPDATE channel SET last_number = ? WHERE id = ?",
        arguments: [Int64(message.number), Data(message.channel.bytes)])
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          state.channels[message.channel]?.lastNumber = message.number
          state.channels[message.channel]?.message = message
          state.checkInvariants()
        }
        handOver(message)
      }
    }
  }

  /// Notes that a device has a message; the disk follows.
  ///
  /// - Returns: whether that is news.
  package func acknowledge(_ device: DeviceID, _ channel: ChannelID, through number: UInt64) -> Bool {
    let (isNews, mustSettle) = state.withLock { state -> (Bool, Bool) in
      guard let place = state.subscriptions[device]?.firstIndex(where: { $0.channel == channel }),
        let seen = state.subscriptions[device]?[place].seen, number > seen,
        number <= state.channels[channel]?.lastNumber ?? 0
      else { return (false, false) }
      state.subscriptions[device]?[place].seen = number
      state.unsettled.insert(Acknowledgement(device: device, channel: channel))
      defer { state.isSettling = true }
      return (true, !state.isSettling)
    }
    if mustSettle {
      Task { [self] in
        try? await Task.sleep(for: Channels.settleTime)
        await settle()
      }
    }
    return isNews
  }

  /// Writes what was acknowledged, slice by slice; returns when all of it is written, also what another call took.
  package func settle() async {
    while true {
      let slice = state.withLock { state -> [(one: Acknowledgement, seen: UInt64)]? in
        if state.unsettled.isEmpty {
          state.isSettling = false
          return nil
        }
        return state.unsettled.prefix(Limits.subscriptionSlice).map { ($0, state.seen($0)) }
      }
      guard let slice else { return }
      do {
        try await write { db in
          let update = try db.makeStatement(
            sql: "UPDATE channel_subscription SET seen = ? WHERE device = ? AND channel = ?")
          for (one, seen) in slice where seen > 0 {
            try update.execute(arguments: [Int64(seen), one.device.row, Data(one.channel.bytes)])
          }
        }
      } catch {
        logger.log(
          .channelProgressNotStored, "the devices' positions in channels were not stored: \(error)",
          metadata: ["rows": "\(slice.count)"])
      }
      // What was acknowledged meanwhile is not written yet.
      state.withLock { state in
        for (one, seen) in slice where state.seen(one) == seen { state.unsettled.remove(one) }
      }
    }
  }

  /// Forgets messages whose time is over, and channels that were deleted long ago.
  ///
  /// - Parameter now: milliseconds since 1970.
  package func expire(now: Int64) async {
    let (ended, forgotten) = state.withLock { state in
      (
        state.channels.values.filter { $0.message.map { $0.expires <= now / 1000 } ?? false }.map(\.id),
        state.forgettable(now: now)
      )
    }
    guard !ended.isEmpty || !forgotten.isEmpty else { return }
    do {
      try await write { [self] db in
        try db.execute(sql: "DELETE FROM channel_message WHERE expires <= ?", arguments: [now / 1000])
        for id in forgotten {
          try db.execute(sql: "DELETE FROM channel WHERE id = ?", arguments: [Data(id.bytes)])
        }
        db.afterNextTransaction { [self] _ in
          state.withLock { state in
            for id in ended where state.channels[id]?.message.map({ $0.expires <= now / 1000 }) ?? false {
              state.channels[id]?.message = nil
            }
            for id in forgotten { state.channels[id] = nil }
            state.checkInvariants()
          }
        }
      }
    } catch {
      logger.log(.broadcastsNotRemoved, "ended broadcasts were not removed: \(error)")
    }
  }

  // MARK: Subscriptions

  /// Has devices subscribe to a channel; one that does already stays as it is.
  ///
  /// - Returns: those that did not subscribe before.
  /// - Throws: ``Failure/unknown``, ``Failure/deleted``, a refusal when a device has too many.
  @discardableResult
  package func subscribe(_ devices: [DeviceID], to id: ChannelID) async throws -> [DeviceID] {
    try await write { [self] db in
      let added = try state.withLock { state throws in
        guard let channel = state.channels[id] else { throw Failure.unknown }
        guard channel.deleted == nil else { throw Failure.deleted }
        let added = devices.filter { device in
          !(state.subscriptions[device]?.contains { $0.channel == id } ?? false)
        }
        guard added.allSatisfy({ state.subscriptions[$0]?.count ?? 0 < Limits.maximumDeviceChannels }) else {
          throw RegistrationRefusal(
            kind: .conflict, description: "a device subscribes to at most \(Limits.maximumDeviceChannels) channels")
        }
        return added
      }
      let insert = try db.makeStatement(
        sql: "INSERT OR IGNORE INTO channel_subscription (device, channel, seen) VALUES (?, ?, 0)")
      for device in added { try insert.execute(arguments: [device.row, Data(id.bytes)]) }
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          for device in added {
            state.subscriptions[device, default: []].append(Subscription(channel: id, seen: 0))
          }
          state.channels[id]?.subscriptions += added.count
          state.checkInvariants()
        }
      }
      return added
    }
  }

  /// Ends subscriptions of a device: to one channel, to those of an app, or to all.
  package func unsubscribe(
    _ devices: [DeviceID], where fits: @escaping @Sendable (BroadcastChannel) -> Bool = { _ in true }
  )
    async throws
  {
    try await write { [self] db in
      let gone = state.withLock { state in
        devices.flatMap { device in
          (state.subscriptions[device] ?? []).filter { state.channels[$0.channel].map(fits) ?? true }
            .map { Acknowledgement(device: device, channel: $0.channel) }
        }
      }
      if gone.isEmpty { return }
      let delete = try db.makeStatement(sql: "DELETE FROM channel_subscription WHERE device = ? AND channel = ?")
      for one in gone { try delete.execute(arguments: [one.device.row, Data(one.channel.bytes)]) }
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          for one in gone {
            state.subscriptions[one.device]?.removeAll { $0.channel == one.channel }
            if state.subscriptions[one.device]?.isEmpty == true { state.subscriptions[one.device] = nil }
            state.channels[one.channel]?.subscriptions -= 1
          }
          state.checkInvariants()
        }
      }
    }
  }

  // MARK: Inside

  private func write<Value: Sendable>(_ change: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    do {
      return try await store.write(change)
    } catch let error as DatabaseError {
      throw SQLiteStore.explain(error, path: store.path)
    }
  }

  /// Reads all of it as a start does, and keeps nothing.
  static func checkRows(_ db: Database) throws { _ = try load(db) }
}

extension Channels.State {
  mutating func add(_ channel: BroadcastChannel) {
    channels[channel.id] = channel
    guard channel.deleted == nil else { return }
    byApp[Channels.Key(app: channel.app, environment: channel.environment), default: []].insert(channel.id)
  }

  /// Channels that were deleted long ago, or more of them than are remembered.
  func forgettable(now: Int64) -> [ChannelID] {
    let deleted = channels.values.compactMap { channel in channel.deleted.map { (channel.id, $0) } }
    let tooMany = deleted.count - Limits.maximumDeletedChannels
    if tooMany > 0 { return deleted.sorted { $0.1 < $1.1 }.prefix(tooMany).map(\.0) }
    return deleted.filter { $0.1 <= now - Channels.memoryOfDeleted }.map(\.0)
  }

  mutating func markDeleted(_ id: ChannelID, now: Int64) {
    guard let channel = channels[id] else { return }
    byApp[Channels.Key(app: channel.app, environment: channel.environment)]?.remove(id)
    channels[id]?.deleted = now
    channels[id]?.message = nil
    channels[id]?.subscriptions = 0
  }
}

// MARK: Invariants

extension Channels.State {
  /// What does not fit; nil when all does.
  func brokenInvariant() -> String? {
    var counts: [ChannelID: Int] = [:]
    for (device, list) in subscriptions {
      if list.isEmpty { return "device \(device.row) has an empty subscription list" }
      if Set(list.map(\.channel)).count < list.count { return "device \(device.row) subscribes twice" }
      for one in list { counts[one.channel, default: 0] += 1 }
    }
    if let lost = counts.keys.first(where: { channels[$0] == nil }) { return "\(lost) is no channel" }
    for channel in channels.values {
      let key = Channels.Key(app: channel.app, environment: channel.environment)
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

  /// Ends a debug build in which something does not fit; a release build has no trace of this. What would take long to
  /// look through is not, since this follows each change.
  func checkInvariants() {
    assert(channels.count + subscriptions.count > 1000 || brokenInvariant() == nil, brokenInvariant() ?? "")
  }
}
