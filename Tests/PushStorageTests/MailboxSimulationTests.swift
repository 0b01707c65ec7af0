import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

/// Compares the mailbox with a simple model in random operations from a seed.
@Suite struct MailboxSimulationTests {
  /// The expected behavior of a mailbox, in its simplest form.
  struct Model {
    struct Entry: Equatable {
      var seq: UInt64
      var app: AppID
      var id: APNSID
      var collapseID: String
      var expires: Int64
    }

    struct DeviceQueue {
      var waiting: [Entry] = []
      var acknowledged: UInt64 = 0
      var highest: UInt64 = 0
    }

    var queues: [DeviceID: DeviceQueue] = [:]
    /// The times after which a retry of an id may be stored again.
    var recognised: [String: Int64] = [:]

    static func key(_ push: StoredPush) -> String { "\(push.device.row) \(push.app.row) \(push.id)" }

    /// Returns true if the push must be a duplicate. Nil: both answers are right.
    func mustBeDuplicate(_ push: StoredPush, now: Int64) -> Bool? {
      guard push.isSenderID else { return false }
      if queues[push.device]?.waiting.contains(where: { $0.app == push.app && $0.id == push.id }) == true {
        return true
      }
      guard let end = recognised[Model.key(push)] else { return false }
      return now < end ? true : nil
    }

    /// Adds a push that is on the disk.
    mutating func store(_ push: StoredPush, seq: UInt64) {
      queues[push.device, default: DeviceQueue()].waiting.append(
        Entry(seq: seq, app: push.app, id: push.id, collapseID: push.collapseID, expires: push.expires))
      queues[push.device, default: DeviceQueue()].highest = seq
      if push.isSenderID {
        recognised[Model.key(push)] = push.received / 1000 + Int64(Limits.duplicateWindow)
      }
    }

    /// Removes all but the newest push of each collapse id.
    mutating func collapse(_ device: DeviceID) {
      guard let waiting = queues[device]?.waiting else { return }
      queues[device]?.waiting = waiting.filter { entry in
        entry.collapseID.isEmpty
          || !waiting.contains { $0.seq > entry.seq && $0.app == entry.app && $0.collapseID == entry.collapseID }
      }
    }

    mutating func limit(_ device: DeviceID, to cap: Int) {
      let excess = max(0, (queues[device]?.waiting.count ?? 0) - cap)
      queues[device]?.waiting.removeFirst(excess)
    }

    mutating func acknowledge(_ device: DeviceID, through seq: UInt64) {
      guard var queue = queues[device] else { return }
      if seq <= queue.highest { queue.acknowledged = max(queue.acknowledged, seq) }
      queue.waiting.removeAll { $0.seq <= queue.acknowledged }
      queues[device] = queue
    }

    mutating func purge(_ device: DeviceID, app: AppID?) {
      queues[device]?.waiting.removeAll { app == nil || $0.app == app }
    }

    mutating func expire(now: Int64) {
      for device in queues.keys { queues[device]?.waiting.removeAll { $0.expires <= now } }
    }

    func waiting(_ device: DeviceID) -> [UInt64] { queues[device]?.waiting.map(\.seq) ?? [] }
  }

  static let devices: [DeviceID] = [1, 2, 3]

  static func randomPush(at now: Int64, using random: inout SplitMix64) -> StoredPush {
    samplePush(
      Bool.random(using: &random) ? Int.random(in: 1...12, using: &random) : nil,
      to: devices.randomElement(using: &random) ?? 1, app: Bool.random(using: &random) ? 1 : 2,
      collapse: ["", "", "a", "b"].randomElement(using: &random) ?? "", at: now,
      lifetime: Int64.random(in: 1...600, using: &random))
  }

  @Test func `the index does what a plain model does, whenever it crashes`() throws {
    for seed in UInt64(1)...400 { try simulateIndex(seed: seed) }
  }

