import PushCore
import PushStorage

/// Operations on the channels of broadcasts and their subscriptions; connected devices are notified at once.
struct Broadcasts: Sendable {
  let registrations: any Registrations
  let channels: Channels
  let devices: Devices
  let router: any PushRouter
  let clock: WallClock

  /// Subscribes devices to a channel of an app that they are registered for.
  ///
  /// - Returns: the devices that were not subscribed before.
  /// - Throws: a refusal with a message for users.
  @discardableResult
  func subscribe(_ devices: [Device], to id: ChannelID) async throws -> [DeviceID] {
    guard let channel = channels.channel(id), channel.deleted == nil, let app = registrations.app(channel.app) else {
      throw RegistrationRefusal(kind: .unknown, description: "there is no channel \(id)")
    }
    let now = clock.milliseconds()
    for device in devices {
      let isRegistered = registrations.registrations(of: device.id).contains { registration, _ in
        registration.app == channel.app && registration.environment == channel.environment
          && !registration.isExpired(at: now)
      }
      guard isRegistered else {
        throw RegistrationRefusal(
          kind: .conflict,
          description:
            "\(device.name) is not registered for \(app.topic) in \(channel.environment.rawValue): register it first"
        )
      }
    }
    // In slices, because pushes wait for each transaction.
    var rest = devices[...]
    var added: [DeviceID] = []
    while !rest.isEmpty {
      let slice = rest.prefix(Limits.subscriptionSlice).map(\.id)
      rest = rest.dropFirst(slice.count)
      do {
        added += try await channels.subscribe(slice, to: id)
      } catch is Channels.Failure {
        throw RegistrationRefusal(kind: .unknown, description: "there is no channel \(id)")
      }
      for device in slice { router.notify(device, .channels) }
    }
    return added
  }

  /// Ends a device's subscription to a channel; no error if there is none.
  func unsubscribe(_ device: DeviceID, from id: ChannelID) async throws {
    try await channels.unsubscribe([device]) { $0.id == id }
    router.notify(device, .channels)
  }

  /// Deletes a channel, its messages, its subscriptions and its links. The links are deleted first, so that none is
  /// left after a crash in between. A link that is created concurrently is refused later, because its channel is
  /// gone.
  func delete(_ id: ChannelID) async throws {
    try await registrations.withdrawInvitations(to: [id])
    for device in try await channels.delete([id], now: clock.milliseconds()) { router.notify(device, .channels) }
  }

  /// Enables or disables broadcasts of an app; disabling deletes its channels.
  func setOn(_ isOn: Bool, app: AppID) async throws {
    if !isOn {
      let all = [Environment.development, .production].flatMap { channels.channels(of: app, environment: $0) }
      try await registrations.withdrawInvitations(to: Set(all.map(\.id)))
    }
    for device in try await channels.setOn(isOn, app: app, now: clock.milliseconds()) {
      router.notify(device, .channels)
    }
  }
}
