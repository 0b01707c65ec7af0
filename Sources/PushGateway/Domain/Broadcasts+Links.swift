import PushCore
import PushStorage

/// Channel links: a user who presents one is registered for the app and subscribed to the channel.
extension Broadcasts {
  /// Returns the channel of a link.
  ///
  /// - Returns: nil for a code that does not belong to a link.
  /// - Throws: a refusal if the channel was deleted.
  func channel(of secret: String) async throws -> BroadcastChannel? {
    let invitation = try await registrations.invitation(sharedSecret: secret, now: clock.seconds)
    guard let id = invitation?.terms.channel else { return nil }
    guard let channel = channels.channel(id), channel.deleted == nil, registrations.app(channel.app) != nil else {
      throw gone
    }
    return channel
  }

  private var gone: RegistrationRefusal {
    RegistrationRefusal(kind: .unknown, description: "the channel of this link was deleted: ask for another link")
  }

  /// Subscribes the device of a new user who has just enrolled with a link. On failure, the user is removed again.
  func join(_ channel: BroadcastChannel, enrolled device: Device) async throws {
    do {
      _ = try await subscribe(device, channel)
    } catch {
      try? await devices.remove(device.person)
      throw error
    }
  }

  /// Subscribes an enrolled device to the channel of a link; each device uses the link once.
  ///
  /// The use is counted last. After a crash the same link completes the operation, and a device that had already
  /// subscribed uses the link no second time.
  ///
  /// - Returns: the channel; `isKnown` is true if the device was subscribed before.
  /// - Throws: a refusal, also for a code that does not belong to a link. Short codes are rejected without a lookup,
  ///   so that they can't be guessed here.
  func join(_ device: Device, by secret: String) async throws -> (channel: BroadcastChannel, isKnown: Bool) {
    guard InvitationCode.selector(of: secret) == nil else {
      throw RegistrationRefusal(
        kind: .wrongCode, description: "this code enrolls a device and is not a channel's link: ask for the link")
    }
    guard let channel = try await channel(of: secret) else {
      throw RegistrationRefusal(
        kind: .wrongCode, description: "this link is unknown, used up, revoked or expired: ask for another")
    }
    guard try await subscribe(device, channel) else { return (channel, true) }
    do {
      try await registrations.redeem(secret, now: clock.seconds)
    } catch {
      // Another device has consumed the last use.
      try? await unsubscribe(device.id, from: channel.id)
      throw error
    }
    return (channel, false)
  }

  /// - Returns: true if the device was not subscribed before.
  private func subscribe(_ device: Device, _ channel: BroadcastChannel) async throws -> Bool {
    guard let app = registrations.app(channel.app) else { throw gone }
    _ = try await devices.register(device.id, topic: app.topic, environment: channel.environment)
    return try await !subscribe([device], to: channel.id).isEmpty
  }
}
