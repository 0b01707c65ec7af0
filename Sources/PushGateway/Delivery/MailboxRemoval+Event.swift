import PushPolicy
import PushStorage

extension MailboxRemoval {
  /// Returns the delivery log's row for this removal.
  func event(at time: Int64) -> DeliveryLog.Row {
    let (event, detail): (DeliveryEvent, DeliveryDetail) =
      switch cause {
      case .collapsed: (.collapsed, .nothing)
      case .expired: (.expired, .nothing)
      case .overflow: (.dropped, .fact(.mailboxFull))
      case .unregistered: (.dropped, .fact(.unregistered))
      case .undeliverable: (.undeliverable, .fact(.unreadable))
      case .retracted: (.dropped, .fact(.retracted))
      }
    return DeliveryLog.Row(at: time, event: event, id: id, device: device, app: app, detail: detail)
  }
}
