import Foundation
import GRDB
package import Logging
package import PushCore
import Synchronization

/// Broadcast channels, their subscriptions, and the most recent message of each channel that stores it: all in
/// memory, each change on disk first.
///
/// The progress of devices is the exception: it is written later, so that after a crash a device may receive a
/// message again that it acknowledged shortly before.
package final class Channels: Sendable {
  /// The reason why an operation on a channel failed.
  package enum Failure: Error {
    /// No channel has this id, or it belongs to another app or environment.
    case unknown
    case deleted
    /// The app has reached the maximum number of channels.
    case full
    /// The app may not broadcast.
    case off
  }

  private let store: SQLiteStore
  private let logger: Logger
  let state: Mutex<ChannelTable>
  /// The callbacks for changes that other gateways make to channels.
  let follower = Mutex<
    (published: @Sendable (BroadcastMessage) -> Void, changed: @Sendable (Set<DeviceID>) -> Void)?
  >(nil)

  /// The time that acknowledgements are collected before they are written.
  private static let settleTime = Duration.seconds(1)
  /// Reads all channels into memory.
  package init(store: SQLiteStore, logger: Logger) throws(StoreError) {
    self.store = store
    self.logger = logger
    state = Mutex(try store.load(Channels.load))
    store.replica.onChange(of: Channels.tables) { [weak self] in try self?.adopt($1, $0) }
  }

  /// Returns a description of the first violated invariant; nil if all hold.
  package func brokenInvariant() -> String? { state.withLock { $0.brokenInvariant() } }

  // MARK: Lookups

  /// Returns a channel, also a deleted one.
  package func channel(_ id: ChannelID) -> BroadcastChannel? { state.withLock { $0.channels[id] } }

  /// Returns a channel of an app that is not deleted.
  ///
  /// - Throws: ``Failure/unknown``, ``Failure/deleted``.
  package func channel(_ id: ChannelID, app: AppID, environment: Environment) throws(Failure) -> BroadcastChannel {
    guard let channel = channel(id), channel.app == app, channel.environment == environment else { throw .unknown }
    if channel.deleted != nil { throw .deleted }
    return channel
  }

  /// Returns the channels of an app in the order of their creation. Because of the sort, no event loop may call this.
  package func channels(of app: AppID, environment: Environment) -> [BroadcastChannel] {
    state.withLock { state in
      (state.byApp[ChannelTable.Key(app: app, environment: environment)] ?? []).compactMap { state.channels[$0] }
    }.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
  }

  /// Returns true if an app may broadcast.
  package func isOn(_ app: AppID) -> Bool { state.withLock { !$0.off.contains(app) } }

  /// Returns the most recent message of a channel, unless it has expired at `now`, in seconds since 1970.
  package func message(of channel: ChannelID, now: Int64) -> BroadcastMessage? {
    state.withLock { $0.channels[channel]?.message }.flatMap { $0.expires > now ? $0 : nil }
  }

  /// Returns the channels of a device, each with the number of the last message that the device has.
  package func subscriptions(of device: DeviceID) -> [(channel: ChannelID, seen: UInt64)] {
    state.withLock { $0.subscriptions[device]?.map { ($0.channel, $0.seen) } ?? [] }
  }

  package func isSubscribed(_ device: DeviceID, to channel: ChannelID) -> Bool {
    state.withLock { $0.subscriptions[device]?.contains { $0.channel == channel } ?? false }
  }

  // MARK: Channels

  /// Creates channels, all or none.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Throws: ``Failure/full``, ``Failure/off``.
  package func create(
    _ count: Int = 1, app: AppID, environment: Environment, policy: BroadcastChannel.StoragePolicy, now: Int64
  ) async throws -> [ChannelID] {
    let ids = (0..<count).map { _ in ChannelID.random() }
    return try await create(ids, app: app, environment: environment, policy: policy, now: now)
  }

  /// Creates the channels with these ids that do not exist, all or none.
  ///
  /// - Parameters:
  ///   - ids: different ids. A channel that exists or was deleted stays as it is, also one of another app.
  ///   - now: milliseconds since 1970.
  /// - Returns: the ids of the new channels.
  /// - Throws: ``Failure/full``, ``Failure/off``.
  @inline(never)
  @discardableResult
  package func create(
    _ ids: [ChannelID], app: AppID, environment: Environment, policy: BroadcastChannel.StoragePolicy, now: Int64
  ) async throws -> [ChannelID] {
    try await store.write { [self] db in
      let missing = try state.withLock { state throws in
        if state.off.contains(app) { throw Failure.off }
        let missing = ids.filter { state.channels[$0] == nil }
        let present = state.byApp[ChannelTable.Key(app: app, environment: environment)]?.count ?? 0
        guard present + missing.count <= Limits.maximumChannels else { throw Failure.full }
        return missing
      }
      let made = missing.map {
        BroadcastChannel(id: $0, app: app, environment: environment, policy: policy, created: now)
      }
      let insert = try db.makeStatement(
        sql:
          "INSERT INTO channel (id, app, environment, storage_policy, created, last_number) VALUES (?, ?, ?, ?, ?, 0)")
      for channel in made {
        try insert.execute(arguments: [
          Data(channel.id.bytes), app.row, environment.rawValue, policy.rawValue, now,
        ])
      }
      afterCommit(db) { state in for channel in made { state.add(channel) } }
      return made.map(\.id)
    }
  }

  /// Deletes channels with their messages and subscriptions. They are known as deleted for ``ChannelTable/memoryOfDeleted``.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Returns: the devices that subscribed to one of them.
  @inline(never)
  @discardableResult
  package func delete(_ ids: [ChannelID], now: Int64) async throws -> Set<DeviceID> {
    try await store.write { [self] db in
      for id in ids {
        try db.execute(sql: "UPDATE channel SET deleted = ? WHERE id = ?", arguments: [now, Data(id.bytes)])
        try db.execute(sql: "DELETE FROM channel_message WHERE channel = ?", arguments: [Data(id.bytes)])
        try db.execute(sql: "DELETE FROM channel_subscription WHERE channel = ?", arguments: [Data(id.bytes)])
      }
      let gone = Set(ids)
      let devices = state.withLock { state in
        Set(state.subscriptions.filter { $0.value.contains { gone.contains($0.channel) } }.keys)
      }
      afterCommit(db) { state in
        for id in ids { state.markDeleted(id, now: now) }
        for device in devices {
          state.subscriptions[device]?.removeAll { gone.contains($0.channel) }
          if state.subscriptions[device]?.isEmpty == true { state.subscriptions[device] = nil }
        }
      }
      return devices
    }
  }

  /// Sets if an app may broadcast. If it may not, all its channels are deleted.
  ///
  /// - Returns: the devices that subscribed to one of them.
  @inline(never)
  @discardableResult
  package func setOn(_ isOn: Bool, app: AppID, now: Int64) async throws -> Set<DeviceID> {
    let sql = isOn ? "DELETE FROM broadcast_off WHERE app = ?" : "INSERT OR IGNORE INTO broadcast_off (app) VALUES (?)"
    try await store.write { [self] db in
      try db.execute(sql: sql, arguments: [app.row])
      afterCommit(db) { state in if isOn { state.off.remove(app) } else { state.off.insert(app) } }
    }
    if isOn { return [] }
    let all = state.withLock { state in
      state.byApp.filter { $0.key.app == app }.flatMap(\.value)
    }
    return try await delete(all, now: now)
  }

  /// Removes an app whose channels are deleted, and the records of these channels.
  package func forget(_ app: AppID) async throws {
    try await store.write { [self] db in
      let gone = state.withLock { state in
        state.channels.values.filter { $0.app == app && $0.deleted != nil }.map(\.id)
      }
      let delete = try db.makeStatement(sql: "DELETE FROM channel WHERE id = ?")
      for id in gone { try delete.execute(arguments: [Data(id.bytes)]) }
      try db.execute(sql: "DELETE FROM broadcast_off WHERE app = ?", arguments: [app.row])
      afterCommit(db) { state in
        for id in gone { state.channels[id] = nil }
        state.byApp = state.byApp.filter { $0.key.app != app || !$0.value.isEmpty }
        state.off.remove(app)
      }
    }
  }

  /// Changes the state in memory when the transaction is committed.
  private func afterCommit(_ db: Database, _ change: @escaping @Sendable (inout ChannelTable) -> Void) {
    db.afterNextTransaction { [self] _ in
      state.withLock { state in
        change(&state)
        state.checkInvariants()
      }
    }
  }

  // MARK: Messages

  /// Stores a message as the most recent one of its channel. The message is on disk when this returns.
  ///
  /// A message with the id of a recent message of the channel is a retry, and changes nothing: the gateway of the first
  /// request may have failed before it answered. All gateways of a cluster compare with the same messages, because a
  /// change is repeated after those of other gateways.
  ///
  /// - Parameter handOver: called with the numbered message, in the order of the numbers, when it is on disk.
  /// - Throws: ``Failure/deleted``, ``StoreError``.
  package func publish(_ message: BroadcastMessage, handOver: @escaping @Sendable (BroadcastMessage) -> Void)
    async throws
  {
    try await store.write { [self] db in
      let channel = state.withLock { $0.channels[message.channel] }
      guard let channel, channel.deleted == nil else { throw Failure.deleted }
      if channel.message?.id == message.id || state.withLock({ $0.recent.contains(message) }) { return }
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
          state.recent.add(message)
          state.checkInvariants()
        }
        handOver(message)
      }
    }
  }

  /// Records that a device has a message. The disk is written later.
  ///
  /// - Returns: true if this is new.
  package func acknowledge(_ device: DeviceID, _ channel: ChannelID, through number: UInt64) -> Bool {
    let (isNews, mustSettle) = state.withLock { state -> (Bool, Bool) in
      guard let place = state.subscriptions[device]?.firstIndex(where: { $0.channel == channel }),
        let seen = state.subscriptions[device]?[place].seen, number > seen,
        number <= state.channels[channel]?.lastNumber ?? 0
      else { return (false, false) }
      state.subscriptions[device]?[place].seen = number
      state.unsavedAcknowledgements.insert(ChannelTable.Acknowledgement(device: device, channel: channel))
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

  /// Writes the acknowledgements to disk in slices. Returns when all are written, also the ones that another call
  /// took, or after a write has failed. After a failure they are kept, and the next acknowledgement starts another
  /// attempt.
  package func settle() async {
    while true {
      let slice = state.withLock { state -> [(one: ChannelTable.Acknowledgement, seen: UInt64)]? in
        if state.unsavedAcknowledgements.isEmpty {
          state.isSettling = false
          return nil
        }
        return state.unsavedAcknowledgements.prefix(Limits.subscriptionSlice).map { ($0, state.seen($0)) }
      }
      guard let slice else { return }
      do {
        try await store.write { db in
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
        return state.withLock { $0.isSettling = false }
      }
      // Acknowledgements that changed during the write stay unsaved.
      state.withLock { state in
        for (one, seen) in slice where state.seen(one) == seen { state.unsavedAcknowledgements.remove(one) }
      }
    }
  }

  /// Removes messages that have expired, and the records of channels that were deleted long ago.
  ///
  /// - Parameter now: milliseconds since 1970.
  @inline(never)
  package func expire(now: Int64) async {
    let (ended, forgotten) = state.withLock { state in
      (
        state.channels.values.filter { $0.message.map { $0.expires <= now / 1000 } ?? false }.map(\.id),
        state.forgettable(now: now)
      )
    }
    guard !ended.isEmpty || !forgotten.isEmpty else { return }
    do {
      try await store.write { [self] db in
        try db.execute(sql: "DELETE FROM channel_message WHERE expires <= ?", arguments: [now / 1000])
        for id in forgotten {
          try db.execute(sql: "DELETE FROM channel WHERE id = ?", arguments: [Data(id.bytes)])
        }
        afterCommit(db) { state in
          for id in ended where state.channels[id]?.message.map({ $0.expires <= now / 1000 }) ?? false {
            state.channels[id]?.message = nil
          }
          for id in forgotten { state.channels[id] = nil }
        }
      }
    } catch {
      logger.log(.broadcastsNotRemoved, "ended broadcasts were not removed: \(error)")
    }
  }

  // MARK: Subscriptions

  /// Subscribes devices to a channel. An existing subscription stays as it is.
  ///
  /// - Returns: the devices that did not subscribe before.
  /// - Throws: ``Failure/unknown``, ``Failure/deleted``, ``RegistrationRefusal`` if a device has too many.
  @discardableResult
  package func subscribe(_ devices: [DeviceID], to id: ChannelID) async throws -> [DeviceID] {
    try await store.write { [self] db in
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
      afterCommit(db) { state in
        for device in added {
          state.subscriptions[device, default: []].append(ChannelTable.Subscription(channel: id, seen: 0))
        }
        state.channels[id]?.subscriptions += added.count
      }
      return added
    }
  }

  /// Ends the subscriptions of devices to the channels for which `fits` returns true: one, those of an app, or all.
  package func unsubscribe(
    _ devices: [DeviceID], where fits: @escaping @Sendable (BroadcastChannel) -> Bool = { _ in true }
  )
    async throws
  {
    try await store.write { [self] db in
      let gone = state.withLock { state in
        devices.flatMap { device in
          (state.subscriptions[device] ?? []).filter { state.channels[$0.channel].map(fits) ?? true }
            .map { ChannelTable.Acknowledgement(device: device, channel: $0.channel) }
        }
      }
      if gone.isEmpty { return }
      let delete = try db.makeStatement(sql: "DELETE FROM channel_subscription WHERE device = ? AND channel = ?")
      for one in gone { try delete.execute(arguments: [one.device.row, Data(one.channel.bytes)]) }
      afterCommit(db) { state in
        for one in gone {
          state.subscriptions[one.device]?.removeAll { $0.channel == one.channel }
          if state.subscriptions[one.device]?.isEmpty == true { state.subscriptions[one.device] = nil }
          state.channels[one.channel]?.subscriptions -= 1
        }
      }
    }
  }
}
