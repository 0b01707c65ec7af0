import Dispatch
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushStorage

/// The requirements on every storage backend of the mailbox. Each check begins with a new mailbox.
struct MailboxConformance {
  let home: MailboxHome.Opened
  let clock: TestClock

  private var mailbox: any Mailbox { home.mailbox }

  /// The limit with which the mailbox is opened.
  private static let cap = 300

  typealias Check = @Sendable (MailboxConformance) async throws -> Void

  /// All checks by name.
  static let checks: [(name: String, run: Check)] = [
    ("outcomes come in order", { try await $0.outcomesComeInOrder() }),
    ("completions come in order", { try await $0.completionsComeInOrder() }),
    ("a push comes back as it was", { try await $0.contentIsKept() }),
    ("reading goes on from a number, by limits", { try await $0.readingIsLimited() }),
    ("acknowledging is cumulative and idempotent", { try await $0.acknowledging() }),
    ("what is acknowledged is not read again", { try await $0.acknowledgedIsGone() }),
    ("copies of a push come back, and leave one by one", { try await $0.copies() }),
    ("a retry is stored once", { try await $0.retries() }),
    ("a collapse id replaces", { try await $0.collapsing() }),
    ("purging takes an app's pushes", { try await $0.purging() }),
    ("a purge takes what was appended before it, and nothing after", { try await $0.purgeKeepsItsPlace() }),
    ("what was taken back leaves, and nothing else", { try await $0.retracting() }),
    ("what a device can't read leaves, and nothing else", { try await $0.discarding() }),
    ("expired pushes are not read, and go", { try await $0.expiring() }),
    ("numbers begin after one that the device knows", { try await $0.deviceKnowsMore() }),
    ("an empty append is answered", { try await $0.emptyAppend() }),
    ("a gap equals what the cap dropped", { try await $0.capping() }),
    ("what was stored is there when it is opened again", { try await $0.reopening() }),
    ("acknowledging what was replaced leaves its successor", { try await $0.acknowledgingReplaced() }),
    ("a retry from two threads at once is stored once", { try await $0.concurrentRetries() }),
    ("what leaves without an acknowledgement is told, with its cause", { try await $0.telling() }),
  ]

  /// Runs one check on a storage backend.
  static func run(_ name: String, on home: MailboxHome) async throws {
    let clock = TestClock()
    let opened = try await home.open(clock, cap)
    defer { opened.close() }
    let check = try #require(checks.first { $0.name == name }, "there is no such check")
    try await check.run(MailboxConformance(home: opened, clock: clock))
  }

  private func outcomesComeInOrder() async throws {
    let outcomes = await mailbox.append([samplePush(), samplePush(to: 2), samplePush(), samplePush(to: 2)])
    #expect(outcomes.map(\.seq) == [1, 1, 2, 2])
    #expect(try await mailbox.waiting(1) == [1, 2])
    #expect(try await mailbox.waiting(2) == [1, 2])
    #expect(try await mailbox.waiting(3) == [])
  }

  private func completionsComeInOrder() async throws {
    let order = AsyncStream<Int>.makeStream()
    for number in 0..<200 {
      mailbox.append([samplePush(number + 1)]) { outcomes in
        order.continuation.yield(outcomes.first?.seq == UInt64(number) + 1 ? number : -1)
      }
    }
    var seen: [Int] = []
    for await number in order.stream {
      seen.append(number)
      if seen.count == 200 { break }
    }
    #expect(seen == Array(0..<200))
  }

