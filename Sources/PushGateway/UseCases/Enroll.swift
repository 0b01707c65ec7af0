import PushCore
import PushStorage

/// Enrolls a device.
struct Enroll: Sendable {
  let registrations: any Registrations
  let clock: WallClock

  /// The invitation is unknown, used or too old.
  struct BadInvitation: Error {}

  /// - Parameter invitation: a code, which is good for this once; nil where none is needed.
  /// - Throws: ``BadInvitation``, ``RegistrationRefusal``, ``StoreError``.
  func callAsFunction(
    name: String, person: String?, invitation: String?
  ) async throws -> (device: Device, secret: String) {
    if let invitation {
      guard try await registrations.redeem(invitation, now: clock.seconds) else { throw BadInvitation() }
    }
    return try await registrations.enrol(name: name, person: person)
  }
}
