import NIOCore
import PushCore
import PushStorage

/// The state of a device's channels on one open stream: the messages that were sent on it, and the due
/// messages.
///
/// Belongs to the event loop of the stream.
final class ChannelReceiver {
  private struct Position {
    /// The highest number that was sent on this stream.
    var sent: UInt64
    /// True if that message was read from storage, for the log.
    var isFromStorage = false
  }

  private let device: DeviceID
  private let shared: LoopParts
  private let loop: any EventLoop
  private var number: UInt64 = 0
  /// The stream, which owns this object.
  private unowned var owner: (any BroadcastReceiver)?
  private var positions: [ChannelID: Position] = [:]

  init(device: DeviceID, _ shared: LoopParts, loop: any EventLoop) {
    self.device = device
    self.shared = shared
    self.loop = loop
  }

  /// Adds the stream to the device's channels.
  ///
  /// - Parameter number: the unique number of the stream.
  func begin(_ owner: any BroadcastReceiver, number: UInt64) {
    (self.owner, self.number) = (owner, number)
    refresh()
  }

  /// Joins channels that the device has subscribed to and leaves channels that it has unsubscribed from.
  ///
  /// Must run before ``due(now:)``: a message that is stored between the two is then delivered in one of the two
  /// ways.
  func refresh() {
    assert(loop.inEventLoop)
    guard let owner else { return }
    let subscribed = shared.parts.channels.subscriptions(of: device)
    for (channel, seen) in subscribed where positions[channel] == nil {
      positions[channel] = Position(sent: seen)
      shared.parts.liveChannels.join(channel, number, owner, loop: loop)
    }
    let channels = Set(subscribed.map(\.channel))
    for channel in positions.keys where !channels.contains(channel) { leave(channel) }
  }

  /// Removes the stream from all channels.
  func end() {
    for channel in positions.keys { leave(channel) }
    owner = nil
  }

  private func leave(_ channel: ChannelID) {
    positions[channel] = nil
    shared.parts.liveChannels.leave(channel, number, loop: loop)
  }

  /// True if the device has no channels.
  var isEmpty: Bool { positions.isEmpty }

  /// Returns the stored messages that the device has neither been sent on this stream nor acknowledged before.
  func due(now: Int64) -> [BroadcastMessage] {
    positions.compactMap { channel, position in
      guard let message = shared.parts.channels.message(of: channel, now: now / 1000), message.number > position.sent
      else {
        return nil
      }
      return message
    }
  }

  /// Returns a recent or stored message of one of the device's channels.
  func message(_ id: APNSID) -> BroadcastMessage? {
    if let message = shared.parts.liveChannels.recent(id) {
      return positions[message.channel] == nil ? nil : message
    }
    for channel in positions.keys {
      if let message = shared.parts.channels.channel(channel)?.message, message.id == id { return message }
    }
    return nil
  }

  /// Records that a message is sent now; false if it was sent before, or if the device has unsubscribed from its
  /// channel.
  ///
  /// The notice that leads to ``refresh()`` is queued, and messages may overtake it, so this checks the subscription.
  /// A device whose unsubscription was confirmed gets no message that is accepted afterwards.
  func takes(_ message: BroadcastMessage, fromStorage: Bool) -> Bool {
    guard let position = positions[message.channel],
      shared.parts.channels.isSubscribed(device, to: message.channel)
    else { return false }
    if message.number == 0 { return true }
    guard message.number > position.sent else { return false }
    positions[message.channel] = Position(sent: message.number, isFromStorage: fromStorage)
    return true
  }

  /// Records that the device has acknowledged a message that was sent on this stream.
  ///
  /// - Returns: the message, and true if it came from storage; nil if it is no longer the channel's latest.
  func acknowledge(_ channel: ChannelID, _ number: UInt64) -> (message: BroadcastMessage, isFromStorage: Bool)? {
    guard let position = positions[channel], number <= position.sent else { return nil }
    guard shared.parts.channels.acknowledge(device, channel, through: number) else { return nil }
    guard let message = shared.parts.channels.channel(channel)?.message, message.number == number else { return nil }
    return (message, position.isFromStorage)
  }
}
