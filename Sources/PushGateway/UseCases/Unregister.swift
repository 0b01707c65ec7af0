import PushCore
import PushStorage

/// Ends a registration: the token answers 410 from now on, and pending pushes of the app are deleted. Returns after
/// all of that is durable.
struct Unregister: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let held: DeferredPushes
  let schedule: Schedule
  let channels: Channels
  let router: any PushRouter
  let clock: WallClock

  func callAsFunction(_ device: DeviceID, topic: String) async throws {
    try await registrations.unregister(device, topic: topic, now: clock.milliseconds())
    let app = try registrations.app(topic: topic).id
    try await schedule.purge([device], app: app)
    try await mailbox.purge([device], app: app)
    held.purge(device, app)
    try await channels.unsubscribe([device]) { $0.app == app }
    router.notify(device, .channels)
  }
}
