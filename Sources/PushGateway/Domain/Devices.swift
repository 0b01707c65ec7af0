import HTTP2Transport
import PushCore
import PushStorage

/// Operations on devices and their users: enrollment, registration, removal, preferences.
struct Devices: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let held: DeferredPushes
  let schedule: Schedule
  let channels: Channels
  let groups: Groups
  let answers: Answers
  let retractions: Retractions
  let endpoints: WebPushEndpoints
  let attachments: Attachments
  let pages: ClosedPages
  let conditions: DeviceConditions
  let histories: DeviceHistories
  let summaries: Summaries
  let logQueries: LogQueries
  let router: any PushRouter
  let clock: WallClock
  let policy: EnrollmentPolicy

  // MARK: Enrollment

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

  /// Enrolls a device.
  ///
  /// - Throws: ``RegistrationRefusal``, ``StoreError``.
  func enroll(
    name: String, person: String?, by authorization: EnrollmentAuthorization
  ) async throws -> (device: Device, secret: String) {
    try await registrations.enroll(name: name, person: person, by: authorization)
  }

  // MARK: Registration

  /// Registers a device for an app.
  ///
  /// - Parameter validSeconds: the lifetime of a new token; nil: until it is unregistered.
  /// - Returns: the existing registration, unless it has expired.
  func register(
    _ device: DeviceID, topic: String, environment: Environment, validSeconds: Int? = nil
  ) async throws -> Registration {
    let now = clock.milliseconds()
    return try await registrations.register(
      device, topic: topic, environment: environment, expires: validSeconds.map { now + Int64($0) * 1000 }, now: now)
  }

  /// Ends a registration: the token answers 410 from now on, and pending pushes of the app are deleted. Returns after
  /// all of that is durable.
  func unregister(_ device: DeviceID, topic: String) async throws {
    try await registrations.unregister(device, topic: topic, now: clock.milliseconds())
    try await purge([device], app: try registrations.app(topic: topic).id)
    router.notify(device, .channels)
  }
}
