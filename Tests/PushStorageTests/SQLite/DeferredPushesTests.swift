import GRDB
import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct DeferredPushesTests {
  @Test func `a device's digest has the newest, and no more than so many`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("push.sqlite"))
    let held = try DeferredPushes(store: store, logger: .silent)
    for number in 0...Limits.maximumDeferred { hold(number, in: held) }
    let expected = (1...Limits.maximumDeferred).map(APNSID.number)
    #expect(held.due(1, at: 5).map(\.id) == expected)
    await held.settle()
    #expect(try DeferredPushes(store: store, logger: .silent).due(1, at: 5) { _ in 5 }.map(\.id) == expected)
  }

  @Test func `pushes that the disk refuses stay in memory, and the next ones are stored`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("push.sqlite"))
    let held = try DeferredPushes(store: store, logger: .silent)
    try await store.pool.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON held BEGIN SELECT RAISE(ABORT, 'no room'); END")
    }
    hold(1, in: held)
    await held.settle()
    try await store.pool.write { try $0.execute(sql: "DROP TRIGGER full") }
    hold(2, in: held)
    hold(3, in: held)
    held.release(.number(3), of: 1)
    await held.settle()
    #expect(held.due(1, at: 5).map(\.id) == [.number(1), .number(2)])
    #expect(try DeferredPushes(store: store, logger: .silent).due(1, at: 5) { _ in 5 }.map(\.id) == [.number(2)])
  }

  @Test func `the retracted pushes of a device are released together`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("push.sqlite"))
    let held = try DeferredPushes(store: store, logger: .silent)
    for number in 1...4 { hold(number, in: held) }
    held.release(of: 1) { id, _ in id == .number(2) || id == .number(4) }
    held.release(of: 2) { _, _ in true }
    await held.settle()
    #expect(held.due(1, at: 5).map(\.id) == [.number(1), .number(3)])
    let again = try DeferredPushes(store: store, logger: .silent)
    #expect(again.due(1, at: 5) { _ in 5 }.map(\.id) == [.number(1), .number(3)])
  }

  private func hold(_ number: Int, in held: DeferredPushes) {
    held.add(
      MailboxEntry(seq: UInt64(number + 1), push: samplePush(number)), Deferral(by: .summary, until: 5),
      PushNotification(), nil)
  }
}
