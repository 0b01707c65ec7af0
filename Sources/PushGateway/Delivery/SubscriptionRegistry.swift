import NIOCore
import Synchronization

/// Which device is connected, and on which loop of this process: the router of a gateway that is alone.
final class SubscriptionRegistry: PushRouter {
  private struct Entry {
    var number: UInt64
    var subscription: NIOLoopBound<any LiveSubscription>
  }

  private struct State {
    var live: [DeviceID: [Entry]] = [:]
    var lastNumber: UInt64 = 0
  }

  private let state = Mutex(State())

  func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64 {
    let bound = NIOLoopBound(subscription, eventLoop: loop)
    return state.withLock { state in
      state.lastNumber += 1
      state.live[device, default: []].append(Entry(number: state.lastNumber, subscription: bound))
      return state.lastNumber
    }
  }

  func detach(_ device: DeviceID, _ number: UInt64) {
    state.withLock { state in
      state.live[device]?.removeAll { $0.number == number }
      if state.live[device]?.isEmpty == true { state.live[device] = nil }
    }
  }

  func count(of device: DeviceID) -> Int { state.withLock { $0.live[device]?.count ?? 0 } }

  func areConnected(_ entries: [MailboxEntry]) -> [Bool] {
    state.withLock { state in
      if state.live.isEmpty { return [Bool](repeating: false, count: entries.count) }
      return entries.map { state.live[$0.push.device] != nil }
    }
  }

  private struct Delivery {
    var target: Entry
    var place: Int
    var entry: MailboxEntry
  }

  /// Hands accepted pushes to the streams of their devices, with one hop per loop.
  ///
  /// Stream by stream: each is served and flushed while what belongs to it is near, and all that is for it leaves
  /// together. Going through a thousand streams twice costs far more than sorting.
  func deliver(_ entries: [MailboxEntry]) {
    var byLoop: [ObjectIdentifier: [Delivery]] = [:]
    state.withLock { state in
      guard !state.live.isEmpty else { return }
      for (place, entry) in entries.enumerated() {
        for target in state.live[entry.push.device] ?? [] {
          byLoop[ObjectIdentifier(target.subscription.eventLoop), default: []]
            .append(Delivery(target: target, place: place, entry: entry))
        }
      }
    }
    for var deliveries in byLoop.values {
      deliveries.sort { ($0.target.number, $0.place) < ($1.target.number, $1.place) }
      deliveries.first?.target.subscription.eventLoop.execute { [deliveries] in
        for (index, delivery) in deliveries.enumerated() {
          let subscription = delivery.target.subscription.value
          subscription.deliver(delivery.entry)
          let isLast = index + 1 == deliveries.count || deliveries[index + 1].target.number != delivery.target.number
          if isLast { subscription.flush() }
        }
      }
    }
  }

  func deliverNow(_ push: StoredPush) -> Handover {
    let targets = state.withLock { $0.live[push.device] ?? [] }
    for target in targets {
      target.subscription.eventLoop.execute {
        target.subscription.value.deliver(MailboxEntry(seq: 0, push: push))
        target.subscription.value.flush()
      }
    }
    return targets.isEmpty ? .nowhere : .toStreams
  }

  func tell(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {
    let targets = state.withLock { $0.live[device]?.filter { $0.number != number } ?? [] }
    for target in targets {
      target.subscription.eventLoop.execute { target.subscription.value.tell(notice) }
    }
  }

  /// With one hop per loop. A registry sees everything that its process stores: it never asks for this by itself.
  func resync() {
    let streams = state.withLock { state in state.live.values.flatMap { $0.map(\.subscription) } }
    for streams in Dictionary(grouping: streams, by: { ObjectIdentifier($0.eventLoop) }).values {
      streams.first?.eventLoop.execute {
        for stream in streams { stream.value.resync() }
      }
    }
  }
}
