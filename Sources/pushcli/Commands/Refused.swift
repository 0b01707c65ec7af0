import GatewayProtocol
import PushPolicy

/// The reason why no part of a push can be shown, for users who may read the log. Senders with only a key receive just
/// the status 200.
struct Refused {
  let removal: Decision.Removal
  let words: String

  /// Makes the reason from the preference by which the owner of a device refuses a push now; nil if a part of the push
  /// can be shown.
  ///
  /// - Parameter parts: the parts that the push requests.
  init?(_ parts: [Part], category: String?, topic: String, on device: String, _ admin: Admin) async throws {
    let preferences: Preferences = try await admin.get(AdminPath.preferences(device))
    let removed = parts.compactMap {
      Policy.refusal(of: $0, topic: topic, category: category, preferences: preferences)
    }
    guard let removal = Decision.Removal.refusalOfAll(parts, removed) else { return nil }
    let explanation = Explanation(removal, preferences: preferences, device: device)
    self.removal = removal
    words = "rule \(removal.rule.rawValue): \(explanation.reason), \(explanation.place)"
  }

  /// Makes the reason from the delivery log of a transmitted push.
  init(_ removal: Decision.Removal) {
    self.removal = removal
    words = "rule \(removal.rule.rawValue): \(removal.setting)"
  }
}
