import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct EventTargetsTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let targets: EventTargets

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    targets = try EventTargets(store: store)
  }

  private func target(_ name: String) -> EventTarget {
    EventTarget(
      name: name, url: "https://a.example/", apps: [AppID(row: 1), AppID(row: 7)], events: [.accepted, .expired],
      secret: "whsec_1", authority: "PEM", created: 1_000)
  }

  @Test func `a target is stored with all its parts, and each change is reported`() async throws {
    let changes = Mutex(0)
    targets.onChange { changes.withLock { $0 += 1 } }
    try await targets.add(target("shop"))
    try await targets.add(EventTarget(name: "all", url: "http://127.0.0.1:1/", secret: "whsec_2", created: 2))
    #expect(targets.list.map(\.name) == ["all", "shop"])
    #expect(try targets.target(named: "shop") == target("shop"))
    try await targets.rotate("shop", secret: "whsec_3", at: 5_000)
    try await targets.disable("shop", at: 6_000)
    var expected = target("shop")
    (expected.formerSecret, expected.rotated, expected.secret) = ("whsec_1", 5_000, "whsec_3")
    expected.disabled = 6_000
    for targets in [targets, try EventTargets(store: store)] {
      #expect(try targets.target(named: "shop") == expected)
      #expect(try targets.target(named: "all").apps == nil)
      #expect(try targets.target(named: "all").events == nil)
    }
    try await targets.resume("shop")
    #expect(try targets.target(named: "shop").disabled == nil)
    try await targets.remove("shop")
    #expect(try EventTargets(store: store).list.map(\.name) == ["all"])
    #expect(changes.withLock { $0 } == 6)
  }

  @Test func `unknown, doubled and invalid names are refused`() async throws {
    try await targets.add(target("shop"))
    await #expect(throws: RegistrationRefusal.self) { try await targets.add(target("shop")) }
    await #expect(throws: RegistrationRefusal.self) { try await targets.add(target("a/b")) }
    await #expect(throws: RegistrationRefusal.self) { try await targets.remove("none") }
    await #expect(throws: RegistrationRefusal.self) { try await targets.resume("none") }
    await #expect(throws: RegistrationRefusal.self) { try await targets.rotate("none", secret: "", at: 0) }
    #expect(throws: RegistrationRefusal.self) { try targets.target(named: "none") }
  }

  @Test func `there are at most so many targets`() async throws {
    for number in 0..<Limits.maximumEventTargets { try await targets.add(target("t\(number)")) }
    await #expect(throws: RegistrationRefusal.self) { try await targets.add(target("more")) }
  }

  @Test func `a former secret signs for a day`() {
    var target = target("shop")
    #expect(target.secrets(at: 0) == ["whsec_1"])
    (target.formerSecret, target.rotated) = ("whsec_0", 5_000)
    #expect(target.secrets(at: 5) == ["whsec_1", "whsec_0"])
    #expect(target.secrets(at: 5 + Limits.formerSecretTime) == ["whsec_1"])
  }
}
