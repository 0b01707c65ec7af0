import DequeModule
import NIOCore
import PushCore
import PushStorage
import Synchronization

/// A stream that takes broadcasts. Called on its loop.
protocol BroadcastReceiver: AnyObject {
  /// A message of one of its channels was accepted.
  func deliver(_ message: BroadcastMessage)
  /// What was delivered is made ready to leave.
  func pack()
  /// What is ready leaves at once.
  func flush()
}

/// Which streams that are open now belong to which channel, loop by loop, and the way of a message to all of them.
///
/// Devices that are not connected are not here: a message costs what its receivers cost, however many subscribe.
final class LiveChannels: Sendable {
  private typealias Receiver = NIOLoopBound<any BroadcastReceiver>

  private struct Members {
    let loop: any EventLoop
    var receivers: [UInt64: Receiver] = [:]
  }

  private let state = Mutex<[ChannelID: [ObjectIdentifier: Members]]>([:])
  /// The last messages, the newest last, of which receivers will speak.
  private let published = Mutex<Deque<BroadcastMessage>>([])
  /// Hears when the last receiver on every loop has been given a message: how many there were.
  private let finished: (@Sendable (BroadcastMessage, Int) -> Void)?

  /// - Parameter finished: called on a loop, when a message has been handed to all: the message, and how many they were.
  init(finished: (@Sendable (BroadcastMessage, Int) -> Void)? = nil) { self.finished = finished }

  /// Adds a stream to a channel; `number` names the stream among all. Call it on the stream's loop.
  func join(_ channel: ChannelID, _ number: UInt64, _ receiver: any BroadcastReceiver, loop: any EventLoop) {
    let bound = NIOLoopBound(receiver, eventLoop: loop)
    state.withLock {
      $0[channel, default: [:]][ObjectIdentifier(loop), default: Members(loop: loop)].receivers[number] = bound
    }
  }

  /// Takes a stream out of a channel.
  func leave(_ channel: ChannelID, _ number: UInt64, loop: any EventLoop) {
    state.withLock { state in
      let key = ObjectIdentifier(loop)
      state[channel]?[key]?.receivers[number] = nil
      if state[channel]?[key]?.receivers.isEmpty == true { state[channel]?[key] = nil }
      if state[channel]?.isEmpty == true { state[channel] = nil }
    }
  }

  /// One of the last messages: ``Limits/recentBroadcasts`` of them.
  func recent(_ id: APNSID) -> BroadcastMessage? { published.withLock { $0.last { $0.id == id } } }

  /// How many streams a channel has.
  func count(of channel: ChannelID) -> Int {
    state.withLock { $0[channel]?.values.reduce(0) { $0 + $1.receivers.count } ?? 0 }
  }

  /// Hands a message to every stream of its channel, on all loops at once, in slices between which a loop serves others.
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
    let left = Countdown(groups.count)
    for (loop, receivers) in groups {
      LiveChannels.hand(message, to: receivers[...], on: loop) { [finished] in
        if left.countDown() { finished?(message, total) }
      }
    }
  }

  private static func hand(
    _ message: BroadcastMessage, to receivers: ArraySlice<Receiver>, on loop: any EventLoop,
    then done: @escaping @Sendable () -> Void
  ) {
    loop.execute {
      // The sockets are written one right after another: each write wakes a peer that sleeps, as a process with many
      // connections would between two writes that are further apart, and waking it costs more than writing.
      let slice = receivers.prefix(Limits.broadcastSlice)
      for receiver in slice {
        receiver.value.deliver(message)
        receiver.value.pack()
      }
      for receiver in slice { receiver.value.flush() }
      let rest = receivers.dropFirst(Limits.broadcastSlice)
      // Behind what else this turn brings. A loop goes through all its tasks before it looks at its sockets, so that
      // the next slice is due a moment later and not at once.
      loop.execute {
        if rest.isEmpty { return done() }
        loop.scheduleTask(in: TimeAmount(Limits.slicePause)) { hand(message, to: rest, on: loop, then: done) }
      }
    }
  }
}

/// Counts loops that are done.
private final class Countdown: Sendable {
  private let left: Mutex<Int>

  init(_ count: Int) { left = Mutex(count) }

  /// Whether that was the last one.
  func countDown() -> Bool {
    left.withLock { left in
      left -= 1
      return left == 0
    }
  }
}
