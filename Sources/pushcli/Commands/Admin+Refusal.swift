import GatewayProtocol
import PushPolicy

extension Admin {
  /// Returns the reason why no part of a push can be shown now: the preference by which the owner of a device refuses it;
  /// nil if a part of the push can be shown.
  ///
  /// The reason is for users who may read the log. Senders with only a key receive just the status 200.
  ///
  /// - Parameter parts: the parts that the push requests.
  func refusal(
    of parts: [Part], category: String?, topic: String, on device: String
  ) async throws -> String? {
    let preferences: Preferences = try await get(AdminPath.preferences(device))
    let removed = parts.compactMap {
      Policy.refusal(of: $0, topic: topic, category: category, preferences: preferences)
    }
    guard let removal = Decision.Removal.refusalOfAll(parts, removed) else { return nil }
    let explanation = Explanation(removal, preferences: preferences, device: device)
    return "rule \(removal.rule.rawValue): \(explanation.reason), \(explanation.place)"
  }
}

extension Decision.Removal {
  /// The reason of a refusal, from the delivery log of a transmitted push.
  var refusalWords: String { "rule \(rule.rawValue): \(setting)" }
}
