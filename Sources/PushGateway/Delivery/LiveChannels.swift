import DequeModule
import NIOCore
import PushCore
import PushStorage
import Synchronization

/// A stream that receives broadcasts. Called on its event loop.
protocol BroadcastReceiver: AnyObject {
  /// Accepts a message of one of its channels.
  func deliver(_ message: BroadcastMessage)
  /// Prepares the delivered messages for sending.
  func pack()
  /// Sends the prepared data at once.
  func flush()
}

/// The open streams of each channel, by event loop, and the delivery of a message to all of them.
///
/// Devices that are not connected are not included: the cost of a message depends on its receivers, not on the number
/// of subscribers.
final class LiveChannels: Sendable {
  private typealias Receiver = NIOLoopBound<any BroadcastReceiver>

  private struct Members {
    let loop: any EventLoop
    var receivers: [UInt64: Receiver] = [:]
  }

  private let state = Mutex<[ChannelID: [ObjectIdentifier: Members]]>([:])
  /// The most recent messages, the newest last: receivers will report on them.
  private let published = Mutex<Deque<BroadcastMessage>>([])
  /// Called after all event loops have handed a message to their receivers, with the number of receivers.
  private let finished: (@Sendable (BroadcastMessage, Int) -> Void)?

  /// - Parameter finished: called on an event loop after a message has been handed to all receivers, with the message
  ///   and their number.
  init(finished: (@Sendable (BroadcastMessage, Int) -> Void)? = nil) { self.finished = finished }

  /// Adds a stream to a channel; `number` identifies the stream. Must be called on the stream's event loop.
  func join(_ channel: ChannelID, _ number: UInt64, _ receiver: any BroadcastReceiver, loop: any EventLoop) {
    let bound = NIOLoopBound(receiver, eventLoop: loop)
    state.withLock {
      $0[channel, default: [:]][ObjectIdentifier(loop), default: Members(loop: loop)].receivers[number] = bound
    }
  }

  /// Removes a stream from a channel.
  func leave(_ channel: ChannelID, _ number: UInt64, loop: any EventLoop) {
    state.withLock { state in
      let key = ObjectIdentifier(loop)
      state[channel]?[key]?.receivers[number] = nil
      if state[channel]?[key]?.receivers.isEmpty == true { state[channel]?[key] = nil }
      if state[channel]?.isEmpty == true { state[channel] = nil }
    }
  }

  /// Returns one of the last ``Limits/recentBroadcasts`` messages.
  func recent(_ id: APNSID) -> BroadcastMessage? { published.withLock { $0.last { $0.id == id } } }

  /// Returns the number of streams of a channel.
  func count(of channel: ChannelID) -> Int {
    state.withLock { $0[channel]?.values.reduce(0) { $0 + $1.receivers.count } ?? 0 }
  }

  /// Hands a message to every stream of its channel, on all event loops concurrently, in slices between which a loop
  /// serves other work.
  ///
  /// Messages of a channel that are handed over one after another arrive in that order.
  func publish(_ message: BroadcastMessage) {
    published.withLock { published in
      published.append(message)
      if published.count > Limits.recentBroadcasts { published.removeFirst() }
    }
    let groups = state.withLock { state in
      state[message.channel]?.values.map { ($0.loop, Array($0.receivers.values)) } ?? []
    }
    let total = groups.reduce(0) { $0 + $1.1.count }
    guard total > 0 else {
      finished?(message, 0)
      return
    }
    let latch = CountdownLatch(groups.count) { [finished] _ in finished?(message, total) }
    for (loop, receivers) in groups {
      LiveChannels.hand(message, to: receivers[...], on: loop) { latch.countDown() }
    }
  }

  private static func hand(
    _ message: BroadcastMessage, to receivers: ArraySlice<Receiver>, on loop: any EventLoop,
    then done: @escaping @Sendable () -> Void
  ) {
    loop.execute {
      // The sockets are written one right after another. Each write wakes a sleeping peer, and waking it costs more
      // than writing. A process with many connections would sleep again between two writes that are further apart.
      let slice = receivers.prefix(Limits.broadcastSlice)
      for receiver in slice {
        receiver.value.deliver(message)
        receiver.value.pack()
      }
      for receiver in slice { receiver.value.flush() }
      let rest = receivers.dropFirst(Limits.broadcastSlice)
      // Runs after the other work of this event-loop iteration. A loop runs all its tasks before it polls its
      // sockets, so the next slice is scheduled after a pause and not at once.
      loop.execute {
        if rest.isEmpty { return done() }
        loop.scheduleTask(in: TimeAmount(Limits.slicePause)) { hand(message, to: rest, on: loop, then: done) }
      }
    }
  }
}
