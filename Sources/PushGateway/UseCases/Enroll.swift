import HTTP2Transport
import PushCore
import PushStorage

/// Enrolls a device.
struct Enroll: Sendable {
  let registrations: any Registrations
  let policy: EnrollmentPolicy
  let clock: WallClock

  /// Returns the authorization of a peer to enroll a device.
  ///
  /// - Parameter invitation: the code that the peer presents, if any.
  /// - Throws: a refusal that names the requirement.
  func authorization(of peer: Connection.Peer, invitation: String?) throws(RegistrationRefusal)
    -> EnrollmentAuthorization
  {
    if let invitation, peer == .adminSocket || policy != .admin {
      return .invitation(InvitationCode(reading: invitation).secret, now: clock.seconds)
    }
    switch (peer, policy) {
    case (.adminSocket, _): return .anyPerson
    case (.loopback, .openOnLoopback): return .newPerson
    case (_, .admin):
      throw RegistrationRefusal(
        kind: .forbidden, description: "this gateway's administrator enrolls devices: `pushcli devices enroll NAME`")
    case (_, .invitation), (.remote, .openOnLoopback):
      throw RegistrationRefusal(
        kind: .forbidden, description: "enrollment needs an invitation: `pushcli devices invite` makes one")
    }
  }

  /// - Throws: ``RegistrationRefusal``, ``StoreError``.
  func callAsFunction(
    name: String, person: String?, by authorization: EnrollmentAuthorization
  ) async throws -> (device: Device, secret: String) {
    try await registrations.enroll(name: name, person: person, by: authorization)
  }
}
