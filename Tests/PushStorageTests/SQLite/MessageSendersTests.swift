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

  private func hook(_ name: String, _ hook: Hook) -> MessageSender {
    var sender = sender(name)
    sender.hook = hook
    return sender
  }

  @Test func `the service of a webhook that signs is found by its signature, and no other is`() async throws {
    try await senders.add(hook("code", Hook(.github)), token: "pgs-1")
    let fields = ["body": "/message"]
    try await senders.add(hook("monitor", Hook(.json, fields: fields)), token: "pgs-2")
    for senders in [senders, try MessageSenders(store: store)] {
      #expect(senders.list.map(\.hook) == [Hook(.github), Hook(.json, fields: fields)])
      #expect(senders.find("code", now: 0) { $0 == "pgs-1" }?.name == "code")
      #expect(senders.find("code", now: 0) { $0 != "pgs-1" } == nil)
      for name in ["monitor", "none"] { #expect(senders.find(name, now: 0) { _ in true } == nil) }
    }
    _ = try await senders.rotate("code", token: "pgs-3")
    _ = try await senders.rotate("monitor", token: "pgs-4")
    for senders in [senders, try MessageSenders(store: store)] {
      #expect(senders.find("code", now: 0) { $0 == "pgs-3" } != nil)
      for (name, token) in [("code", "pgs-3"), ("monitor", "pgs-4")] {
        #expect(senders.find(name, token: token, now: 0)?.name == name)
      }
      #expect(senders.find("monitor", now: 0) { _ in true } == nil)
    }
    try await senders.remove("code")
    #expect(senders.find("code", now: 0) { _ in true } == nil)
    let secrets = try await store.pool.read { db in
      try String.fetchAll(db, sql: "SELECT secret FROM sender WHERE secret NOT NULL")
    }
    #expect(secrets.isEmpty)
  }

  @Test func `the last push about a subject is remembered until it is forgotten`() async throws {
    try await senders.add(hook("alerts", Hook(.alertmanager)), token: "pgs-1")
    #expect(try await senders.push(about: "disk", of: "alerts") == nil)
    #expect(try await senders.record(.number(1), about: "disk", of: "alerts", at: 1) == nil)
    #expect(try await senders.record(.number(2), about: "disk", of: "alerts", at: 2) == .number(1))
    #expect(try await senders.record(.number(3), about: "disk", of: "other", at: 2) == nil)
    // A push that was replaced in between ends nothing.
    try await senders.forget(.number(1), about: "disk", of: "alerts")
    #expect(try await MessageSenders(store: store).push(about: "disk", of: "alerts") == .number(2))
    try await senders.forget(.number(2), about: "disk", of: "alerts")
    #expect(try await senders.push(about: "disk", of: "alerts") == nil)
    #expect(try await senders.push(about: "disk", of: "other") == .number(3))
  }

  @Test func `the oldest subjects of a webhook are forgotten, and all with its sender`() async throws {
    try await senders.add(hook("alerts", Hook(.alertmanager)), token: "pgs-1")
    let count = Limits.maximumHookSubjects
    try await store.write { db in
      for number in 0..<count {
        try db.execute(
          sql: "INSERT INTO hook_push VALUES ('alerts', ?, zeroblob(20), ?)", arguments: ["s\(number)", 1_000 + number])
      }
    }
    _ = try await senders.record(.number(1), about: "new", of: "alerts", at: 5_000)
    #expect(try await senders.push(about: "s0", of: "alerts") == nil)
    #expect(try await senders.push(about: "s1", of: "alerts") != nil)
    let later = 5_001 + Int64(Limits.maximumLifetime) * 1000
    _ = try await senders.record(.number(2), about: "later", of: "alerts", at: later)
    #expect(try await subjects() == ["later"])
    try await senders.remove("alerts")
    #expect(try await subjects().isEmpty)
  }

  private func subjects() async throws -> [String] {
    try await store.pool.read { db in try String.fetchAll(db, sql: "SELECT subject FROM hook_push ORDER BY subject") }
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
