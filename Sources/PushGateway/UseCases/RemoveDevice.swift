import PushCore
import PushStorage

/// Takes a device out: its secret is good no longer, its streams end, its tokens answer 410, and what waits for it goes.
struct RemoveDevice: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let held: DeferredPushes
  let schedule: Schedule
  let channels: Channels
  let clock: WallClock

  func callAsFunction(_ device: DeviceID) async throws {
    _ = try await registrations.remove(device, now: clock.milliseconds())
    try await schedule.purge([device])
    try await mailbox.purge([device], app: nil)
    held.purge(device)
    try await channels.unsubscribe([device])
  }
}

/// Takes a person out, with everything that is known of them: devices, choices, texts that wait, reports, and the rows of
/// the delivery log.
struct RemovePerson: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let held: DeferredPushes
  let answers: Answers
  let retractions: Retractions
  let groups: Groups
  let log: EraseLog
  let remove: RemoveDevice

  func callAsFunction(_ person: PersonID) async throws {
    for device in registrations.devices(of: person) { try await remove(device) }
    let devices = try await registrations.allDevices(of: person)
    // What goes from the mailbox is logged: that first, then the rows.
    await withCheckedContinuation { continuation in mailbox.append([]) { _ in continuation.resume() } }
    await held.settle()
    try await log.rows(of: devices)
    try await answers.forget(person)
    try await groups.forget { $0 == person }
    try await retractions.forget(person)
    try await registrations.remove(person)
  }
}
