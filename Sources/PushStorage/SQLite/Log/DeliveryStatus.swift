import PushPolicy

/// The statuses of the delivery log of APNs, by their names in that service (reference §9.1).
///
/// There is no plain "Discarded – Token Unregistered": the gateway does not accept a push to such a token, but
/// answers with 410.
package enum DeliveryStatus: String, Sendable, CaseIterable {
  case received = "Received by APNs"
  case delivered = "Delivered to Device"
  case deliveredFromStorage = "Delivered to Device (From Storage)"
  case storedOffline = "Stored – Device Offline"
  case unregisteredFromStorage = "Discarded – Token Unregistered (From Storage)"
  case expired = "Discarded – Expired"
  case disabled = "Discarded – Disabled"

  /// The status that corresponds to a row of this log; nil if APNs has no such status.
  package init?(_ row: DeliveryLog.Row) {
    switch (row.event, row.detail) {
    case (.accepted, _): self = .received
    case (.stored, .fact(.deviceOffline)): self = .storedOffline
    case (.acknowledged, .fact(.fromStorage)): self = .deliveredFromStorage
    case (.acknowledged, _): self = .delivered
    // A push that is never stored expires at once if the device is not connected.
    case (.expired, _), (.dropped, .fact(.notConnected)): self = .expired
    case (.dropped, .fact(.unregistered)): self = .unregisteredFromStorage
    // The setting that decided last switches all notifications off.
    case (.suppressed, .removed(let removals)) where removals.last?.isOfAllNotifications == true: self = .disabled
    default: return nil
    }
  }
}
