import PushCore
import PushPolicy
import PushStorage

/// Takes back what a sender sent: from the mailboxes, the summaries and the schedule of persons, and off their screens.
///
/// That it was taken back is on disk before anything else happens, and holds from then on: nothing is delivered that was
/// taken back (``Retractions``), and a device that is away is told when it is back. So what follows may be lost.
struct TakeBack: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let held: DeferredPushes
  let schedule: Schedule
  let retractions: Retractions
  let groups: Groups
  let log: DeliveryLog
  let router: any PushRouter
  let clock: WallClock
  /// What joins this gateway to others, which may have accepted it.
  var cell: (any GatewayCell)?

  /// What became of it.
  enum Outcome: String, Sendable {
    case retracted
    /// It was taken back before.
    case already
    /// Nobody knows of such a push; should one be on a screen, it goes all the same.
    case unknown
  }

  /// - Parameters:
  ///   - app: the app whose push it is; nil: whichever.
  ///   - devices: those that are addressed besides the persons' own, as a group of them is.
  ///   - sender: who takes it back, for the log.
  func callAsFunction(
    _ id: APNSID, of app: AppID?, from persons: [PersonID], and addresses: [DeviceID] = [], by sender: String
  ) async throws -> Outcome {
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
    known.formUnion(await sent(id, of: app, to: Set(devices)))
    guard isNew || !known.isEmpty else { return .unknown }
    guard isNew else { return .already }
    log.append(
      known.map { .init(at: now, event: .retracted, id: id, device: $0, app: app, detail: .takenBack(by: sender)) })
    return known.isEmpty ? .unknown : .retracted
  }

  /// Takes back what was sent to a group, from all to whom it went and who are members now.
  ///
  /// - Parameter address: what stands for the group.
  func callAsFunction(
    _ id: APNSID, of app: AppID, fromGroup address: DeviceID, by sender: String
  ) async throws -> Outcome {
    let members = groups.group(at: address)?.members ?? []
    let persons = Set(try await groups.persons(of: id, app: app, at: address)).union(members)
    return try await self(id, of: app, from: Array(persons), and: [address], by: sender)
  }

  /// Returns the devices for which the log has rows of this push. The accepting gateway may be away with its
  /// log; the rows of a delivery or a removal, which other gateways have, are evidence, too.
  private func sent(_ id: APNSID, of app: AppID?, to devices: Set<DeviceID>) async -> Set<DeviceID> {
    for events: Set<DeliveryEvent> in [[.accepted], [.transmitted, .acknowledged, .dropped]] {
      let query = DeliveryLog.Query(
        id: id, app: app, events: events, limit: Limits.maximumLogPage,
        maximumReadSize: Limits.deviceLogSearchSize)
      var rows = (try? await log.rows(query)) ?? []
      if let cell {
        rows += await MergedLog(log: log, cell: cell, reader: nil).others(query, within: MergedLog.shortPatience)
          .records
      }
      let found = devices.intersection(rows.compactMap(\.row.device))
      if !found.isEmpty { return found }
    }
    return []
  }
}

/// Does anew what a crash may have kept from being done of what was taken back: nothing of it is in a summary.
struct RestoreRetractions: Sendable {
  let registrations: any Registrations
  let held: DeferredPushes
  let retractions: Retractions

  func callAsFunction() {
    if retractions.isEmpty { return }
    for device in held.devices {
      guard let person = registrations.device(device)?.person else { continue }
      for one in retractions.retractions(of: person) { held.release(one.id, of: device, app: one.app) }
    }
  }
}

extension DeviceNotice {
  /// - Parameter topic: the app's; nil: whichever app's push it is.
  init(takenBack id: APNSID, topic: String?) {
    self = topic.map { .takenBack(id, topic: $0) } ?? .retract(id)
  }
}
