import PushStorage

extension Services {
  /// Forgets the devices of a batch and what waits for them.
  package func removeBatch(_ name: String) async throws {
    let removed = try await registrations.remove(batch: name)
    for (device, app) in removed { mailbox.purge(device, app: app) }
    try await channels.unsubscribe(removed.map(\.device))
  }
}
