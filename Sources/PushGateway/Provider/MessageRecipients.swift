import PushCore
import PushPolicy
import PushStorage

/// The recipients of senders of messages: their names, their registrations, and the decisions of their devices.
struct MessageRecipients: Sendable {
  let registrations: any Registrations
  let groups: Groups
  let conditions: DeviceConditions

  func name(of recipient: MessageSender.Recipient, _ environment: Environment) -> String {
    switch recipient {
    case .device(let device): registrations.device(device)?.name ?? "a removed device"
    case .group(let group):
      groups.group(at: GroupAddress(group: group, environment: environment).device)?.name ?? "a removed group"
    }
  }

  /// Returns the valid registration of a recipient for an app.
  ///
  /// - Throws: 409 if the recipient is not registered.
  func registration(
    of recipient: MessageSender.Recipient, _ app: App, _ environment: Environment, now: Int64
  ) throws(MessageRefusal) -> Registration {
    let all = recipient.registrations(in: environment, registrations, groups)
    guard let used = all.first(where: { $0.app == app.id && $0.environment == environment && !$0.isExpired(at: now) })
    else {
      throw MessageRefusal(
        409, "NotRegistered",
        "the recipient is not registered for \(app.topic) in \(environment.rawValue): `pushcli devices register`, or "
          + "`groups register`, does it")
    }
    return used
  }

  /// Returns the decision about a push on a device at a time, in milliseconds since 1970; nil for a removed device, and for a
  /// push without content.
  func forecast(
    _ push: StoredPush, on device: DeviceID, _ app: App, at time: Int64, ads: AdFilter
  ) -> MessageAnswer.Device? {
    guard let content = push.content, let name = registrations.device(device)?.name else { return nil }
    let preferences = registrations.preferences(of: device)
    let decider = Decider(
      preferences: preferences, device: conditions.state(of: device), isCatchingUp: false, now: time)
    let decision = decider.decide(
      push, content, of: app, ads: ads,
      recentAlerts: { conditions.recentAlerts(on: device, at: time).count { $0.app == app.id && $0.id != push.id } },
      actions: { registrations.actions(of: app.id, $0) }, isQuestion: { registrations.isQuestion(app.id, $0) })
    return MessageAnswer.Device(decision, preferences, device: name)
  }
}