  /// Runs one seed on the index and its writer's steps, with crashes between any two steps.
  func simulateIndex(seed: UInt64) throws {
    var random = SplitMix64(state: seed)
    var mailbox = IndexOnDisk()
    mailbox.cap = Int.random(in: 2...8, using: &random)
    var model = Model()
    /// The model of the state on the disk.
    var durable = Model()
    var highest: [DeviceID: UInt64] = [:]
    for step in 0..<120 {
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<8:
        let pushes = (0..<Int.random(in: 1...4, using: &random)).map { _ in
          MailboxSimulationTests.randomPush(at: mailbox.now, using: &random)
        }
        let isCommitted = Int.random(in: 0..<8, using: &random) > 0
        let outcomes = mailbox.append(pushes, isCommitted: isCommitted)
        guard isCommitted else { break }
        var duplicates = model
        durable = model
        for (push, outcome) in zip(pushes, outcomes) {
          if let expected = duplicates.mustBeDuplicate(push, now: mailbox.now) {
            try #require(outcome.isDuplicate == expected, "seed \(seed), step \(step): \(push.id) as a duplicate")
          }
          guard let seq = outcome.seq else { continue }
          try #require(seq > highest[push.device] ?? 0, "seed \(seed), step \(step): number \(seq) was used before")
          highest[push.device] = seq
          duplicates.store(push, seq: seq)
          durable.store(push, seq: seq)
          model.store(push, seq: seq)
          model.collapse(push.device)
          model.limit(push.device, to: mailbox.cap)
        }
      case 8..<12:
        let device = MailboxSimulationTests.devices.randomElement(using: &random) ?? 1
        let seq = UInt64.random(in: 0...(highest[device] ?? 0), using: &random)
        mailbox.acknowledge(seq, of: device)
        model.acknowledge(device, through: seq)
      case 12:
        let device = MailboxSimulationTests.devices.randomElement(using: &random) ?? 1
        let app: AppID? = [nil, 1, 2].randomElement(using: &random) ?? nil
        mailbox.purge(device, app: app)
        model.purge(device, app: app)
      case 13..<16:
        _ = mailbox.expire(after: Int64.random(in: 0...200, using: &random))
        model.expire(now: mailbox.now)
      case 16: mailbox.forget()
      case 17..<19:
        mailbox.commit()
        durable = model
      default:
        mailbox.crash()
        model = durable
        for device in MailboxSimulationTests.devices { model.collapse(device) }
        durable = model
      }
      for device in MailboxSimulationTests.devices {
        try #require(
          mailbox.waiting(device) == model.waiting(device), "seed \(seed), step \(step), device \(device.row)")
      }
    }
  }

  @Test func `the database does what a plain model does, whenever it is closed or copied`() async throws {
    for seed in UInt64(1)...12 { try await simulateDatabase(seed: seed) }
  }

  /// Runs one seed on SQLite. The database is sometimes closed, and sometimes copied as after a crash.
  func simulateDatabase(seed: UInt64) async throws {
    var random = SplitMix64(state: seed)
    let cap = Int.random(in: 3...10, using: &random)
    var home = try SQLiteHome(cap: cap)
    defer { home.mailbox.close() }
    var model = Model()
    var highest: [DeviceID: UInt64] = [:]
    for step in 0..<60 {
      let now = home.clock.seconds
      switch Int.random(in: 0..<16, using: &random) {
      case 0..<7:
        let pushes = (0..<Int.random(in: 1...4, using: &random)).map { _ in
          MailboxSimulationTests.randomPush(at: now, using: &random)
        }
        for (push, outcome) in zip(pushes, await home.mailbox.append(pushes)) {
          if let expected = model.mustBeDuplicate(push, now: now) {
            try #require(outcome.isDuplicate == expected, "seed \(seed), step \(step): \(push.id) as a duplicate")
          }
          guard let seq = outcome.seq else { continue }
          try #require(seq > highest[push.device] ?? 0, "seed \(seed), step \(step): number \(seq) was used before")
          highest[push.device] = seq
          model.store(push, seq: seq)
          model.collapse(push.device)
          model.limit(push.device, to: cap)
        }
      case 7..<10:
        let device = MailboxSimulationTests.devices.randomElement(using: &random) ?? 1
        let seq = UInt64.random(in: 0...(highest[device] ?? 0), using: &random)
        home.mailbox.acknowledge(device, through: seq)
        model.acknowledge(device, through: seq)
      case 10:
        let device = MailboxSimulationTests.devices.randomElement(using: &random) ?? 1
        home.mailbox.purge([device], app: 1) { _ in }
        model.purge(device, app: 1)
      case 11..<14:
        home.clock.advance(seconds: Int64.random(in: 0...200, using: &random))
        home.mailbox.expire(now: home.clock.seconds)
        model.expire(now: home.clock.seconds)
      case 14: home = try home.reopened()
      default:
        // An append writes all earlier changes to the disk.
        await home.mailbox.settle()
        await home.mailbox.settle()
        home = try home.crashed()
      }
      await home.mailbox.settle()
      for device in MailboxSimulationTests.devices {
        let waiting = try await home.mailbox.waiting(device)
        try #require(waiting == model.waiting(device), "seed \(seed), step \(step), device \(device.row)")
        #expect(home.mailbox.waitingCount(for: device) == waiting.count, "seed \(seed), step \(step)")
      }
    }
  }
}
