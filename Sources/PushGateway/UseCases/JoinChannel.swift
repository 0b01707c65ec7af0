import PushCore
import PushStorage

/// Has whoever shows a link of a channel read it: registered for its app, and subscribed.
struct JoinChannel: Sendable {
  let registrations: any Registrations
  let channels: Channels
  let manage: ManageChannels
  let register: Register
  let remove: RemovePerson
  let clock: WallClock

  /// The channel of a link.
  ///
  /// - Returns: nil for a code that is no link's.
  /// - Throws: a refusal where the channel is gone.
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

  /// Has a device of somebody new, who has just come by a link, read its channel. Where that can't be, nobody has come.
  func callAsFunction(enrolled device: Device, _ channel: BroadcastChannel) async throws {
    do {
      _ = try await subscribe(device, channel)
    } catch {
      try? await remove(device.person)
      throw error
    }
  }

  /// Has a device that is there already read a link's channel; the link is used once by each.
  ///
  /// The use is counted last: after a crash the same link does the rest, and a device that got as far as to subscribe pays
  /// no second time.
  ///
  /// - Returns: the channel, and whether the device read it before.
  /// - Throws: a refusal, also of a code that is no link's: a short one is not looked at, so that nobody guesses here.
  func callAsFunction(_ device: Device, by secret: String) async throws -> (channel: BroadcastChannel, isKnown: Bool) {
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
      // Somebody else was faster with its last use.
      try? await manage.unsubscribe(device.id, from: channel.id)
      throw error
    }
    return (channel, false)
  }

  /// - Returns: whether the device did not subscribe before.
  private func subscribe(_ device: Device, _ channel: BroadcastChannel) async throws -> Bool {
    guard let app = registrations.app(channel.app) else { throw gone }
    _ = try await register(device.id, topic: app.topic, environment: channel.environment)
    return try await !manage.subscribe([device], to: channel.id).isEmpty
  }
}
