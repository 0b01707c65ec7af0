import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct CategoriesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func home() async throws -> (SQLiteRegistrations, App) {
    let registrations = try SQLiteRegistrations(store: try SQLiteStore(path: folder.file("db.sqlite")))
    let app = try await registrations.putApp(topic: "a.b", name: "A", icon: "A", policyMode: .enforce)
    return (registrations, app)
  }

  @Test func `actions are kept, replaced, and found after a restart`() async throws {
    let actions = [
      AlertAction(id: "yes", title: "Yes, \"Really\""), AlertAction(id: "no", title: "No", isDestructive: true),
    ]
    do {
      let (registrations, app) = try await home()
      try await registrations.putCategory(app.id, "ASK", [AlertAction(id: "old", title: "Old")])
      try await registrations.putCategory(app.id, "ASK", actions)
      #expect(registrations.actions(of: app.id, "ASK") == actions)
    }
    let (registrations, app) = try await home()
    #expect(registrations.categories(of: app.id) == ["ASK": actions])
    #expect(registrations.actions(of: app.id, "OTHER").isEmpty)
  }

  @Test func `an app has a thousand open questions at most, beside its own categories`() async throws {
    let (_, app) = try await home()
    let actions = [AlertAction(id: "yes", title: "Yes")]
    let store = try SQLiteStore(path: folder.file("db.sqlite"), durability: .normal)
    let open = try SQLiteRegistrations(store: store)
    for number in 1...Limits.maximumQuestions {
      try await open.putCategory(app.id, "ASK-\(number)", actions, expires: Int64(number))
    }
    let refusal = await #expect(throws: RegistrationRefusal.self) {
      try await open.putCategory(app.id, "ASK-0", actions, expires: 1)
    }
    #expect(refusal?.kind == .conflict)
    try await open.putCategory(app.id, "DEPLOY", actions)
    try await open.expireCategories(now: 1)
    try await open.putCategory(app.id, "ASK-0", actions, expires: 1)
  }

  @Test(arguments: [
    ("", [AlertAction(id: "a", title: "A")]), ("C", (1...5).map { AlertAction(id: "a\($0)", title: "A") }),
    ("C", [AlertAction(id: "close", title: "A")]), ("C", [AlertAction(id: "a b", title: "A")]),
    ("C", [AlertAction(id: "a", title: "")]),
    ("C", [AlertAction(id: "a", title: "A"), AlertAction(id: "a", title: "B")]),
  ])
  func `what no alert could offer is refused`(_ category: String, _ actions: [AlertAction]) async throws {
    let (registrations, app) = try await home()
    await #expect(throws: RegistrationRefusal.self) {
      try await registrations.putCategory(app.id, category, actions)
    }
  }
}
