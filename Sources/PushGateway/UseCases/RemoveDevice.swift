import PushCore
import PushStorage

/// Removes a device: revokes its secret, ends its streams, invalidates its tokens (410), and deletes its pending
/// pushes.
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

/// Removes a user with all stored data: devices, preferences, deferred texts, reports, and the rows of the delivery
/// log.
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
    // Removals from the mailbox are logged. The empty append completes after them, so that their rows are erased too.
    await withCheckedContinuation { continuation in mailbox.append([]) { _ in continuation.resume() } }
    await held.settle()
    try await log.rows(of: devices)
    try await answers.forget(person)
    try await groups.forget { $0 == person }
    try await retractions.forget(person)
    try await registrations.remove(person)
  }
}
