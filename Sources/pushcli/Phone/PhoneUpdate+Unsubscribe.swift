import GatewayProtocol
import PushPolicy

/// The end of the marketing of an app, from an alert or from an entry of the center.
extension PhoneModel {
  /// Returns true if the app of the push sends marketing, and the user has not unsubscribed from it.
  func offersUnsubscribing(from push: DevicePush) -> Bool {
    let sendsMarketing = push.app.sendsMarketing || state.app(push.topic)?.app.sendsMarketing == true
    return sendsMarketing && !state.preferences.isUnsubscribed(from: push.topic)
  }

  /// Opens a sheet that asks the user to confirm the end of the marketing of the app of the alert on screen, or of the
  /// selected entry.
  mutating func askToUnsubscribe() {
    let alert = isAlertShown ? group?.first.push : nil
    guard let push = alert ?? selectedEntry?.push, offersUnsubscribing(from: push) else { return }
    let choice = AlertAction(id: "unsubscribe", title: "Unsubscribe From \(push.app.name)", isDestructive: true)
    sheet = ActionSheet(alert == nil ? .unsubscribeEntry(push) : .unsubscribeAlert(push), [choice])
  }

  /// Turns the marketing of the push's app off.
  mutating func unsubscribe(from push: DevicePush) -> [PhoneEffect] {
    activities.insert(.saving)
    return [.unsubscribe(push)]
  }
}
