import Foundation
import GRDB
package import PushCore
package import PushPolicy
import Synchronization

/// The event types of apps, each with the actions that its alerts offer: all in memory, each change on disk first.
package final class Categories: Sendable {
  private let store: SQLiteStore
  private let state: Mutex<[AppID: [String: [AlertAction]]]>

  package init(store: SQLiteStore) throws(StoreError) {
    self.store = store
    do {
      state = Mutex(try store.pool.read(Categories.load))
    } catch {
      throw SQLiteStore.explain(error, path: store.path)
    }
  }

  /// Reads all of it as a start does, and keeps nothing.
  static func checkRows(_ db: Database) throws { _ = try load(db) }

  private static func load(_ db: Database) throws -> [AppID: [String: [AlertAction]]] {
    var categories: [AppID: [String: [AlertAction]]] = [:]
    let rows = try PreparedStatement(db, "SELECT app, id, actions FROM category")
    while try rows.next() {
      let (app, id) = (AppID(row: try rows.integer(0)), try rows.text(1))
      categories[app, default: [:]][id] = try rows.json(2, as: [AlertAction].self)
    }
    return categories
  }

  /// What the alerts of a category offer; nothing for a category that is not known.
  package func actions(of app: AppID, _ category: String) -> [AlertAction] {
    state.withLock { $0[app]?[category] } ?? []
  }

  /// All categories of an app.
  package func all(of app: AppID) -> [String: [AlertAction]] { state.withLock { $0[app] } ?? [:] }

  /// Adds a category or changes its actions.
  package func put(_ app: AppID, _ category: String, _ actions: [AlertAction]) async throws {
    try Categories.check(category, actions)
    let text = String(decoding: try JSONEncoder().encode(actions), as: UTF8.self)
    do {
      try await store.pool.write { db in
        try db.execute(
          sql: "INSERT OR REPLACE INTO category (app, id, actions) VALUES (?, ?, ?)",
          arguments: [app.row, category, text])
      }
    } catch let error as DatabaseError {
      throw SQLiteStore.explain(error, path: store.path)
    }
    state.withLock { $0[app, default: [:]][category] = actions }
  }

  /// Actions that every alert has by itself.
  private static let reserved: Set = ["view", "close", "ok", "options"]
  /// As many as fit on an action sheet, which never scrolls (X4).
  private static let maximumActions = 4

  private static func check(_ category: String, _ actions: [AlertAction]) throws(RegistrationRefusal) {
    func refuse(_ words: String) -> RegistrationRefusal { .init(kind: .invalid, description: words) }
    guard (1...64).contains(category.utf8.count) else { throw refuse("a category's id has 1 to 64 bytes") }
    guard actions.count <= maximumActions else { throw refuse("a category has at most \(maximumActions) actions (X4)") }
    for action in actions {
      guard (1...Limits.maximumActionSize).contains(action.id.utf8.count),
        action.id.utf8.allSatisfy({ $0.isPrintable && $0 != UInt8(ascii: " ") })
      else { throw refuse("an action's id has 1 to 32 printable characters, as approve") }
      guard !reserved.contains(action.id) else { throw refuse("every alert has the action \(action.id) by itself") }
      guard (1...60).contains(action.title.utf8.count) else { throw refuse("an action's title has 1 to 60 bytes") }
    }
    guard Set(actions.map(\.id)).count == actions.count else { throw refuse("two actions have the same id") }
  }
}

extension UInt8 {
  /// Whether this is ASCII and no control.
  fileprivate var isPrintable: Bool { (0x20..<0x7F).contains(self) }
}
