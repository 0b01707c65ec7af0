import PushStorage

/// Removes the devices of a batch and their pending pushes.
struct RemoveBatch: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let schedule: Schedule
  let channels: Channels
  let groups: Groups

  func callAsFunction(_ name: String) async throws {
    let removed = try await registrations.remove(batch: name)
    // The devices are already removed; this removes their remaining data.
    try await schedule.purge(removed.map(\.device))
    try await mailbox.purge(removed.map(\.device), app: nil)
    try await channels.unsubscribe(removed.map(\.device))
    try await groups.forget { registrations.person($0) == nil }
  }
}
