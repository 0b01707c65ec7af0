import Foundation
import GRDB
package import PushCore
package import PushPolicy
import Synchronization

/// The event types of apps, each with the actions that its alerts offer.
///
/// A category with an expiration time belongs to a question (``Question``). Its sender removes it; otherwise it
/// expires.
extension SQLiteRegistrations {
  package func actions(of app: AppID, _ category: String) -> [AlertAction] {
    categoriesByApp.withLock { $0[app]?[category]?.actions } ?? []
  }

  package func isQuestion(_ app: AppID, _ category: String) -> Bool {
    categoriesByApp.withLock { $0[app]?[category]?.expires } != nil
  }

  package func categories(of app: AppID) -> [String: [AlertAction]] {
    categoriesByApp.withLock { $0[app] }?.mapValues(\.actions) ?? [:]
  }

  @inline(never)
  package func putCategory(
    _ app: AppID, _ category: String, _ actions: [AlertAction], expires: Int64?
  ) async throws {
    try SQLiteRegistrations.checkCategory(category, actions)
    let count = categoriesByApp.withLock { $0[app]?.count { $0.value.expires != nil } } ?? 0
    guard expires == nil || count < Limits.maximumQuestions else {
      throw RegistrationRefusal(
        kind: .conflict, description: "\(Limits.maximumQuestions) questions of this app are open: wait for an answer")
    }
    let text = String(decoding: try JSONEncoder().encode(actions), as: UTF8.self)
    try await store.change { [self] db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO category (app, id, actions, expires) VALUES (?, ?, ?, ?)",
        arguments: [app.row, category, text, expires])
      db.afterNextTransaction { [self] _ in
        categoriesByApp.withLock { $0[app, default: [:]][category] = Category(actions: actions, expires: expires) }
      }
    }
  }

  @inline(never)
  package func removeCategory(_ app: AppID, _ category: String) async throws {
    try await removeCategories([(app, category)])
  }

  /// Removes all categories of an app, within the caller's transaction.
  func removeCategories(of app: AppID, _ db: Database) throws {
    try db.execute(sql: "DELETE FROM category WHERE app = ?", arguments: [app.row])
    db.afterNextTransaction { [self] _ in categoriesByApp.withLock { $0[app] = nil } }
  }

  @inline(never)
  package func expireCategories(now: Int64) async throws {
    let ended = categoriesByApp.withLock { all in
      all.flatMap { app, categories in
        categories.filter { $0.value.expires.map { $0 <= now } ?? false }.map { (app, $0.key) }
      }
    }
    if !ended.isEmpty { try await removeCategories(ended) }
  }

  @inline(never)
  private func removeCategories(_ ended: [(AppID, String)]) async throws {
    try await store.change { [self] db in
      for (app, category) in ended {
        try db.execute(sql: "DELETE FROM category WHERE app = ? AND id = ?", arguments: [app.row, category])
      }
      db.afterNextTransaction { [self] _ in
        categoriesByApp.withLock { all in for (app, category) in ended { all[app]?[category] = nil } }
      }
    }
  }

  /// The built-in actions of every alert.
  private static let reserved: Set = ["view", "close", "ok", "options"]
  /// The number of actions that fit on an action sheet, which never scrolls (X4).
  private static let maximumActions = 4

  private static func checkCategory(_ category: String, _ actions: [AlertAction]) throws(RegistrationRefusal) {
    func refuse(_ words: String) -> RegistrationRefusal { .init(kind: .invalid, description: words) }
    guard (1...64).contains(category.utf8.count) else {
      throw refuse("invalid id of a category: expected 1 to 64 bytes")
    }
    guard actions.count <= maximumActions else {
      throw refuse("too many actions: expected at most \(maximumActions) for a category (X4)")
    }
    for action in actions {
      guard (1...Limits.maximumActionSize).contains(action.id.utf8.count),
        action.id.utf8.allSatisfy({ $0.isPrintable && $0 != UInt8(ascii: " ") })
      else { throw refuse("invalid id of an action: expected 1 to 32 printable characters, as approve") }
      guard !reserved.contains(action.id) else {
        throw refuse("the action \(action.id) is built in: choose another id")
      }
      guard (1...60).contains(action.title.utf8.count) else {
        throw refuse("invalid title of an action: expected 1 to 60 bytes")
      }
    }
    guard Set(actions.map(\.id)).count == actions.count else {
      throw refuse("two actions have the same id: expected a different id for each")
    }
  }
}

extension UInt8 {
  /// True for a printable ASCII character or a space.
  fileprivate var isPrintable: Bool { (0x20..<0x7F).contains(self) }
}
