import PushPolicy
import Testing

@Suite struct DocumentedChoicesTests {
  @Test func `docs-preferences has a row for each choice of each scope`() throws {
    let scopes: [(name: String, scope: Preference.Scope)] = [
      ("everything", .everything), ("an app", .app), ("a category", .category),
    ]
    let rows = scopes.flatMap { name, scope in
      Preference.choices(of: scope).map { choice in
        "| \(name) | `\(choice.listedName)` | \(choice.values(in: scope) ?? "") | \(choice.help) |"
      }
    }
    try DocumentedTable(page: "reference/preferences.md", header: "| for | preference | values | what it says |")
      .expect(
        rows)
  }
}
