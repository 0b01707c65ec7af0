import GatewayProtocol
import PushCore
import PushPolicy

/// The answer to an accepted message: for each recipient the parts that its devices present, and the cause of each
/// removal. Devices decide again at the delivery.
struct MessageAnswer: Sendable, Encodable {
  /// A part that a device does not present.
  struct Removed: Sendable, Encodable {
    var part: String
    var rule: String
    /// The setting in the preferences of the recipient.
    var setting: String
    var reason: String

    init(_ removal: Decision.Removal, _ preferences: Preferences, device: String) {
      (part, rule, setting) = (removal.part.rawValue, removal.rule.rawValue, removal.setting)
      let words = Explanation(removal, preferences: preferences, device: device)
      reason = "\(words.reason), \(words.place)"
    }
  }

  struct Device: Sendable, Encodable {
    var device: String
    var presented: [String]
    /// True if the alert goes to the notification center instead.
    var center: Bool?
    var removed: [Removed]?

    init(_ decision: DeliveryDecision, _ preferences: Preferences, device: String) {
      self.device = device
      presented = decision.presentation.parts.map(\.rawValue)
      center = decision.presentation.center == nil ? nil : true
      removed = decision.removed.isEmpty ? nil : decision.removed.map { Removed($0, preferences, device: device) }
    }
  }

  struct Recipient: Sendable, Encodable {
    var recipient: String
    var devices: [Device]?
    /// The number of further devices.
    var more: Int?
    /// The refusal, if the message was not sent to this recipient.
    var refused: MessageRefusal?
  }

  /// The `apns-id` of the push.
  var id: String
  /// The number of equal messages that this push stands for; nil for one.
  var times: Int?
  /// The time of a scheduled delivery, RFC 3339, UTC; nil: now.
  var deliverAt: String?
  var recipients: [Recipient] = []
  /// The parts of the message that no device presents, because they break a rule that the app only reports.
  var ignored: [String]?

  enum CodingKeys: String, CodingKey {
    case id, recipients, ignored, times
    case deliverAt = "deliver_at"
  }
}
