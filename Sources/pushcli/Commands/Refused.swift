import GatewayProtocol
import PushPolicy

/// Why nothing of a push can be shown, for who may read the log: whoever sends with a key alone is told the 200.
struct Refused {
  let removal: Decision.Removal
  let words: String

  /// The choice by which the owner of a device refuses a push now; nil where something of it can be shown.
  ///
  /// - Parameter parts: what the push asks for.
  init?(_ parts: [Part], category: String?, topic: String, on device: String, _ admin: Admin) async throws {
    let preferences: Preferences = try await admin.get("/admin/v1/devices/\(pathPart(device))/preferences")
    let removed = parts.compactMap {
      Policy.refusal(of: $0, topic: topic, category: category, preferences: preferences)
    }
    guard let removal = Decision.Removal.refusalOfAll(parts, removed) else { return nil }
    let explanation = Explanation(removal, preferences: preferences, device: device)
    self.removal = removal
    words = "rule \(removal.rule.rawValue): \(explanation.reason), \(explanation.place)"
  }

  /// What the delivery log says of a push that a device was sent.
  init(_ removal: Decision.Removal) {
    self.removal = removal
    words = "rule \(removal.rule.rawValue): \(removal.setting)"
  }
}
