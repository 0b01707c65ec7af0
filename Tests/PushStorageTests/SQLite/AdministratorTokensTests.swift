import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct AdministratorTokensTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let tokens: AdministratorTokens

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    tokens = try AdministratorTokens(store: store)
  }

  private func token(_ name: String, _ role: Role = .reader, expires: Int64 = 1000) -> AdministratorToken {
    AdministratorToken(name: name, role: role, created: 1, expires: expires)
  }

  @Test func `a token is found by its text until it ends, also by the next who opens the database`() async throws {
    try await tokens.add(token("ada", .admin), text: "pga-1")
    for tokens in [tokens, try AdministratorTokens(store: store)] {
      #expect(tokens.find("pga-1", now: 999)?.name == "ada")
      #expect(tokens.find("pga-1", now: 999)?.role == .admin)
      #expect(tokens.find("pga-1", now: 1000) == nil)
      for text in ["pga-2", "", "PGA-1", "pga-1 ", " pga-1"] { #expect(tokens.find(text, now: 0) == nil) }
    }
  }

  @Test func `a token that was removed is good no longer, and its name is free`() async throws {
    try await tokens.add(token("ada"), text: "pga-1")
    await #expect(throws: RegistrationRefusal.self) { try await tokens.add(token("ada"), text: "pga-2") }
    #expect(tokens.find("pga-2", now: 1) == nil)
    try await tokens.remove("ada")
    #expect(tokens.find("pga-1", now: 1) == nil)
    #expect(try AdministratorTokens(store: store).list.isEmpty)
    await #expect(throws: RegistrationRefusal.self) { try await tokens.remove("ada") }
    try await tokens.add(token("ada"), text: "pga-2")
    #expect(tokens.find("pga-2", now: 1) != nil)
  }

  @Test(arguments: [Role.provider, .device, .session]) func `no other role has tokens`(_ role: Role) async throws {
    await #expect(throws: RegistrationRefusal.self) { try await tokens.add(token("ada", role), text: "pga-1") }
    #expect(tokens.list.isEmpty)
  }

  @Test(arguments: ["", "a\u{1B}b", "a\nb", String(repeating: "x", count: 65)])
  func `a name that can't be shown is refused`(_ name: String) async throws {
    await #expect(throws: RegistrationRefusal.self) { try await tokens.add(token(name), text: "pga-1") }
  }

  @Test func `the text is nowhere in the database`() async throws {
    try await tokens.add(token("ada"), text: "pga-SECRETSECRET")
    let texts = try await store.pool.read { db in
      try String.fetchAll(db, sql: "SELECT name || role || hex(token_hash) FROM administrator")
    }
    #expect(texts.count == 1 && !texts[0].contains("SECRET"))
  }

  @Test func `the hour in which it was last shown is written down`() async throws {
    try await tokens.add(token("ada", expires: 100_000), text: "pga-1")
    #expect(tokens.list.map(\.lastUsed) == [nil])
    _ = tokens.find("pga-1", now: 7300)
    _ = tokens.find("pga-1", now: 7200)
    _ = tokens.find("pga-1", now: 3600)
    #expect(tokens.list.map(\.lastUsed) == [7200])
    #expect(try AdministratorTokens(store: store).list.map(\.lastUsed) == [nil])
    try await tokens.settle()
    #expect(try AdministratorTokens(store: store).list.map(\.lastUsed) == [7200])
  }
}
