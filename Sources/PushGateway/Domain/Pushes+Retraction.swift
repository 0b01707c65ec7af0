import PushCore
import PushPolicy
import PushStorage

/// Retractions on behalf of senders: from the mailboxes, summaries, schedule and devices of users.
///
/// The retraction is stored first and is effective from then on: a retracted push is not delivered (``Retractions``),
/// and an offline device is notified when it connects. So the steps after it may be lost in a crash.
extension Pushes {
  enum RetractionOutcome: String, Sendable {
    case retracted
    /// The push was retracted before.
    case already
    /// No gateway has a record of such a push; devices that show one remove it nevertheless. Not used if this gateway's
    /// delivery log can't be read.
    case unknown
  }

  /// Retracts a push from users.
  ///
  /// - Parameters:
  ///   - app: the app of the push; nil: any app.
  ///   - addresses: addressees other than the users' devices, such as the address of a group.
  ///   - sender: the sender who retracts it, for the log.
  func retract(
    _ id: APNSID, of app: AppID?, from persons: [PersonID], and addresses: [DeviceID] = [], by sender: String
  ) async throws -> RetractionOutcome {
    let now = clock.milliseconds()
    let isNew = try await retractions.add(id, app: app, from: persons, at: now)
    let devices = persons.flatMap(registrations.devices)
    var known = try await schedule.cancel(id, of: app, for: devices + addresses)
    for device in devices { held.release(id, of: device, app: app) }
    await withCheckedContinuation { continuation in
      mailbox.retract(id, app: app, from: devices) { _ in continuation.resume() }
    }
    let notice = DeviceNotice(takenBack: id, topic: app.flatMap { registrations.app($0)?.topic })
    for device in devices { router.notify(device, notice) }
    // Another gateway that does not have the retraction yet could still deliver the push after the sender's answer.
    if let cluster { await SharedDataWatch.settle(cluster) }
    let sent = await sent(id, of: app, to: Set(devices))
    known.formUnion(sent.devices)
    let isKnown = !known.isEmpty || !sent.isComplete
    guard isNew || isKnown else { return .unknown }
    guard isNew else { return .already }
    log.append(
      known.map { .init(at: now, event: .retracted, id: id, device: $0, app: app, detail: .takenBack(by: sender)) })
    return isKnown ? .retracted : .unknown
  }

  /// Retracts a push to a group from all its recipients and all current members.
  ///
  /// - Parameter address: the address of the group.
  func retract(
    _ id: APNSID, of app: AppID, fromGroup address: DeviceID, by sender: String
  ) async throws -> RetractionOutcome {
    let members = groups.group(at: address)?.members ?? []
    let persons = Set(try await groups.persons(of: id, app: app, at: address)).union(members)
    return try await retract(id, of: app, from: Array(persons), and: [address], by: sender)
  }

  /// Retracts a push of a webhook from all recipients of its sender.
  func retract(
    _ id: APNSID, of sender: MessageSender, in environment: Environment
  ) async throws -> RetractionOutcome {
    var (persons, addresses): (Set<PersonID>, [DeviceID]) = ([], [])
    for recipient in sender.recipients {
      switch recipient {
      case .device(let device): if let person = registrations.device(device)?.person { persons.insert(person) }
      case .group(let group):
        let address = GroupAddress(group: group, environment: environment).device
        addresses.append(address)
        persons.formUnion(groups.group(at: address)?.members ?? [])
        persons.formUnion(try await groups.persons(of: id, app: sender.app, at: address))
      }
    }
    return try await retract(id, of: sender.app, from: Array(persons), and: addresses, by: "webhook \(sender.name)")
  }

  /// Returns the devices for which the log has rows of this push. The accepting gateway may be unreachable, and its
  /// log too. Then the rows of a delivery or a removal, which other gateways have, are evidence.
  ///
  /// - Returns: `isComplete` is false if this gateway's log can't be read, so that the push may exist.
  private func sent(
    _ id: APNSID, of app: AppID?, to devices: Set<DeviceID>
  ) async -> (devices: Set<DeviceID>, isComplete: Bool) {
    var isComplete = true
    for events: Set<DeliveryEvent> in [[.accepted], [.transmitted, .acknowledged, .dropped]] {
      let query = DeliveryLog.Query(
        id: id, app: app, events: events, limit: Limits.maximumLogPage,
        maximumReadSize: Limits.deviceLogSearchSize)
      var rows: [DeliveryLog.Record] = []
      do { rows = try await log.rows(query) } catch { isComplete = false }
      if let cluster {
        rows += await MergedLog(log: log, cluster: cluster, reader: nil).others(query, within: MergedLog.shortTimeout)
          .records
      }
      let found = devices.intersection(rows.compactMap(\.row.device))
      if !found.isEmpty { return (found, true) }
    }
    return ([], isComplete)
  }

  /// Completes retractions that a crash may have interrupted: removes retracted pushes from summaries.
  func restoreRetractions() {
    if retractions.isEmpty { return }
    for device in held.devices {
      guard let person = registrations.device(device)?.person else { continue }
      // The deferred pushes of a device have a small limit, and the retractions of a user a large one.
      held.release(of: device) { retractions.contains($0, of: person, app: $1) }
    }
  }
}

extension DeviceNotice {
  /// - Parameter topic: the topic of the app; nil: any app.
  init(takenBack id: APNSID, topic: String?) {
    self = topic.map { .takenBack(id, topic: $0) } ?? .retract(id)
  }
}
