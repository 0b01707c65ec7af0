import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct MessageSendersTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let senders: MessageSenders

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    senders = try MessageSenders(store: store)
  }

  private func sender(_ name: String, app: Int64 = 1) -> MessageSender {
    MessageSender(
      name: name, app: AppID(row: app), recipients: [.device(DeviceID(row: 3)), .group(4)], rate: 60, created: 1)
  }

  @Test func `a sender is found by its name and its token, also by the next program that opens the database`()
    async throws
  {
    try await senders.add(sender("backup"), token: "pgs-1")
    for senders in [senders, try MessageSenders(store: store)] {
      #expect(senders.find("backup", token: "pgs-1", now: 0)?.recipients == sender("backup").recipients)
      for (name, token) in [("backup", "pgs-2"), ("other", "pgs-1"), ("backup", ""), ("", "pgs-1")] {
        #expect(senders.find(name, token: token, now: 0) == nil)
      }
    }
  }

  @Test func `the time in which equal messages are one is stored`() async throws {
    var sender = sender("backup")
    sender.combine = 600
    try await senders.add(sender, token: "pgs-1")
    #expect(senders.list == [sender])
    #expect(try MessageSenders(store: store).list == [sender])
  }

  @Test func `another token replaces the first, and a removed sender has none`() async throws {
    try await senders.add(sender("backup"), token: "pgs-1")
    #expect(try await senders.rotate("backup", token: "pgs-2").name == "backup")
    for senders in [senders, try MessageSenders(store: store)] {
      #expect(senders.find("backup", token: "pgs-1", now: 0) == nil)
      #expect(senders.find("backup", token: "pgs-2", now: 0) != nil)
    }
    try await senders.remove("backup")
    #expect(senders.find("backup", token: "pgs-2", now: 0) == nil)
    #expect(try MessageSenders(store: store).list.isEmpty)
    await #expect(throws: RegistrationRefusal.self) { try await senders.remove("backup") }
    await #expect(throws: RegistrationRefusal.self) { _ = try await senders.rotate("backup", token: "pgs-3") }
  }

  @Test(arguments: ["", "a/b", "a b", "ä", "a%2Fb", String(repeating: "x", count: 65)])
  func `a name that has another form in a path is refused`(_ name: String) async throws {
    await #expect(throws: RegistrationRefusal.self) { try await senders.add(sender(name), token: "pgs-1") }
  }

  @Test func `the senders of an app are removed with it`() async throws {
    try await senders.add(sender("one", app: 1), token: "pgs-1")
    try await senders.add(sender("two", app: 2), token: "pgs-2")
    try await senders.forget(AppID(row: 1))
    #expect(senders.list.map(\.name) == ["two"])
    #expect(try MessageSenders(store: store).list.map(\.name) == ["two"])
  }

  @Test func `the token is nowhere in the database, and the hour of the last message is`() async throws {
    try await senders.add(sender("backup"), token: "pgs-SECRETSECRET")
    _ = senders.find("backup", token: "pgs-SECRETSECRET", now: 7300)
    try await senders.settle()
    #expect(try MessageSenders(store: store).list.map(\.lastUsed) == [7200])
    let texts = try await store.pool.read { db in
      try String.fetchAll(db, sql: "SELECT name || recipients || hex(token_hash) FROM sender")
    }
    #expect(texts.count == 1 && !texts[0].contains("SECRET"))
  }
}