  private func contentIsKept() async throws {
    let sent = [
      samplePush(1, app: 7, collapse: "é\"'\0", payload: #"{"aps":{"alert":"Grüße 👋"}}"#),
      samplePush(lifetime: 1, payload: "{}"), samplePush(payload: String(repeating: "x", count: 5120)),
    ]
    _ = await mailbox.append(sent)
    let pending = try await mailbox.pending(for: 1, after: 0, limit: 10)
    #expect(pending.isComplete)
    #expect(pending.gap == nil)
    try #require(pending.entries.count == sent.count)
    for (entry, push) in zip(pending.entries, sent) {
      #expect(entry.push.device == push.device)
      #expect(entry.push.app == push.app)
      #expect(entry.push.id.description == push.id.description)
      #expect(entry.push.isSenderID == push.isSenderID)
      #expect(entry.push.uniqueID == push.uniqueID)
      #expect(entry.push.received == push.received)
      #expect(entry.push.expires == push.expires)
      #expect(entry.push.priority == push.priority)
      #expect(entry.push.collapseID == push.collapseID)
      #expect(entry.push.payload == push.payload)
    }
  }

  private func readingIsLimited() async throws {
    _ = await mailbox.append((0..<10).map { _ in samplePush() })
    for (seq, limit, numbers, isComplete) in [
      (0, 4, [1, 2, 3, 4], false), (4, 4, [5, 6, 7, 8], false), (8, 4, [9, 10], true), (0, 10, Array(1...10), true),
      (0, 9, Array(1...9), false), (9, 1, [10], true), (10, 4, [], true),
    ] as [(UInt64, Int, [UInt64], Bool)] {
      let pending = try await mailbox.pending(for: 1, after: seq, limit: limit)
      #expect(pending.entries.map(\.seq) == numbers)
      #expect(pending.isComplete == isComplete)
    }
  }

  private func acknowledging() async throws {
    _ = await mailbox.append((0..<5).map { _ in samplePush() })
    for (seq, rest) in [(3, [4, 5]), (3, [4, 5]), (1, [4, 5]), (0, [4, 5]), (.max, [4, 5])] as [(UInt64, [UInt64])] {
      mailbox.acknowledge(1, through: seq)
      await mailbox.settle()
      #expect(try await mailbox.waiting() == rest)
      #expect(mailbox.waitingCount(for: 1) == rest.count)
    }
    #expect(await mailbox.append([samplePush()]).map(\.seq) == [6])
    #expect(try await mailbox.waiting() == [4, 5, 6])
  }

  private func acknowledgedIsGone() async throws {
    for round in UInt64(1)...100 {
      _ = await mailbox.append([samplePush(), samplePush()])
      mailbox.acknowledge(1, through: 2 * round - 1)
      #expect(try await mailbox.waiting() == [2 * round])
      #expect(mailbox.waitingCount(for: 1) == 1)
      mailbox.acknowledge(1, through: .max)
      #expect(mailbox.waitingCount(for: 1) == 1)
      mailbox.acknowledge(1, through: 2 * round)
      #expect(try await mailbox.waiting() == [])
      #expect(mailbox.waitingCount(for: 1) == 0)
    }
  }

  private func copies() async throws {
    let payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 3000))"}}"#
    let copies = (1...20).map { samplePush(9, to: DeviceID(row: Int64($0)), payload: payload) }
    let outcomes = await mailbox.append([samplePush()] + copies + [samplePush()])
    let numbers: [UInt64?] = [1, 2] + [UInt64?](repeating: 1, count: 19) + [3]
    #expect(outcomes.map(\.seq) == numbers)
    try await mailbox.purge([2], app: nil)
    mailbox.acknowledge(1, through: 2)
    mailbox.acknowledge(3, through: 1)
    await mailbox.settle()
    #expect(try await mailbox.waiting(1) == [3])
    for device: DeviceID in [2, 3] { #expect(try await mailbox.waiting(device) == []) }
    for device: Int64 in 4...20 {
      let entries = try await mailbox.pending(for: DeviceID(row: device), after: 0, limit: 10).entries
      #expect(entries.map { String(decoding: $0.push.payload, as: UTF8.self) } == [payload], "device \(device)")
    }
  }

  private func deviceKnowsMore() async throws {
    _ = await mailbox.append((0..<2).map { _ in samplePush() })
    let pending = try await mailbox.pending(for: 1, after: 1000, limit: 10)
    #expect(pending.entries.map(\.seq) == [1001, 1002])
    #expect(await mailbox.append([samplePush()]).map(\.seq) == [1003])
  }

  private func retries() async throws {
    #expect(await mailbox.append([samplePush(1), samplePush(1)]).map(\.isDuplicate) == [false, true])
    mailbox.acknowledge(1, through: 1)
    await mailbox.settle()
    clock.advance(seconds: 299)
    #expect(await mailbox.append([samplePush(1, at: clock.seconds)]).map(\.isDuplicate) == [true])
    clock.advance(seconds: 1)
    await mailbox.settle()
    #expect(await mailbox.append([samplePush(1, at: clock.seconds)]).map(\.seq) == [2])
  }

  private func collapsing() async throws {
    _ = await mailbox.append([samplePush(1, collapse: "a"), samplePush(2)])
    let outcome = await mailbox.append([samplePush(3, collapse: "a"), samplePush(4, collapse: "a")])
    #expect(outcome.map(\.replaced) == [.number(1), .number(3)])
    #expect(try await mailbox.waiting() == [2, 4])
  }

