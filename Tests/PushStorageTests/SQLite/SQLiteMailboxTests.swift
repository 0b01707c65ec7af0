import Foundation
import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct SQLiteMailboxTests {
  @Test(arguments: [1, 2, 3, 40])
  func `what lies between a device's rows is neither read nor deleted with them`(_ distance: Int) async throws {
    var home = try SQLiteHome()
    let devices: [DeviceID] = (0..<20).flatMap { _ in [1] + (1..<distance).map { _ in 2 } }
    _ = await home.mailbox.append(devices.map { samplePush(to: $0) })
    func seqs(of device: DeviceID) -> [UInt64] { (0..<devices.count { $0 == device }).map { UInt64($0 + 1) } }
    for device: DeviceID in [1, 2] {
      let pending = try await home.mailbox.pending(for: device, after: 0, limit: 1000)
      #expect(pending.entries.map(\.seq) == seqs(of: device))
      #expect(pending.entries.allSatisfy { $0.push.device == device })
    }
    home.mailbox.acknowledge(1, through: 15)
    home = try home.reopened()
    defer { home.mailbox.close() }
    #expect(try await home.mailbox.pending(for: 1, after: 0, limit: 1000).entries.map(\.seq) == [16, 17, 18, 19, 20])
    #expect(try await home.mailbox.pending(for: 2, after: 0, limit: 1000).entries.map(\.seq) == seqs(of: 2))
  }

  /// Rows are inserted in groups, and the rest one by one.
  @Test(arguments: [1, 15, 16, 17, 33])
  func `every column of every row of a batch comes back, whatever its size`(_ count: Int) async throws {
    var home = try SQLiteHome()
    func push(_ number: Int) -> StoredPush {
      let time = Int64(number)
      let payload = #"{"aps":{},"n":""# + String(repeating: "x", count: 100 * number) + #""}"#
      return StoredPush(
        device: 1, app: AppID(row: time % 3 + 1), id: .number(number), isSenderID: number.isMultiple(of: 2),
        uniqueID: .number(1000 + number), received: TestClock.start * 1000 + time,
        expires: TestClock.start + 3600 + time, priority: [10, 5, 1][number % 3],
        collapseID: number % 4 == 1 ? "collapse-\(number)" : "", payload: Array(payload.utf8))
    }
    let pushes = (1...count).map(push)
    #expect(await home.mailbox.append(pushes).map(\.seq) == (1...count).map { UInt64($0) })
    home = try home.reopened()
    defer { home.mailbox.close() }
    let found = try await home.mailbox.pending(for: 1, after: 0, limit: 100).entries
    #expect(found.map(\.seq) == (1...count).map { UInt64($0) })
    func columns(_ push: StoredPush) -> [String] {
      [
        "\(push.app.row)", "\(push.id)", "\(push.isSenderID)", "\(push.uniqueID)", "\(push.received)",
        "\(push.expires)", "\(push.priority)", push.collapseID, String(decoding: push.payload, as: UTF8.self),
      ]
    }
    #expect(found.map { columns($0.push) } == pushes.map(columns))
  }

  @Test func `what was purged is gone after a crash as soon as that was answered`() async throws {
    let home = try SQLiteHome()
    _ = await home.mailbox.append((1...20).map { samplePush($0, app: $0 <= 10 ? 1 : 2) })
    try await home.mailbox.purge([1], app: 1)
    let copy = try home.crashed()
    defer { copy.mailbox.close() }
    #expect(
      try await copy.mailbox.pending(for: 1, after: 0, limit: 100).entries.map(\.push.app)
        == .init(repeating: 2, count: 10))
  }

  @Test func `what waits for an ended registration goes when the mailbox is opened`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    _ = await home.mailbox.append([samplePush(1), samplePush(2, app: 2), samplePush(3), samplePush(4, to: 2)])
    home.mailbox.purgeUnregistered { device, app in device == 1 && app == 2 }
    try await home.mailbox.purge([], app: nil)
    #expect(home.mailbox.waitingCount(for: 1) == 1)
    #expect(home.mailbox.waitingCount(for: 2) == 0)
    #expect(home.removals.all.allSatisfy { $0.cause == .unregistered })
    #expect(home.removals.all.count == 3)
  }

  @Test func `everything is there after closing and opening, and numbers and retries go on`() async throws {
    var home = try SQLiteHome(cap: 4)
    _ = await home.mailbox.append([samplePush(1), samplePush(2, collapse: "a"), samplePush(3)])
    _ = await home.mailbox.append([samplePush(4, collapse: "a"), samplePush(5), samplePush(6)])
    home.mailbox.acknowledge(1, through: 1)
    await home.mailbox.settle()
    home = try home.reopened()
    defer { home.mailbox.close() }
    #expect(try await home.mailbox.waiting() == [3, 4, 5, 6])
    let retries = await home.mailbox.append((1...6).map { samplePush($0) })
    #expect(retries.map(\.isDuplicate) == [Bool](repeating: true, count: 6))
    #expect(await home.mailbox.append([samplePush(7)]).map(\.seq) == [7])
    #expect(try await home.mailbox.pending(for: 1, after: 0, limit: 9).gap == MailboxGap(from: 3, to: 3, dropped: 1))
  }

  @Test func `every push whose completion ran is in a copy of the files`() async throws {
    let home = try SQLiteHome()
    var seen: Set<UInt64> = []
    for round in 0..<20 {
      seen.formUnion(await home.mailbox.append((0..<10).map { samplePush(round * 10 + $0 + 1) }).compactMap(\.seq))
    }
    let copy = try home.crashed()
    defer { copy.mailbox.close() }
    #expect(seen.count == 200)
    #expect(Set(try await copy.mailbox.waiting()) == seen)
    #expect(await copy.mailbox.append([samplePush()]).map(\.seq) == [201])
  }

  @Test func `a failure is known, and over when the disk takes pages again`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    #expect(home.mailbox.problem == nil)
    let size = try await home.store.pool.write { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
    try await home.store.pool.write { try $0.execute(sql: "PRAGMA max_page_count = \(size)") }
    let large = String(repeating: "x", count: 9000)
    // The problem is set when an append is refused. A second later, the mailbox may have retried automatically.
    let (seqs, found) = await withCheckedContinuation { continuation in
      home.mailbox.append([samplePush(1, payload: large)]) { outcomes in
        continuation.resume(returning: (outcomes.map(\.seq), home.mailbox.problem))
      }
    }
    #expect(seqs == [nil])
    let problem = try #require(found)
    #expect(problem.problem.hasSuffix("the disk is full: free some space"))
    #expect(problem.since == home.clock.seconds)
    try await home.store.pool.write { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
    // Without appends, the mailbox retries automatically.
    await eventually { home.mailbox.problem == nil }
    #expect(await home.mailbox.append([samplePush(1, payload: large)]).compactMap(\.seq).count == 1)
  }

  @Test func `what replaced another is alone in a copy of the files`() async throws {
    let home = try SQLiteHome()
    _ = await home.mailbox.append([samplePush(1, collapse: "a")])
    _ = await home.mailbox.append([samplePush(2, collapse: "a")])
    var copy = try home.crashed()
    #expect(try await copy.mailbox.waiting() == [2])
    copy.mailbox.acknowledge(1, through: 2)
    copy = try copy.reopened()
    defer { copy.mailbox.close() }
    #expect(try await copy.mailbox.waiting() == [])
    #expect(await copy.mailbox.append([samplePush(1)]).map(\.isDuplicate) == [true])
  }

  @Test func `numbers go on when everything was acknowledged and its rows have gone`() async throws {
    var home = try SQLiteHome()
    _ = await home.mailbox.append((1...5).map { samplePush($0) })
    home.mailbox.acknowledge(1, through: 5)
    await home.mailbox.settle()
    home.clock.advance(seconds: 400)
    await home.mailbox.settle()
    home.mailbox.expire(now: home.clock.seconds)
    home = try home.reopened()
    defer { home.mailbox.close() }
    let rows = try await home.store.pool.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM mailbox WHERE device = 1")
    }
    #expect(rows == 0)
    #expect(await home.mailbox.append([samplePush(1, at: home.clock.seconds)]).map(\.seq) == [6])
  }

  @Test func `a batch that fails is unavailable as a whole, and later ones succeed`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    _ = await home.mailbox.append([samplePush(1)])
    try await home.store.pool.write {
      try $0.execute(
        sql: "CREATE TRIGGER full BEFORE INSERT ON mailbox WHEN new.app = 9 BEGIN SELECT raise(ABORT, 'no'); END")
    }
    let failed = await home.mailbox.append([samplePush(2), samplePush(3, app: 9), samplePush(2), samplePush(4)])
    #expect(failed.map(\.isUnavailable) == [true, true, true, true])
    #expect(try await home.mailbox.waiting() == [1])
    let repeated = await home.mailbox.append([samplePush(2), samplePush(4)])
    #expect(repeated.compactMap(\.seq).count == 2)
    #expect(try await home.mailbox.waiting().count == 3)
    try await home.store.pool.write { try $0.execute(sql: "DROP TRIGGER full") }
    #expect(await home.mailbox.append([samplePush(3, app: 9)]).map(\.isUnavailable) == [false])
  }

  @Test func `removals that could not be committed are not lost`() async throws {
    var home = try SQLiteHome()
    _ = await home.mailbox.append((1...3).map { samplePush($0) })
    try await home.store.pool.write {
      try $0.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON mailbox BEGIN SELECT raise(ABORT, 'no'); END")
    }
    home.mailbox.acknowledge(1, through: 2)
    #expect(await home.mailbox.append([samplePush(4)]).map(\.isUnavailable) == [true])
    home = try home.reopened()
    defer { home.mailbox.close() }
    #expect(try await home.mailbox.waiting() == [3])
  }

  @Test func `a full disk is unavailable, and is over when there is room`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    let size = try await home.store.pool.writeWithoutTransaction { db in
      let size = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
      try db.execute(sql: "PRAGMA max_page_count = \(size + 2)")
      return size
    }
    #expect(size > 0)
    let large = String(repeating: "x", count: 4000)
    var outcomes: [AppendOutcome] = []
    for number in 1...8 { outcomes += await home.mailbox.append([samplePush(number, payload: large)]) }
    #expect(outcomes.map(\.isUnavailable).contains(true))
    try await home.store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
    for (number, outcome) in zip(1..., outcomes) where outcome.isUnavailable {
      #expect(await home.mailbox.append([samplePush(number, payload: large)]).compactMap(\.seq).count == 1)
    }
    let numbers = try await home.mailbox.waiting()
    #expect(numbers.count == 8)
    #expect(numbers == numbers.sorted())
  }

  @Test func `a closed mailbox takes nothing`() async throws {
    let home = try SQLiteHome()
    home.mailbox.close()
    home.mailbox.close()
    #expect(await home.mailbox.append([samplePush()]).map(\.isUnavailable) == [true])
  }

  @Test func `closing commits what is in line`() async throws {
    var home = try SQLiteHome()
    for number in 1...500 { home.mailbox.append([samplePush(number)]) { _ in } }
    home.mailbox.acknowledge(1, through: 100)
    home = try home.reopened()
    defer { home.mailbox.close() }
    let waiting = try await home.mailbox.waiting()
    #expect(waiting.last == 500)
    #expect(waiting.first ?? 0 <= 101)
  }

  @Test func `more than what may wait for a commit is refused at once`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    let push = samplePush()
    let many = [StoredPush](repeating: push, count: Limits.maximumUncommitted + 1)
    let outcomes = await home.mailbox.append(many)
    #expect(!outcomes.map(\.isUnavailable).contains(false))
    #expect(await home.mailbox.append([push]).map(\.seq) == [1])
  }
}
