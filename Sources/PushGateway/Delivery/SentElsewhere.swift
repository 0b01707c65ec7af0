import DequeModule
import PushCore
import Synchronization

/// The last pushes with actions that other gateways of the cell have sent, to any device: a person may pick an action here
/// when the gateway that had sent the push, and wrote that down, is gone.
///
/// Bounded: the oldest gives way. It begins empty, and is asked before the other gateways' logs.
final class SentElsewhere: Sendable {
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

  /// - Parameter capacity: how many pushes are remembered.
  init(capacity: Int = Limits.pushesSentElsewhere) { self.capacity = capacity }

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
