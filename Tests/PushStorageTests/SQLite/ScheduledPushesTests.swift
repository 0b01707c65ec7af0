import Foundation
import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct ScheduledPushesTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let scheduled: ScheduledPushes

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"), durability: .normal)
    scheduled = try ScheduledPushes(store: store)
  }

  private func push(
    _ number: Int, at time: Int64, to device: DeviceID = 1, app: AppID = 1, team: String? = "TEAM000001",
    expires: Int64? = nil
  ) -> ScheduledPush {
    ScheduledPush(samplePush(number, to: device, app: app), at: time, expires: expires, team: team)
  }

  private func add(_ push: ScheduledPush, to scheduled: ScheduledPushes? = nil) async throws -> ScheduledPushes.Outcome
  {
    try await withCheckedThrowingContinuation { continuation in
      (scheduled ?? self.scheduled).add(push) { continuation.resume(with: $0) }
    }
  }

  @Test func `what was kept is there after a crash, as it was, and due in the order of its times`() async throws {
    for (number, time, expires) in [(1, 3000, nil), (2, 1000, 5), (3, 2000, 0)] as [(Int, Int64, Int64?)] {
      #expect(try await add(push(number, at: time, expires: expires)) == .stored)
    }
    let copy = try TemporaryFolder()
    for name in ["push.sqlite", "push.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: folder.file(name), toPath: copy.file(name))
    }
    for home in [scheduled, try ScheduledPushes(store: try SQLiteStore(path: copy.file("push.sqlite")))] {
      #expect((home.count, home.next) == (3, 1000))
      #expect(try await home.due(at: 999, limit: 9).isEmpty)
      let due = try await home.due(at: 2500, limit: 9)
      #expect(due.map(\.push.id) == [.number(2), .number(3)])
      #expect(due.map(\.push.expires) == [5, 0])
      let last = try #require(try await home.due(at: 3000, limit: 9).last?.push)
      let sent = push(1, at: 3000)
      #expect((last.at, last.device, last.app, last.team) == (3000, 1, 1, "TEAM000001"))
      #expect((last.payload, last.priority, last.received, last.expires) == (sent.payload, 10, sent.received, nil))
      try await home.remove(due.map(\.number))
      #expect((home.count, home.next) == (1, 3000))
      #expect(try await home.due(at: 2500, limit: 9).isEmpty)
    }
  }

  @Test func `an id is kept once for a device`() async throws {
    #expect(try await add(push(1, at: 1000)) == .stored)
    #expect(try await add(push(1, at: 9000)) == .duplicate)
    #expect(try await add(push(1, at: 5000, to: 2)) == .stored)
    #expect(try await add(push(1, at: 5000, app: 2)) == .stored)
    #expect((scheduled.count, scheduled.next) == (3, 1000))
  }

  @Test func `what is taken back is gone, and nothing else`() async throws {
    for (number, device) in [(1, 1), (1, 2), (2, 1), (3, 3)] as [(Int, DeviceID)] {
      _ = try await add(push(number, at: 1000 * Int64(number), to: device, app: AppID(row: Int64(number))))
    }
    #expect(try await scheduled.cancel(.number(9)).isEmpty)
    #expect(try await scheduled.cancel(.number(1)).map(\.device) == [1, 2])
    #expect((scheduled.count, scheduled.next) == (2, 2000))
    #expect(try await scheduled.purge([1], app: 3).isEmpty)
    #expect(try await scheduled.purge([1], app: 2).map(\.id) == [.number(2)])
    #expect(try await scheduled.purge([2, 3]).map(\.id) == [.number(3)])
    #expect((scheduled.count, scheduled.next) == (0, nil))
  }

  @Test func `what the disk refused is not waited for`() async throws {
    #expect(try await add(push(1, at: 5000)) == .stored)
    try await store.pool.write { db in
      try db.execute(
        sql: "CREATE TRIGGER full BEFORE INSERT ON scheduled BEGIN SELECT RAISE(ABORT, 'no room'); END")
    }
    await #expect(throws: StoreError.self) { try await add(push(2, at: 1000)) }
    #expect((scheduled.count, scheduled.next) == (1, 5000))
    // Simulates a commit that fails after its due time was noted.
    try await store.pool.write { try $0.execute(sql: "DROP TRIGGER full; DELETE FROM scheduled") }
    #expect(scheduled.next == 5000)
    try await scheduled.refresh()
    #expect(scheduled.next == nil)
  }

  @Test func `it is listed page by page`() async throws {
    for number in 1...5 { _ = try await add(push(number, at: Int64(1000 * (number / 2)))) }
    var (found, last): ([APNSID], ScheduledPushes.Position?) = ([], nil)
    while case let page = try await scheduled.list(after: last, limit: 2), let row = page.last {
      found += page.map(\.push.id)
      last = row.position
    }
    #expect(found == (1...5).map { .number($0) })
  }

  @Test func `an app, a team and all together have a bound, and what leaves makes room`() async throws {
    // The maximum number of rows, without the time to accept each of them.
    try await store.pool.write { db in
      try db.execute(
        sql: """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Limits.maximumScheduled))
          INSERT INTO scheduled SELECT i, 5000, 1, i / \(Limits.maximumAppScheduled), 'TEAM' || (i / \(Limits.maximumTeamScheduled)),
            CAST(printf('%020d', i) AS BLOB), zeroblob(20), 0, NULL, 10, '', CAST('{}' AS BLOB) FROM n
          """)
    }
    let full = try ScheduledPushes(store: store)
    #expect(full.count == Limits.maximumScheduled)
    #expect(try await add(push(1, at: 1, app: 77, team: nil), to: full) == .full)
    try await full.remove([Int64(Limits.maximumScheduled)])
    // The table has space again, but not for an app or a team that has its maximum.
    #expect(try await add(push(2, at: 1, app: 3, team: nil), to: full) == .full)
    #expect(try await add(push(3, at: 1, app: 77, team: "TEAM1"), to: full) == .full)
    #expect(try await add(push(4, at: 1, app: 77, team: "TEAM9"), to: full) == .stored)
    #expect(try await add(push(5, at: 1, app: 77, team: nil), to: full) == .full)
    #expect((full.count, full.next) == (Limits.maximumScheduled, 1))
  }

  @Test func `many at once are bounded as one after another`() async throws {
    let rest = 20
    try await store.pool.write { db in
      try db.execute(
        sql: """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Limits.maximumAppScheduled - rest))
          INSERT INTO scheduled SELECT i, 5000, 1, 1, NULL, CAST(printf('%020d', i) AS BLOB), zeroblob(20), 0, NULL, 10,
            '', CAST('{}' AS BLOB) FROM n
          """)
    }
    let full = try ScheduledPushes(store: store)
    let outcomes = try await withThrowingTaskGroup(of: ScheduledPushes.Outcome.self) { group in
      for number in 1...100 { group.addTask { try await self.add(self.push(number, at: 1), to: full) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count { $0 == .stored } == rest)
    #expect(outcomes.count { $0 == .full } == 100 - rest)
  }
}
