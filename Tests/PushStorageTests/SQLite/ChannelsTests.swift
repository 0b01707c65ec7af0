import Foundation
import GRDB
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct ChannelsTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let channels: PushStorage.Channels
  private let app: AppID
  private let now: Int64 = 1_800_000_000_000

  init() async throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    let registrations = try SQLiteRegistrations(store: store)
    app = try await registrations.putApp(topic: "a.b", name: "News", icon: "📰", policyMode: .enforce).id
    channels = try PushStorage.Channels(store: store, logger: .silent)
  }

  private func message(_ channel: ChannelID, _ id: Int = 1, expires: Int64 = 1_800_003_600) -> BroadcastMessage {
    BroadcastMessage(
      channel: channel, app: app, number: 0, id: .number(id), uniqueID: .number(2), received: now, expires: expires,
      priority: 5, payload: Array(#"{"n":1}"#.utf8))
  }

  private func create(_ policy: BroadcastChannel.StoragePolicy = .mostRecentMessage) async throws -> ChannelID {
    try #require(
      try await channels.create(app: app, environment: .development, policy: policy, now: now).first)
  }

  private func reopened() throws -> PushStorage.Channels { try PushStorage.Channels(store: store, logger: .silent) }

  @Test func `everything is there after a restart`() async throws {
    let (kept, deleted) = (try await create(.none), try await create())
    try await channels.publish(message(kept, 9)) { _ in }
    try await channels.publish(message(kept)) { _ in }
    try await channels.subscribe([DeviceID(row: 7)], to: kept)
    #expect(channels.acknowledge(DeviceID(row: 7), kept, through: 1))
    await channels.settle()
    try await channels.delete([deleted], now: now)
    try await channels.setOn(false, app: AppID(row: 99), now: now)
    let again = try reopened()
    #expect(again.channels(of: app, environment: .development).map(\.id) == [kept])
    let channel = try #require(again.channel(kept))
    #expect(channel.policy == .none && channel.lastNumber == 2 && channel.subscriptions == 1)
    let stored = try #require(channel.message)
    #expect(stored.number == 2 && stored.priority == 5 && stored.payload == Array(#"{"n":1}"#.utf8))
    #expect(stored.id == .number(1) && stored.uniqueID == .number(2))
    #expect(again.subscriptions(of: DeviceID(row: 7)).map(\.seen) == [1])
    #expect(again.channel(deleted)?.deleted == now)
    #expect(!again.isOn(AppID(row: 99)) && again.isOn(app))
  }

  @Test func `messages are handed over on disk, in the order of their numbers`() async throws {
    let channel = try await create()
    let store = store
    let (stream, numbers) = AsyncStream.makeStream(of: UInt64.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in 1...20 {
        let message = message(channel, id)
        group.addTask { [channels] in
          try await channels.publish(message) { stored in
            let onDisk = try? store.pool.read { try Int64.fetchOne($0, sql: "SELECT number FROM channel_message") }
            #expect(onDisk == Int64(stored.number))
            numbers.yield(stored.number)
          }
        }
      }
      try await group.waitForAll()
    }
    numbers.finish()
    #expect(await stream.reduce(into: []) { $0.append($1) } == Array(1...20))
  }

  @Test func `only numbers that were given out are acknowledged, and never backwards`() async throws {
    let (channel, device) = (try await create(), DeviceID(row: 7))
    try await channels.subscribe([device], to: channel)
    #expect(!channels.acknowledge(device, channel, through: 1))
    for id in 1...3 { try await channels.publish(message(channel, id)) { _ in } }
    #expect(channels.acknowledge(device, channel, through: 2))
    #expect(!channels.acknowledge(device, channel, through: 2))
    #expect(!channels.acknowledge(device, channel, through: 1))
    #expect(!channels.acknowledge(DeviceID(row: 8), channel, through: 1))
    #expect(channels.subscriptions(of: device).map(\.seen) == [2])
  }

  @Test func `a retry of a broadcast is published once, also after a restart`() async throws {
    let channel = try await create()
    for id in [1, 2, 1, 2] { try await channels.publish(message(channel, id)) { _ in } }
    #expect(channels.channel(channel)?.lastNumber == 2)
    let again = try reopened()
    try await again.publish(message(channel, 2)) { _ in Issue.record("a broadcast was published twice") }
    #expect(again.channel(channel)?.lastNumber == 2)
    // Other channels have ids of their own, and a channel keeps the ids of its last messages only.
    let other = try await create()
    for id in 1...20 { try await channels.publish(message(other, id)) { _ in } }
    #expect(channels.channel(other)?.lastNumber == 20)
    try await channels.publish(message(other, 21 - RecentBroadcasts.idsOfChannel)) { _ in }
    #expect(channels.channel(other)?.lastNumber == 20)
    try await channels.publish(message(other, 20 - RecentBroadcasts.idsOfChannel)) { _ in }
    #expect(channels.channel(other)?.lastNumber == 21)
  }

  @Test func `ten thousand acknowledgements reach the disk`() async throws {
    let channel = try await create()
    let devices = (1...10_000).map { DeviceID(row: $0) }
    try await channels.subscribe(devices, to: channel)
    try await channels.publish(message(channel)) { _ in }
    for device in devices { #expect(channels.acknowledge(device, channel, through: 1)) }
    await channels.settle()
    let written = try await store.pool.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM channel_subscription WHERE seen = 1")
    }
    #expect(written == 10_000)
  }

  @Test func `acknowledgements that the disk refused are written by the next attempt`() async throws {
    let (channel, device) = (try await create(), DeviceID(row: 7))
    try await channels.subscribe([device], to: channel)
    try await channels.publish(message(channel)) { _ in }
    try await store.pool.write { db in
      try db.execute(
        sql: """
          CREATE TRIGGER full BEFORE UPDATE ON channel_subscription BEGIN SELECT RAISE(ABORT, 'no room'); END
          """)
    }
    #expect(channels.acknowledge(device, channel, through: 1))
    await channels.settle()
    try await store.pool.write { try $0.execute(sql: "DROP TRIGGER full") }
    await channels.settle()
    #expect(try reopened().subscriptions(of: device).map(\.seen) == [1])
  }

  @Test func `a number that the stored message has is not given out again`() async throws {
    let channel = try await create()
    for id in 1...2 { try await channels.publish(message(channel, id)) { _ in } }
    try await store.pool.write { try $0.execute(sql: "UPDATE channel SET last_number = 1") }
    let again = try reopened()
    #expect(again.channel(channel)?.lastNumber == 2)
    #expect(again.brokenInvariant() == nil)
  }

  @Test func `an app has at most ten thousand, and two who make the last do not both get it`() async throws {
    _ = try await channels.create(
      Limits.maximumChannels - 1, app: app, environment: .development, policy: .none, now: now)
    async let one = try? create()
    async let other = try? create()
    #expect(await [one, other].compactMap(\.self).count == 1)
    // Each environment has its own limit.
    _ = try await channels.create(app: app, environment: .production, policy: .none, now: now)
    await #expect(throws: PushStorage.Channels.Failure.self) { try await create() }
  }

  @Test func `a channel gets the given id, and one that exists stays as it is`() async throws {
    let (present, given) = (try await create(.none), ChannelID.random())
    let made = try await channels.create(
      [present, given], app: app, environment: .development, policy: .mostRecentMessage, now: now)
    #expect(made == [given])
    #expect(channels.channel(given)?.policy == .mostRecentMessage)
    #expect(channels.channel(present)?.policy == BroadcastChannel.StoragePolicy.none)
    #expect(try reopened().channel(given)?.app == app)
    try await channels.delete([given], now: now)
    let again = try await channels.create(
      [given], app: app, environment: .development, policy: .none, now: now)
    #expect(again == [] && channels.channel(given)?.deleted == now)
  }

  @Test func `a device subscribes to so many channels and no more`() async throws {
    let ids = try await channels.create(
      Limits.maximumDeviceChannels + 1, app: app, environment: .development, policy: .none, now: now)
    for id in ids.dropLast() { try await channels.subscribe([DeviceID(row: 7)], to: id) }
    await #expect(throws: RegistrationRefusal.self) {
      try await channels.subscribe([DeviceID(row: 7)], to: try #require(ids.last))
    }
  }

  @Test func `what has ended is forgotten, and after a month also that a channel was deleted`() async throws {
    let (channel, other) = (try await create(), try await create())
    try await channels.publish(message(channel, expires: 1_800_000_010)) { _ in }
    #expect(channels.message(of: channel, now: 1_800_000_009) != nil)
    #expect(channels.message(of: channel, now: 1_800_000_010) == nil)
    try await channels.delete([other], now: now)
    await channels.expire(now: now + 10_000)
    #expect(channels.channel(channel)?.message == nil && channels.channel(channel)?.lastNumber == 1)
    #expect(channels.channel(other)?.deleted != nil)
    await channels.expire(now: now + ChannelTable.memoryOfDeleted)
    #expect(channels.channel(other) == nil)
    let rows = try await store.pool.read { db in
      [
        try Int.fetchOne(db, sql: "SELECT count(*) FROM channel"),
        try Int.fetchOne(db, sql: "SELECT count(*) FROM channel_message"),
      ]
    }
    #expect(rows == [1, 0])
  }

  @Test func `of a hundred thousand deleted channels the oldest go`() async throws {
    let tooMany = 3
    try await store.pool.write { [now, app] db in
      try db.execute(
        sql: """
          WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
          INSERT INTO channel SELECT randomblob(16), ?, 'development', 0, ?, ? + i, 0 FROM n
          """, arguments: [Limits.maximumDeletedChannels + tooMany - 1, app.row, now, now])
    }
    await (try reopened()).expire(now: now + 200_000)
    let (count, first) = try await store.pool.read { db in
      let row = try #require(try Row.fetchOne(db, sql: "SELECT count(*), min(deleted) FROM channel"))
      return (row[0] as Int, row[1] as Int64)
    }
    #expect((count, first) == (Limits.maximumDeletedChannels, now + Int64(tooMany)))
  }

  @Test func `an app that may not broadcast has no channels left`() async throws {
    let channel = try await create()
    try await channels.subscribe([DeviceID(row: 7)], to: channel)
    #expect(try await channels.setOn(false, app: app, now: now) == [DeviceID(row: 7)])
    #expect(channels.channels(of: app, environment: .development).isEmpty)
    #expect(channels.subscriptions(of: DeviceID(row: 7)).isEmpty)
    await #expect(throws: PushStorage.Channels.Failure.self) { try await create() }
    try await channels.setOn(true, app: app, now: now)
    _ = try await create()
  }
}
