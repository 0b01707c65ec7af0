import Foundation
import GRDB
import PushPolicy
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushStorage

/// The shared data of two gateways of a cluster, except the registrations, whose conformance tests run on two replicas.
@Suite(.timeLimit(.minutes(5))) struct ReplicaTests {
  private let folder: TemporaryFolder
  private let log = MemoryReplicationLog()
  private let stores: [SQLiteStore]
  private let members: [MemoryReplicationLog.Member]

  init() async throws {
    folder = try TemporaryFolder()
    var (stores, members): ([SQLiteStore], [MemoryReplicationLog.Member]) = ([], [])
    for number in 0..<2 {
      let store = try SQLiteStore(path: folder.file("\(number).sqlite"), durability: .normal)
      members.append(try await log.join(store))
      stores.append(store)
    }
    (self.stores, self.members) = (stores, members)
  }

  private func follow() async throws { for member in members { try await member.catchUp() } }

  /// Returns all shared rows as text.
  private func rows(_ store: SQLiteStore) throws -> [String] {
    try store.pool.read { db in
      try Schema.tables(db).filter(Schema.isShared).sorted().flatMap { table in
        try Row.fetchAll(db, sql: "SELECT * FROM \"\(table)\"").map { "\(table) \($0)" }.sorted()
      }
    }
  }

  @Test func `channels, messages and subscriptions are those of the other gateway`() async throws {
    let registrations = try SQLiteRegistrations(store: stores[0])
    let app = try await registrations.putApp(topic: "a.b", name: "News", icon: "N", policyMode: .enforce).id
    try await follow()
    let channels = try stores.map { try PushStorage.Channels(store: $0, logger: .silent) }
    let heard = Mutex<(messages: [UInt64], devices: Set<DeviceID>)>(([], []))
    channels[1].follow(
      published: { message in heard.withLock { $0.messages.append(message.number) } },
      changed: { devices in heard.withLock { $0.devices.formUnion(devices) } })
    let id = try #require(
      try await channels[0].create(app: app, environment: .development, policy: .mostRecentMessage, now: 5).first)
    try await channels[0].subscribe([1, 2], to: id)
    try await follow()
    #expect(channels[1].subscriptions(of: 1).map(\.channel) == [id] && channels[1].channel(id)?.subscriptions == 2)
    try await channels[1].subscribe([3], to: id)
    let messages = [1, 3].map { number in
      BroadcastMessage(
        channel: id, app: app, number: 0, id: .number(number), uniqueID: .number(2), received: 5,
        expires: 9_000_000_000, priority: 5, payload: Array("{}".utf8))
    }
    for message in messages { try await channels[0].publish(message) { _ in } }
    try await follow()
    #expect(channels[1].message(of: id, now: 6)?.number == 2)
    // The first gateway has failed before it answered: the senders repeat their requests at the other one.
    for message in messages {
      try await channels[1].publish(message) { _ in Issue.record("a broadcast was published twice") }
    }
    #expect(channels[1].channel(id)?.lastNumber == 2)
    #expect(channels[1].acknowledge(1, id, through: 2))
    await channels[1].settle()
    try await channels[1].unsubscribe([2])
    try await follow()
    #expect(channels[0].subscriptions(of: 1).map(\.seen) == [2] && channels[0].subscriptions(of: 2).isEmpty)
    #expect(heard.withLock { $0.messages } == [1, 2] && heard.withLock { $0.devices } == [1, 2])
    try await channels[1].delete([id], now: 9)
    try await follow()
    #expect(channels[0].channel(id)?.deleted == 9 && channels[0].subscriptions(of: 1).isEmpty)
    try await channels[0].setOn(false, app: app, now: 10)
    try await channels[0].forget(app)
    try await follow()
    #expect(channels[1].channel(id) == nil && channels[1].isOn(app))
    for one in channels { #expect(one.brokenInvariant() == nil) }
    #expect(try rows(stores[0]) == rows(stores[1]))
  }

  @Test func `groups, retractions, administrators and answers are those of the other gateway`() async throws {
    let groups = try stores.map { try Groups(store: $0) }
    let retractions = try stores.map { try Retractions(store: $0) }
    let tokens = try stores.map { try AdministratorTokens(store: $0) }
    let persons = [1, 2].map { PersonID(row: $0) }
    let ops = try await groups[0].add("ops", persons)
    try await follow()
    let registration = try await groups[1].register(ops, app: 1, environment: .production)
    #expect(try await retractions[0].add(.number(1), app: 1, from: persons, at: 5))
    #expect(try await !retractions[1].add(.number(1), app: 1, from: persons, at: 6))
    try await tokens[1].add(
      AdministratorToken(name: "ci", role: .reader, created: 1, expires: 9_000_000_000), text: "secret")
    let senders = try stores.map { try MessageSenders(store: $0) }
    let sender = MessageSender(name: "backup", app: AppID(row: 1), recipients: [.group(ops.id)], rate: 60, created: 1)
    try await senders[1].add(sender, token: "first")
    _ = try await senders[1].rotate("backup", token: "second")
    try await follow()
    #expect(senders[0].find("backup", token: "first", now: 5) == nil)
    #expect(senders[0].find("backup", token: "second", now: 5)?.recipients == sender.recipients)
    #expect(groups[0].registration(registration.token)?.environment == .production)
    #expect(groups[1].find("ops")?.members == persons)
    #expect(retractions[1].contains(.number(1), of: persons[0], app: 1))
    #expect(tokens[0].find("secret", now: 5)?.name == "ci")
    let answers = stores.map { Answers(store: $0) }
    let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
      for (number, answers) in answers.enumerated() {
        group.addTask {
          try await withCheckedThrowingContinuation { continuation in
            answers.take(
              Answer(
                id: .number(7), person: persons[0], action: "yes\(number)", device: 1, app: 1, at: Int64(number))
            ) { continuation.resume(with: $0.map { $0?.isFirst == true }) }
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(taken.filter(\.self).count == 1)
    try await follow()
    let app = AppID(row: 1)
    #expect(groups[1].registrationCount(of: app) == 1)
    try await groups[1].forget(app)
    try await retractions[1].forget(app)
    try await answers[1].forget(app)
    try await follow()
    #expect(groups[0].registration(registration.token) == nil && groups[0].find("ops")?.members == persons)
    #expect(!retractions[0].contains(.number(1), of: persons[0], app: app))
    #expect(try await answers[0].answers(since: 0).isEmpty)
    #expect(try rows(stores[0]) == rows(stores[1]))
  }

  @Test func `what is held and what is scheduled goes on at the other gateway`() async throws {
    let held = try stores.map { try DeferredPushes(store: $0, logger: .silent) }
    let scheduled = try stores.map { try ScheduledPushes(store: $0) }
    for number in 1...3 {
      held[0].add(
        MailboxEntry(seq: UInt64(number), push: samplePush(number)), Deferral(by: .summary, until: 5),
        PushNotification(),
        nil)
    }
    await held[0].settle()
    let push = ScheduledPush(samplePush(9), at: 10_000, expires: nil, team: nil)
    _ = try await withCheckedThrowingContinuation { continuation in
      scheduled[0].add(push) { continuation.resume(with: $0) }
    }
    try await follow()
    #expect(held[1].due(1, at: 5) { _ in 5 }.map(\.id) == (1...3).map(APNSID.number))
    held[1].summarized(held[1].due(1, at: 5), of: 1)
    #expect((scheduled[1].count, scheduled[1].next) == (1, 15_000))
    #expect(try await scheduled[1].due(at: 10_000, limit: 9).map(\.push.id) == [.number(9)])
    held[1].release(.number(2), of: 1)
    await held[1].settle()
    try await scheduled[1].remove([1])
    try await follow()
    #expect(held[0].count == 2 && scheduled[0].count == 0)
    #expect(try rows(stores[0]) == rows(stores[1]))
  }

  @Test func `a late heartbeat is reported once by two gateways, and so is the one that ends it`() async throws {
    let senders = try stores.map { try MessageSenders(store: $0) }
    let scheduled = try stores.map { try ScheduledPushes(store: $0) }
    let expected = scheduled.map { Expectations($0) }
    try await senders[0].add(
      MessageSender(name: "backup", app: 1, recipients: [.device(1)], rate: 60, created: 1), token: "secret")
    try await expected[0].set(Expectation(sender: "backup", every: 60, grace: 0, from: 0))
    try await follow()
    #expect(scheduled.map(\.next) == [60_000, 65_000])
    _ = try await expected[1].beat("backup", at: 30_000) { _ in [] }
    try await follow()
    let lists = (try await expected[0].list(), try await expected[1].list())
    #expect(lists.0 == lists.1 && lists.0.map(\.due) == [90_000])
    // Neither gateway has the change of the other when it looks for late heartbeats.
    for (number, expected) in expected.enumerated() {
      let pushes = try await expected.findLate(at: 90_000) { _ in
        [ScheduledPush(samplePush(number), at: 90_000, expires: nil, team: nil)]
      }
      #expect(pushes?.map(\.id) == (number == 0 ? [.number(0)] : []))
    }
    for (number, expected) in expected.enumerated().reversed() {
      let beat = try await expected.beat("backup", at: 95_000) { _ in
        [ScheduledPush(samplePush(10 + number), at: 95_000, expires: nil, team: nil)]
      }
      #expect(beat?.pushes.map(\.id) == (number == 1 ? [.number(11)] : []))
    }
    try await follow()
    for scheduled in scheduled {
      #expect(try await scheduled.due(at: 95_000, limit: 9).map(\.push.id) == [.number(0), .number(11)])
    }
    #expect(try rows(stores[0]) == rows(stores[1]))
  }

  @Test func `changes of both at once count one after another`() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, store) in stores.enumerated() {
        let registrations = try SQLiteRegistrations(store: store)
        for device in 0..<20 {
          group.addTask { _ = try await registrations.enroll(name: "d\(number)-\(device)", person: "ann") }
        }
      }
      try await group.waitForAll()
    }
    try await follow()
    for store in stores {
      let devices = try SQLiteRegistrations(store: store).devices
      #expect(devices.count == 40 && Set(devices.map(\.id)).count == 40)
      #expect(Set(devices.map(\.person)).count == 1)
    }
    #expect(try rows(stores[0]) == rows(stores[1]))
  }

  @Test func `a value is the same behind the log, whatever it is`() throws {
    let values: [String: RowValue] = [
      "a": .null, "b": .integer(.max), "c": .integer(.min), "d": .real(0.1), "e": .real(1e300),
      "f": .text("é\u{0}\"\\"),
      "g": .blob([0, 255]), "h": .blob([]), "i": .text(""),
    ]
    let changes = ChangeSet(changes: [RowChange(table: "team", kind: .insert, key: ["id": .text("x")], values: values)])
    #expect(try ChangeSet(encoded: changes.encoded()) == changes)
  }

  @Test func `what a later version adds is left out, and what does not fit is told`() async throws {
    func apply(_ changes: [RowChange], at position: UInt64) async throws {
      try await stores[0].apply(ChangeSet(schema: 99, changes: changes), at: position)
    }
    try await apply(
      [
        RowChange(table: "team", kind: .insert, key: ["id": .text("TEAM000001")], values: ["color": .text("red")]),
        RowChange(table: "hats", kind: .insert, key: ["id": .integer(1)]),
      ], at: 1)
    #expect(try SQLiteRegistrations(store: stores[0]).teams == ["TEAM000001"])
    await #expect(throws: ReplicaDiverged.self) {
      try await apply([RowChange(table: "team", kind: .delete, key: ["id": .text("TEAM000009")])], at: 2)
    }
    await #expect(throws: ReplicaDiverged.self) {
      try await apply([RowChange(table: "team", kind: .insert, key: ["id": .text("TEAM000001")])], at: 2)
    }
    #expect(try await stores[0].replicaPosition() == 1)
  }

  @Test(arguments: [
    "replica", "REPLICA", "Mailbox", "mailbox_State", "mailbox_payload", "attachment", "SQLITE_sequence",
    "sqlite_master",
  ])
  func `a table of a gateway's own is not shared, however its name is written`(_ table: String) {
    #expect(!Schema.isShared(table))
    #expect(Schema.isShared("app") && Schema.isShared("scheduled"))
  }

  @Test func `a database of a gateway that was alone is no replica`() async throws {
    let store = try SQLiteStore(path: folder.file("alone.sqlite"), durability: .normal)
    try await SQLiteRegistrations(store: store).addTeam("TEAM000001")
    await #expect(throws: StoreError.self) { try await store.becomeReplica(of: "cell") }
    #expect(try ReplicaFile(store.path) == nil)
  }
}
