import NIOCore
import PushCore
import PushStorage
import Synchronization

/// Which device is connected, and on which loop of this process: the router of a gateway that is alone.
final class DeviceStreamRegistry: PushRouter {
  private struct Entry {
    var number: UInt64
    var stream: NIOLoopBound<ReadyStreams.Stream>
  }

  private struct State {
    var live: [DeviceID: [Entry]] = [:]
    var lastNumber: UInt64 = 0
    /// The streams of each loop that are to be served.
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
    return count == 0 ? .nowhere : .delivered
  }

  func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {
    hand { live, items in
      for target in live[device] ?? [] where target.number != number {
        items.append(.notice(notice), to: target.stream)
      }
    }
  }

  /// Tells all streams.
  func notifyAll(_ notice: DeviceNotice) {
    hand { live, items in
      for target in live.values.joined() { items.append(.notice(notice), to: target.stream) }
    }
  }

  /// A registry sees everything that its process stores: it never asks for this by itself.
  func resync() {
    hand { live, items in
      for target in live.values.joined() { items.append(.resync, to: target.stream) }
    }
  }

  /// Has the streams of some devices read their mailboxes again.
  func resync(_ devices: some Sequence<DeviceID>) {
    hand { live, items in
      for target in devices.lazy.compactMap({ live[$0] }).joined() { items.append(.resync, to: target.stream) }
    }
  }

  /// Items for streams, by their loops.
  private struct Items {
    typealias Item = (stream: NIOLoopBound<ReadyStreams.Stream>, item: StreamItem)
    var byLoop: [ObjectIdentifier: [Item]] = [:]

    mutating func append(_ item: StreamItem, to stream: NIOLoopBound<ReadyStreams.Stream>) {
      byLoop[ObjectIdentifier(stream.eventLoop), default: []].append((stream, item))
    }
  }

  /// Hands to streams what `choose` picks for them, with one hop for each loop; returns how many items it were.
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
