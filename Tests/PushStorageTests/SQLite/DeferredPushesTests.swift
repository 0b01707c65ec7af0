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
    for number in 0...Limits.maximumHeld {
      held.hold(
        MailboxEntry(seq: UInt64(number + 1), push: samplePush(number)), Deferral(by: .summary, until: 5),
        PushNotification(), nil)
    }
    let expected = (1...Limits.maximumHeld).map(APNSID.number)
    #expect(held.due(1, at: 5).map(\.id) == expected)
    await held.settle()
    #expect(try DeferredPushes(store: store, logger: .silent).due(1, at: 5) { _ in 5 }.map(\.id) == expected)
  }
}
