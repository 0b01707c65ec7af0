import NIOCore
import PushCore
import PushStorage

/// What one open stream of a device knows of its device's channels: which messages it was sent, and which are due.
///
/// Belongs to the loop of the stream.
final class ChannelReceiver {
  private struct Position {
    /// The highest number that was sent on this stream.
    var sent: UInt64
    /// Whether that was read from storage, for the log.
    var isFromStorage = false
  }

  private let device: DeviceID
  private let shared: LoopServices
  private let loop: any EventLoop
  private var number: UInt64 = 0
  /// The stream, which owns this.
  private unowned var owner: (any BroadcastReceiver)?
  private var positions: [ChannelID: Position] = [:]

  init(device: DeviceID, _ shared: LoopServices, loop: any EventLoop) {
    self.device = device
    self.shared = shared
    self.loop = loop
  }

  /// Takes the stream into the device's channels.
  ///
  /// - Parameter number: names the stream among all.
  func begin(_ owner: any BroadcastReceiver, number: UInt64) {
    (self.owner, self.number) = (owner, number)
    refresh()
  }

  /// Joins the channels that are new and leaves those that are no longer the device's.
  ///
  /// It joins before ``due(now:)`` is asked: a message that is stored meanwhile comes one way or the other.
  func refresh() {
    assert(loop.inEventLoop)
    guard let owner else { return }
    let wanted = shared.services.channels.subscriptions(of: device)
    for (channel, seen) in wanted where positions[channel] == nil {
      positions[channel] = Position(sent: seen)
      shared.services.liveChannels.join(channel, number, owner, loop: loop)
    }
    let channels = Set(wanted.map(\.channel))
    for channel in positions.keys where !channels.contains(channel) { leave(channel) }
  }

  /// Takes the stream out of all channels.
  func end() {
    for channel in positions.keys { leave(channel) }
    owner = nil
  }

  private func leave(_ channel: ChannelID) {
    positions[channel] = nil
    shared.services.liveChannels.leave(channel, number, loop: loop)
  }

  /// Whether the device has no channels.
  var isEmpty: Bool { positions.isEmpty }

  /// The stored messages that the device has not been sent on this stream, and has not acknowledged before.
  func due(now: Int64) -> [BroadcastMessage] {
    positions.compactMap { channel, position in
      guard let message = shared.services.channels.message(of: channel, now: now / 1000), message.number > position.sent
      else {
        return nil
      }
      return message
    }
  }

  /// A message of one of the device's channels that was sent lately, or is stored.
  func message(_ id: APNSID) -> BroadcastMessage? {
    if let message = shared.services.liveChannels.recent(id) {
      return positions[message.channel] == nil ? nil : message
    }
    for channel in positions.keys {
      if let message = shared.services.channels.channel(channel)?.message, message.id == id { return message }
    }
    return nil
  }

  /// Notes that a message is sent now; false when it was before, or its channel is no longer the device's.
  ///
  /// That the device has left a channel comes with ``refresh()`` and waits in line, while a message does not: who has been
  /// told that it left gets nothing that is accepted afterwards.
  func takes(_ message: BroadcastMessage, fromStorage: Bool) -> Bool {
    guard let position = positions[message.channel],
      shared.services.channels.isSubscribed(device, to: message.channel)
    else { return false }
    if message.number == 0 { return true }
    guard message.number > position.sent else { return false }
    positions[message.channel] = Position(sent: message.number, isFromStorage: fromStorage)
    return true
  }

  /// The device has a message, which it was sent on this stream.
  ///
  /// - Returns: the message and whether it came from storage, when it is still the channel's most recent.
  func acknowledge(_ channel: ChannelID, _ number: UInt64) -> (message: BroadcastMessage, isFromStorage: Bool)? {
    guard let position = positions[channel], number <= position.sent else { return nil }
    guard shared.services.channels.acknowledge(device, channel, through: number) else { return nil }
    guard let message = shared.services.channels.channel(channel)?.message, message.number == number else { return nil }
    return (message, position.isFromStorage)
  }
}