  private func purging() async throws {
    _ = await mailbox.append([samplePush(), samplePush(app: 2), samplePush(to: 2)])
    try await mailbox.purge([1], app: 1)
    #expect(try await mailbox.waiting() == [2])
    try await mailbox.purge([1, 3], app: nil)
    #expect(try await mailbox.waiting() == [])
    #expect(try await mailbox.waiting(2) == [1])
  }

  private func retracting() async throws {
    _ = await mailbox.append([
      samplePush(1), samplePush(2), samplePush(1, app: 2), samplePush(1, to: 2), samplePush(1, to: 3),
    ])
    // Pushes that were appended before the retraction are removed. A later one is a retry.
    mailbox.append([samplePush(3)]) { _ in }
    for id in [1, 3, 9] {
      let isDurable = await withCheckedContinuation { continuation in
        mailbox.retract(.number(id), app: 1, from: [1, 2, 9]) { continuation.resume(returning: $0) }
      }
      #expect(isDurable)
    }
    #expect(try await mailbox.waiting() == [2, 3])
    #expect(try await mailbox.waiting(2) == [])
    #expect(try await mailbox.waiting(3) == [1])
    let told = home.removals.all.filter { $0.device != DeviceID(row: .max) }
    #expect(told.map(\.cause) == [.retracted, .retracted, .retracted])
    #expect(told.map(\.id) == [.number(1), .number(1), .number(3)])
    #expect(await mailbox.append([samplePush(1), samplePush(3)]).map(\.seq) == [nil, nil])
    await withCheckedContinuation { continuation in
      mailbox.retract(.number(1), app: nil, from: [1]) { _ in continuation.resume() }
    }
    #expect(try await mailbox.waiting() == [2])
  }

  private func discarding() async throws {
    _ = await mailbox.append([samplePush(1), samplePush(2), samplePush(3), samplePush(4, to: 2)])
    for seq in [2, 2, 0, 4, .max] as [UInt64] { mailbox.discard(1, seq: seq) }
    mailbox.discard(3, seq: 1)
    await mailbox.settle()
    #expect(try await mailbox.waiting() == [1, 3])
    #expect(try await mailbox.waiting(2) == [1])
    mailbox.acknowledge(1, through: 3)
    let told = home.removals.all.filter { $0.device != DeviceID(row: .max) }
    #expect(told.map(\.cause) == [.undeliverable])
    #expect(told.map(\.id) == [.number(2)])
    // A retry of a retracted push is recognized like any other.
    #expect(await mailbox.append([samplePush(2)]).map(\.seq) == [nil])
  }

  private func purgeKeepsItsPlace() async throws {
    for device in (1...20).map({ DeviceID(row: $0) }) {
      // Operations that are submitted during a commit join the next one.
      mailbox.append([samplePush(to: 1000)]) { _ in }
      mailbox.append([samplePush(to: device)]) { _ in }
      mailbox.purge([device], app: 1) { _ in }
      let outcome = await mailbox.append([samplePush(to: device)])
      #expect(outcome.map(\.seq) == [2])
      #expect(try await mailbox.waiting(device) == [2])
    }
  }

  private func expiring() async throws {
    _ = await mailbox.append([samplePush(lifetime: 10), samplePush(lifetime: 20)])
    clock.advance(seconds: 10)
    #expect(try await mailbox.waiting() == [2])
    #expect(mailbox.waitingCount(for: 1) == 2)
    mailbox.expire(now: clock.seconds)
    await mailbox.settle()
    #expect(mailbox.waitingCount(for: 1) == 1)
  }

  private func emptyAppend() async throws {
    #expect(await mailbox.append([]).isEmpty)
    #expect(await mailbox.append([samplePush()]).map(\.seq) == [1])
  }

  private func capping() async throws {
    let cap = Self.cap
    _ = await mailbox.append((0..<cap + 5).map { _ in samplePush() })
    let all = try await mailbox.pending(for: 1, after: 0, limit: .max)
    #expect(all.gap == MailboxGap(from: 1, to: 5, dropped: 5))
    #expect(all.entries.map(\.seq) == Array(6...UInt64(cap) + 5))
    #expect(mailbox.waitingCount(for: 1) == cap)
    #expect(try await mailbox.pending(for: 1, after: 4, limit: 1).gap?.dropped == 5)
    #expect(try await mailbox.pending(for: 1, after: 5, limit: 1).gap == nil)
    // A push that was replaced left a hole in the sequence numbers, but was not dropped.
    _ = await mailbox.append([samplePush(collapse: "a"), samplePush(collapse: "a")])
    let second = try await mailbox.pending(for: 1, after: 0, limit: 1)
    #expect(second.gap == MailboxGap(from: 1, to: 6, dropped: 6))
    // The device has acknowledged this gap, so it is not reported again.
    mailbox.acknowledge(1, through: 10)
    _ = await mailbox.append((0..<6).map { _ in samplePush() })
    let third = try await mailbox.pending(for: 1, after: 0, limit: .max)
    #expect(third.gap == MailboxGap(from: 11, to: 12, dropped: 2))
    #expect(third.entries.count == cap)
    #expect(home.removals.all.filter { $0.cause == .overflow }.count == 8)
    // Each device has its own limit.
    #expect(await mailbox.append([samplePush(to: 2)]).map(\.seq) == [1])
    #expect(try await mailbox.pending(for: 2, after: 0, limit: 1).gap == nil)
  }

