import PushCore
import PushStorage

/// The removal of devices and users.
extension Devices {
  /// Removes a device: revokes its secret, ends its streams, invalidates its tokens (410), and deletes its pending
  /// pushes.
  func remove(_ device: DeviceID) async throws {
    _ = try await registrations.remove(device, now: clock.milliseconds())
    try await endpoints.forget(device, at: clock.milliseconds())
    try await forgetAttachments()
    try await purge([device])
  }

  /// Removes the devices of a batch, their users and their pending pushes.
  func remove(batch name: String) async throws {
    let removed = try await registrations.remove(batch: name)
    for device in removed.map(\.device) { try await endpoints.forget(device, at: clock.milliseconds()) }
    try await purge(removed.map(\.device))
    try await groups.forget { registrations.person($0) == nil }
    try await forgetAttachments()
  }

  /// Removes a user with all stored data: devices, preferences, deferred texts, reports, and the rows of the delivery
  /// log.
  func remove(_ person: PersonID) async throws {
    for device in registrations.devices(of: person) { try await remove(device) }
    let devices = try await registrations.allDevices(of: person)
    // Removals from the mailbox are logged. The empty append completes after them, so that their rows are erased too.
    await withCheckedContinuation { continuation in mailbox.append([]) { _ in continuation.resume() } }
    await held.settle()
    try await logQueries.eraseRows(of: devices)
    try await answers.forget(person)
    try await groups.forget { $0 == person }
    try await forgetAttachments()
    try await retractions.forget(person)
    try await registrations.remove(person)
  }

  /// Removes the attachments that no device can read any more.
  private func forgetAttachments() async throws {
    try await attachments.forget { [registrations, groups] recipient in
      switch recipient {
      case .device(let device): registrations.device(device) == nil
      case .group(let group):
        groups.group(at: GroupAddress(group: group, environment: .development).device)?.members.isEmpty ?? true
      }
    }
  }

  /// Deletes the pending pushes and the channel subscriptions of devices whose registrations have ended.
  ///
  /// - Parameter app: the app whose registrations have ended; nil: all apps.
  func purge(_ devices: [DeviceID], app: AppID? = nil) async throws {
    try await schedule.purge(devices, app: app)
    try await mailbox.purge(devices, app: app)
    for device in devices {
      if let app { held.purge(device, app) } else { held.purge(device) }
    }
    try await channels.unsubscribe(devices) { app == nil || $0.app == app }
  }
}
