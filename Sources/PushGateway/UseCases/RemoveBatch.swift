import PushStorage

/// Forgets the devices of a batch and what waits for them.
struct RemoveBatch: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let channels: Channels

  func callAsFunction(_ name: String) async throws {
    let removed = try await registrations.remove(batch: name)
    for (device, app) in removed { mailbox.purge(device, app: app) }
    try await channels.unsubscribe(removed.map(\.device))
  }
}
