package import PushCore
package import PushPolicy
package import PushStorage

extension Registrations {
  /// Adds a category that does not expire, or changes it.
  package func putCategory(_ app: AppID, _ category: String, _ actions: [AlertAction]) async throws {
    try await putCategory(app, category, actions, expires: nil)
  }
}
