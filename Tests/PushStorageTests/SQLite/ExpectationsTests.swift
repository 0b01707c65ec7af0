import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct ExpectationsTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let senders: MessageSenders
  private let scheduled: ScheduledPushes
  private let expectations: Expectations

  init() async throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"), durability: .normal)
    senders = try MessageSenders(store: store)
    scheduled = try ScheduledPushes(store: store)
    expectations = Expectations(scheduled)
    try await senders.add(
      MessageSender(name: "backup", app: 1, recipients: [.device(1)], rate: 60, created: 1), token: "secret")
  }

  private func expect(every: Int64 = 3600, grace: Int64 = 60, from now: Int64 = 0) async throws {
    try await expectations.set(Expectation(sender: "backup", every: every, grace: grace, from: now))
  }

  private func findLate(at now: Int64, _ expectations: Expectations? = nil) async throws -> [APNSID] {
    let pushes = try await (expectations ?? self.expectations).findLate(at: now) { _ in
      [ScheduledPush(samplePush(1), at: now, expires: nil, team: nil)]
    }
    return pushes?.map(\.id) ?? []
  }

  private func beat(at now: Int64, _ expectations: Expectations? = nil) async throws -> [APNSID]? {
    let beat = try await (expectations ?? self.expectations).beat("backup", at: now) { _ in
      [ScheduledPush(samplePush(2), at: now, expires: nil, team: nil)]
    }
    return beat?.pushes.map(\.id)
  }

  @Test func `no heartbeat is expected of a webhook`() async throws {
    let hook = MessageSender(
      name: "code", app: 1, recipients: [.device(1)], rate: 60, created: 1, hook: Hook(.github))
    try await senders.add(hook, token: "other")
    let refusal = await #expect(throws: RegistrationRefusal.self) {
      try await expectations.set(Expectation(sender: "code", every: 60, grace: 0, from: 0))
    }
    #expect(refusal?.kind == .conflict)
    let all = try await expectations.list()
    #expect(all.isEmpty)
  }

  @Test func `each heartbeat moves the time at which the next one is late`() async throws {
    try await expect()
    #expect(scheduled.next == 3_660_000)
    #expect(try await findLate(at: 3_659_999).isEmpty)
    for time in [1_000_000, 1_000_001, 3_659_999] as [Int64] {
      #expect(try await beat(at: time) == [])
      #expect(scheduled.next == time + 3_660_000)
    }
    #expect(try await findLate(at: 3_660_000).isEmpty)
    #expect(scheduled.count == 0)
    let all = try await expectations.list()
    #expect(all.map(\.beat) == [3_659_999] && all.map(\.late) == [nil])
  }

  @Test func `a late heartbeat is reported once, and one that follows ends it once`() async throws {
    try await expect()
    #expect(try await findLate(at: 3_660_000) == [.number(1)])
    #expect(try await findLate(at: 9_000_000).isEmpty)
    #expect(scheduled.next == 3_660_000)
    #expect(try await expectations.list().map(\.late) == [1])
    #expect(try await beat(at: 9_000_000) == [.number(2)])
    #expect(try await beat(at: 9_000_001) == [])
    #expect(try await scheduled.due(at: 9_000_000, limit: 9).map(\.push.id) == [.number(1), .number(2)])
    #expect(scheduled.count == 2)
  }

  @Test func `the state is that of the next program that opens the database`() async throws {
    try await expect()
    let next = Expectations(try ScheduledPushes(store: store))
    #expect(try ScheduledPushes(store: store).next == 3_660_000)
    #expect(try await findLate(at: 5_000_000, next) == [.number(1)])
    let third = Expectations(try ScheduledPushes(store: store))
    #expect(try await findLate(at: 6_000_000, third).isEmpty)
    #expect(try await beat(at: 7_000_000, third) == [.number(2)])
  }

  @Test func `a heartbeat that was late for nobody ends without a push`() async throws {
    try await expect()
    #expect(try await expectations.findLate(at: 3_660_000) { _ in [] }?.isEmpty == true)
    #expect(try await expectations.list().map(\.late) == [0])
    #expect(try await beat(at: 4_000_000) == [])
  }

  @Test func `late heartbeats are recorded in slices, the first due ones first`() async throws {
    for number in 1...3 {
      let name = "sensor-\(number)"
      try await senders.add(
        MessageSender(name: name, app: 1, recipients: [.device(1)], rate: 60, created: 1), token: name)
      try await expectations.set(Expectation(sender: name, every: Int64(100 - number), grace: 0, from: 0))
    }
    var slices: [[String]] = []
    while try await expectations.findLate(at: 1_000_000, limit: 2, pushes: { _ in [] }) != nil {
      let all = try await expectations.list()
      slices.append(all.filter { $0.late != nil }.map(\.sender))
    }
    #expect(slices == [["sensor-2", "sensor-3"], ["sensor-1", "sensor-2", "sensor-3"]])
  }

  @Test func `a heartbeat that arrives before the late one was found ends nothing`() async throws {
    try await expect()
    #expect(try await beat(at: 5_000_000) == [])
    #expect(try await findLate(at: 5_000_000).isEmpty)
    #expect(scheduled.count == 0)
  }

  @Test func `an expectation that is removed or set again while it is late sends nothing more`() async throws {
    try await expect()
    _ = try await findLate(at: 3_660_000)
    try await expectations.remove("backup")
    #expect(try await beat(at: 4_000_000) == nil)
    await #expect(throws: RegistrationRefusal.self) { try await expectations.remove("backup") }
    try await expect(from: 5_000_000)
    _ = try await findLate(at: 8_660_000)
    try await expect(every: 60, from: 9_000_000)
    #expect(try await beat(at: 9_001_000) == [])
    #expect(scheduled.count == 1)
  }

  @Test func `an expectation needs a sender, and ends with it`() async throws {
    let none = Expectation(sender: "none", every: 60, grace: 0, from: 0)
    await #expect(throws: RegistrationRefusal.self) { try await expectations.set(none) }
    try await expect()
    try await senders.remove("backup")
    #expect(try await expectations.list().isEmpty)
    try await senders.add(
      MessageSender(name: "backup", app: 1, recipients: [.device(1)], rate: 60, created: 1), token: "secret")
    try await expect()
    try await senders.forget(1)
    #expect(try await expectations.list().isEmpty)
    #expect(try await findLate(at: 9_000_000).isEmpty)
  }

  @Test func `a clock that was in the future delays no heartbeat for longer than its interval`() async throws {
    try await expect(from: 1_000_000_000)
    _ = try await beat(at: 2_000_000_000)
    // Another gateway's clock may be ahead by some seconds.
    try await expectations.correct(now: 1_999_990_000)
    #expect(scheduled.next == 2_003_660_000)
    try await expectations.correct(now: 1_000_000)
    #expect(scheduled.next == 4_660_000)
    #expect(try await expectations.list().map(\.beat) == [1_000_000])
    #expect(try await findLate(at: 4_660_000) == [.number(1)])
  }
}
