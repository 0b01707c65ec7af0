import PushStorage

/// Forgets the devices of a batch and what waits for them.
struct RemoveBatch: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let schedule: Schedule
  let channels: Channels
  let groups: Groups

  func callAsFunction(_ name: String) async throws {
    let removed = try await registrations.remove(batch: name)
    // The devices are gone, and all that waits for them with them.
    try await schedule.purge(removed.map(\.device))
    try await mailbox.purge(removed.map(\.device), app: nil)
    try await channels.unsubscribe(removed.map(\.device))
    try await groups.forget { registrations.person($0) == nil }
  }
}
