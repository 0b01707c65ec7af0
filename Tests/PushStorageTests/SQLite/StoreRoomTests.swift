import Foundation
import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

/// The size of a database on the disk, and changes of its files by others.
@Suite(.timeLimit(.minutes(5))) struct StoreRoomTests {
  private func size(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  private func fill(_ home: SQLiteHome) async throws {
    let payload = String(repeating: "x", count: 4000)
    for _ in 0..<25 {
      _ = await home.mailbox.append((0..<200).map { _ in samplePush(payload: #"{"n":"\#(payload)"}"#) })
    }
  }

  @Test func `room is given back once nothing is stored in it, in slices`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    try await fill(home)
    try await home.mailbox.purge([1], app: nil)
    // Empties the log completely, even while the mailbox checkpoints it automatically.
    #expect(try await home.store.emptyLog())
    let full = try size(home.store.path)
    #expect(full > 15 << 20)
    var slices = 0
    while try await home.store.releaseSpace() { slices += 1 }
    #expect(slices > 5)
    _ = await home.mailbox.append([samplePush(7)])
    let (before, after) = try await home.store.compact()
    #expect(before <= full && after < 1 << 20)
    #expect(home.mailbox.waitingCount(for: 1) == 1)
  }

  @Test func `a database of an earlier version is written anew`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("push.sqlite")
    do {
      let queue = try DatabaseQueue(path: path)
      try Schema.migrator.migrate(queue)
      try await queue.write { db in
        try db.execute(
          sql: "INSERT INTO ad_report (at, device, app, apns_id, text) VALUES (1, 1, 1, zeroblob(20), ?)",
          arguments: [String(repeating: "x", count: 8 << 20)])
        try db.execute(sql: "DELETE FROM ad_report")
      }
      try queue.close()
    }
    let store = try SQLiteStore(path: path)
    #expect(try await !store.releaseSpace(isThorough: true))
    let (before, after) = try await store.compact()
    #expect(before > 8 << 20 && after < 1 << 20)
    #expect(try await store.pool.read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") } == 2)
  }

  @Test func `the write-ahead log is bounded, whatever writes`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("push.sqlite"))
    let answers = Answers(store: store)
    for number in 0..<40 {
      try await store.pool.write { db in
        try db.execute(
          sql: "INSERT INTO ad_report (at, device, app, apns_id, text) VALUES (1, 1, 1, randomblob(20), ?)",
          arguments: [String(repeating: "x", count: 2 << 20)])
      }
      if number.isMultiple(of: 10) { try await answers.forget(PersonID(row: 1)) }
    }
    let limit = Limits.maximumDatabaseLogPages * SQLiteStore.pageSize
    #expect(try size(store.path + "-wal") <= limit + 4 << 20)
  }

  @Test func `the write-ahead log that a long reader made grow is cut back when that is done`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("push.sqlite"))
    let limit = Limits.maximumDatabaseLogPages * SQLiteStore.pageSize
    func write() async throws {
      try await store.pool.write { db in
        try db.execute(
          sql: "INSERT INTO ad_report (at, device, app, apns_id, text) VALUES (1, 1, 1, randomblob(20), ?)",
          arguments: [String(repeating: "x", count: 2 << 20)])
      }
    }
    // A long read transaction, as that of a backup.
    var configuration = GRDB.Configuration()
    (configuration.readonly, configuration.allowsUnsafeTransactions) = (true, true)
    let reader = try DatabaseQueue(path: store.path, configuration: configuration)
    try await reader.writeWithoutTransaction { db in
      try db.execute(sql: "BEGIN")
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM ad_report")
    }
    for _ in 0..<30 { try await write() }
    #expect(try size(store.path + "-wal") > limit + 4 << 20)
    try await reader.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    for _ in 0..<3 { try await write() }
    #expect(try size(store.path + "-wal") <= limit + 4 << 20)
  }

  @Test(arguments: ["-wal", "-shm", ""])
  func `a file that is deleted under a running gateway is noticed, and what it held is kept`(
    _ suffix: String
  ) async throws {
    let home = try SQLiteHome()
    let watch = StoreWatch(home.store, logger: .silent, now: { 7 })
    _ = await home.mailbox.append([samplePush(1), samplePush(2)])
    await watch.look()
    #expect(watch.problem == nil)
    try FileManager.default.removeItem(atPath: home.store.path + suffix)
    _ = await home.mailbox.append([samplePush(3)])
    await watch.look()
    let problem = try #require(watch.problem)
    #expect(problem.part == "database" && problem.since == 7)
    #expect(problem.problem.contains("push.sqlite\(suffix) was deleted or replaced"))
    // No further push is accepted, and the accepted ones are in the file that the message names.
    let outcome = await home.mailbox.append([samplePush(4)])
    #expect(outcome.allSatisfy { if case .unavailable = $0 { true } else { false } })
    let copy = try TemporaryFolder()
    let kept = home.store.path + (suffix.isEmpty ? ".rescued" : "")
    try FileManager.default.copyItem(atPath: kept, toPath: copy.file("push.sqlite"))
    let later = try SQLiteHome(folder: copy)
    defer { later.mailbox.close() }
    #expect(
      try await later.mailbox.pending(for: 1, after: 0, limit: 9).entries.map(\.push.id) == (1...3).map { .number($0) })
  }

  @Test func `pages that are damaged under a running gateway are noticed`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    let watch = StoreWatch(home.store, logger: .silent, now: { 7 })
    try await fill(home)
    try home.store.moveLog()
    await watch.look()
    #expect(watch.problem == nil)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: home.store.path))
    try file.seek(toOffset: 40 * 4096)
    try file.write(contentsOf: Data(repeating: 0xA5, count: 200 * 4096))
    try file.close()
    let later = StoreWatch(home.store, logger: .silent, now: { 7 })
    await later.look()
    #expect(later.problem?.problem.contains("is damaged") == true)
  }
}
