import PushStorage

/// Tells those who are connected what has changed of whom they belong to.
struct AnnounceChanges: Sendable {
  let preferences: AnnouncePreferences
  let router: any PushRouter
  let conditions: DeviceConditions
  let histories: DeviceHistories

  func callAsFunction(_ change: RegistrationChange) {
    switch change {
    case .preferences(let person, let choices): preferences(choices, of: person)
    case .revokedDevices(let devices):
      for device in devices {
        router.notify(device, .revoked)
        conditions.forget(device)
        histories.forget(device)
      }
    // Connections are ended by those who have them.
    case .revokedCertificate: break
    }
  }
}
