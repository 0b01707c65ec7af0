import DequeModule
import PushCore
import Synchronization

/// The most recent pushes with actions that other gateways of the cluster have sent, to any device. A user may pick
/// an action on this gateway after the gateway that sent and logged the push is gone.
///
/// Bounded: the oldest entry is evicted. It starts empty, and is checked before the logs of the other gateways.
final class RemotePushes: Sendable {
  private struct Key: Hashable {
    var device: DeviceID
    var id: APNSID
  }

  private struct State {
    var pushes: [Key: SentPush] = [:]
    var order = Deque<Key>()
  }

  private let state = Mutex(State())
  private let capacity: Int

  /// - Parameter capacity: the maximum number of pushes in memory.
  init(capacity: Int = Limits.maximumRemotePushes) { self.capacity = capacity }

  func push(_ id: APNSID, of device: DeviceID) -> SentPush? {
    state.withLock { $0.pushes[Key(device: device, id: id)] }
  }

  func note(_ push: SentPush, to device: DeviceID) {
    let key = Key(device: device, id: push.id)
    state.withLock { state in
      if state.pushes.updateValue(push, forKey: key) == nil { state.order.append(key) }
      if state.order.count > capacity, let oldest = state.order.popFirst() { state.pushes[oldest] = nil }
    }
  }
}
