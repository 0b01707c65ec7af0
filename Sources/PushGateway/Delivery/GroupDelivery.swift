import PushCore
import PushStorage

/// The recipients of a push to a group at present: every device of every member that is registered for the app.
struct GroupDelivery: Sendable {
  let groups: Groups
  let registrations: any Registrations

  struct Recipient: Sendable {
    var device: DeviceID
    var person: PersonID
  }

  /// Returns at most ``Limits/maximumGroupDevices`` devices, in the order of the group's members.
  func recipients(of address: DeviceID, app: AppID, now: Int64) -> [Recipient] {
    guard let environment = GroupAddress(address)?.environment, let group = groups.group(at: address) else { return [] }
    var found: [Recipient] = []
    for person in group.members {
      for device in registrations.devices(of: person) {
        if isRegistered(device, app, environment, at: now) { found.append(Recipient(device: device, person: person)) }
        if found.count == Limits.maximumGroupDevices { return found }
      }
    }
    return found
  }

  private func isRegistered(_ device: DeviceID, _ app: AppID, _ environment: Environment, at now: Int64) -> Bool {
    registrations.registrations(of: device).contains { registration, _ in
      registration.app == app && registration.environment == environment && !registration.isExpired(at: now)
    }
  }

  /// Returns the copies of a push for the recipients that are still registered at `now`, in milliseconds since 1970.
  func copies(of push: StoredPush, to recipients: [Recipient], now: Int64) -> [StoredPush] {
    guard let environment = GroupAddress(push.device)?.environment else { return [] }
    return recipients.filter { isRegistered($0.device, push.app, environment, at: now) }.map {
      push.copy(to: $0.device)
    }
  }

  /// Returns the record of the group's push and its recipients, for ``Groups``.
  static func note(_ push: StoredPush, to recipients: [Recipient]) -> Groups.Push {
    var persons: [PersonID] = []
    for recipient in recipients where persons.last != recipient.person { persons.append(recipient.person) }
    return Groups.Push(address: push.device, app: push.app, id: push.id, persons: persons, at: push.received)
  }
}

extension StoredPush {
  /// Returns a copy of the push for a device.
  func copy(to device: DeviceID) -> StoredPush {
    var random = SystemRandomNumberGenerator()
    return StoredPush(
      device: device, app: app, id: id, isSenderID: isSenderID, uniqueID: APNSID(using: &random), received: received,
      expires: expires, priority: priority, collapseID: collapseID, payload: payload, content: content)
  }
}