  private func reopening() async throws {
    _ = await mailbox.append((1...Self.cap).map { samplePush($0, payload: #"{"n":\#($0)}"#) })
    _ = await mailbox.append([samplePush(1000), samplePush(1001, collapse: "a"), samplePush(1002, collapse: "a")])
    mailbox.acknowledge(1, through: 1)
    _ = await mailbox.append([samplePush(7, to: 2), samplePush(8, to: 2)])
    mailbox.acknowledge(2, through: 2)
    await mailbox.settle()
    let before = try await mailbox.pending(for: 1, after: 0, limit: .max)
    let later = try await home.reopened()
    defer { later.close() }
    let after = try await later.mailbox.pending(for: 1, after: 0, limit: .max)
    #expect(after.gap == before.gap)
    #expect(after.entries.map(\.seq) == before.entries.map(\.seq))
    #expect(after.entries.map(\.push.id) == before.entries.map(\.push.id))
    #expect(after.entries.map(\.push.payload) == before.entries.map(\.push.payload))
    #expect(try await later.mailbox.waiting(2) == [])
    let retries = await later.mailbox.append([samplePush(1), samplePush(300), samplePush(1001), samplePush(8, to: 2)])
    #expect(retries.map(\.isDuplicate) == [true, true, true, true])
    #expect(await later.mailbox.append([samplePush(), samplePush(to: 2)]).map(\.seq) == [304, 3])
  }

  private func acknowledgingReplaced() async throws {
    _ = await mailbox.append([samplePush(collapse: "a"), samplePush(collapse: "a")])
    mailbox.acknowledge(1, through: 1)
    await mailbox.settle()
    #expect(try await mailbox.waiting() == [2])
    _ = await mailbox.append([samplePush(), samplePush(collapse: "a")])
    mailbox.acknowledge(1, through: 2)
    await mailbox.settle()
    #expect(try await mailbox.waiting() == [3, 4])
    // The replacement can be replaced too.
    _ = await mailbox.append([samplePush(collapse: "a")])
    #expect(try await mailbox.waiting() == [3, 5])
  }

  private func concurrentRetries() async throws {
    let (threads, count) = (2, 100)
    let outcomes = Mutex<[Int: [AppendOutcome]]>([:])
    let home = mailbox
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        let group = DispatchGroup()
        for _ in 0..<threads * count { group.enter() }
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
          for number in 1...count {
            home.append([samplePush(number)]) { outcome in
              outcomes.withLock { $0[number, default: []] += outcome }
              group.leave()
            }
          }
        }
        group.notify(queue: .global()) { continuation.resume() }
      }
    }
    for (number, outcomes) in outcomes.withLock({ $0 }) {
      #expect(outcomes.count == threads)
      #expect(outcomes.filter(\.isDuplicate).count == threads - 1, "\(number)")
    }
    #expect(try await Set(mailbox.pending(for: 1, after: 0, limit: .max).entries.map(\.push.id)).count == count)
    #expect(mailbox.waitingCount(for: 1) == count)
  }

  private func telling() async throws {
    _ = await mailbox.append([samplePush(1, collapse: "a"), samplePush(2, collapse: "a"), samplePush(3, lifetime: 10)])
    _ = await mailbox.append([samplePush(4, app: 2), samplePush(5, to: 2)])
    try await mailbox.purge([1], app: 2)
    clock.advance(seconds: 10)
    mailbox.expire(now: clock.seconds)
    mailbox.acknowledge(1, through: 2)
    _ = await mailbox.append((0..<Self.cap).map { _ in samplePush(to: 2, at: clock.seconds) })
    let told = home.removals.all.filter { $0.device != DeviceID(row: .max) }
    #expect(told.map(\.cause) == [.collapsed, .unregistered, .expired, .overflow])
    #expect(told.map(\.id) == [1, 4, 3, 5].map(APNSID.number))
    #expect(told.map(\.device) == [1, 1, 1, 2])
  }
}
