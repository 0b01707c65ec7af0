import NIOCore
import PushCore
import PushStorage
import Synchronization

/// The connected devices of this process and the event loops of their streams: the router of a standalone gateway.
final class DeviceStreamRegistry: PushRouter {
  private struct Entry {
    var number: UInt64
    var stream: NIOLoopBound<ReadyStreams.Stream>
  }

  private struct State {
    var live: [DeviceID: [Entry]] = [:]
    var lastNumber: UInt64 = 0
    /// The queue of ready streams of each event loop.
    var ready: [ObjectIdentifier: NIOLoopBound<ReadyStreams>] = [:]
  }

  private let state = Mutex(State())

  func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64 {
    let stream = NIOLoopBound(ReadyStreams.Stream(subscription), eventLoop: loop)
    return state.withLock { state in
      if state.ready[ObjectIdentifier(loop)] == nil {
        state.ready[ObjectIdentifier(loop)] = NIOLoopBound(ReadyStreams(loop: loop), eventLoop: loop)
      }
      state.lastNumber += 1
      state.live[device, default: []].append(Entry(number: state.lastNumber, stream: stream))
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

  func deliver(_ entries: [MailboxEntry]) {
    hand { live, items in
      for entry in entries {
        for target in live[entry.push.device] ?? [] { items.append(.push(entry), to: target.stream) }
      }
    }
  }

  func deliverNow(_ push: StoredPush) -> Handover {
    let count = hand { live, items in
      let entry = MailboxEntry(seq: 0, push: push)
      for target in live[push.device] ?? [] { items.append(.push(entry), to: target.stream) }
    }
    return count == 0 ? .notConnected : .delivered
  }

  func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {
    hand { live, items in
      for target in live[device] ?? [] where target.number != number {
        items.append(.notice(notice), to: target.stream)
      }
    }
  }

  /// Sends a notice to all streams.
  func notifyAll(_ notice: DeviceNotice) {
    hand { live, items in
      for target in live.values.joined() { items.append(.notice(notice), to: target.stream) }
    }
  }

  /// Makes all streams read their mailboxes again. The registry never calls it: it sees all pushes that its process
  /// stores.
  func resync() {
    hand { live, items in
      for target in live.values.joined() { items.append(.resync, to: target.stream) }
    }
  }

  /// Makes the streams of some devices read their mailboxes again.
  func resync(_ devices: some Sequence<DeviceID>) {
    hand { live, items in
      for target in devices.lazy.compactMap({ live[$0] }).joined() { items.append(.resync, to: target.stream) }
    }
  }

  /// Items for streams, grouped by event loop.
  private struct Items {
    typealias Item = (stream: NIOLoopBound<ReadyStreams.Stream>, item: StreamItem)
    var byLoop: [ObjectIdentifier: [Item]] = [:]

    mutating func append(_ item: StreamItem, to stream: NIOLoopBound<ReadyStreams.Stream>) {
      byLoop[ObjectIdentifier(stream.eventLoop), default: []].append((stream, item))
    }
  }

  /// Hands the items that `choose` picks to their streams, with one hop for each event loop; returns the number of
  /// items.
  @discardableResult
  private func hand(_ choose: ([DeviceID: [Entry]], inout Items) -> Void) -> Int {
    var items = Items()
    let ready = state.withLock { state in
      if !state.live.isEmpty { choose(state.live, &items) }
      return state.ready
    }
    for (loop, items) in items.byLoop {
      guard let ready = ready[loop] else { continue }
      ready.eventLoop.execute { ready.value.add(items) }
    }
    return items.byLoop.values.reduce(0) { $0 + $1.count }
  }
}
