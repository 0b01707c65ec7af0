import PushCore
import PushPolicy
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

  /// Stores the copies of a push, after their recipients. Calls `answer` when all copies are on disk or all are refused.
  ///
  /// - Parameter detail: the detail of the row `accepted` of stored copies.
  /// - Returns: false if `line` is full; then `answer` is never called.
  func store(
    _ push: StoredPush, for recipients: [Recipient], _ detail: DeliveryDetail = .nothing, in line: GroupPushQueue,
    _ destinations: Dispatcher.Destinations, answer: @escaping @Sendable (AppendOutcome) -> Void
  ) -> Bool {
    let isStored = push.expires > push.received / 1000
    return line.enter(push.app, copies: recipients.count) { [self] in
      groups.note(GroupDelivery.note(push, to: recipients)) { isDurable in
        guard isDurable else {
          line.end(copies: recipients.count)
          return answer(.unavailable)
        }
        let copies = self.copies(of: push, to: recipients, now: destinations.clock.milliseconds())
        guard isStored, !copies.isEmpty else {
          destinations.log.append([push.event(.accepted, at: push.received)])
          Dispatcher.deliverNow(copies, to: destinations)
          line.end(copies: recipients.count)
          return answer(.queued(seq: 0, replaced: nil))
        }
        destinations.mailbox.append(copies) { outcomes in
          line.end(copies: recipients.count)
          let stored = Dispatcher.record(copies, outcomes, detail, in: destinations)
          let outcome = outcomes.ofAll
          if outcome.isAccepted { destinations.log.append([push.event(.accepted, at: push.received, detail: detail)]) }
          answer(outcome)
          Dispatcher.deliver(stored, to: destinations)
        }
      }
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
  func copy(to device: DeviceID) -> StoredPush {
    var random = SystemRandomNumberGenerator()
    return StoredPush(
      device: device, app: app, id: id, isSenderID: isSenderID, uniqueID: APNSID(using: &random), received: received,
      expires: expires, priority: priority, collapseID: collapseID, payload: payload, content: content)
  }
}

extension AppendOutcome {
  /// True if the response is 200.
  var isAccepted: Bool {
    switch self {
    case .queued, .duplicate: true
    case .unavailable, .failed: false
    }
  }
}

extension [AppendOutcome] {
  /// The common outcome of all copies, which were stored together.
  var ofAll: AppendOutcome {
    var found = AppendOutcome.duplicate
    for outcome in self {
      switch outcome {
      case .unavailable, .failed: return outcome
      case .queued: found = outcome
      case .duplicate: break
      }
    }
    return found
  }
}
