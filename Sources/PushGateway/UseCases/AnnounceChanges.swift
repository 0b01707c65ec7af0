import PushStorage

/// Notifies the connected devices of changes to their user.
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
    // The owners of the connections end them.
    case .revokedCertificate: break
    }
  }
}
