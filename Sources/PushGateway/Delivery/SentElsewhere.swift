import DequeModule
import PushCore
import PushStorage
import Synchronization

/// The last pushes with actions that other gateways of the cell have sent, to any device: a person may pick an action here
/// when the gateway that had sent the push, and wrote that down, is gone.
///
/// Bounded: the oldest gives way. It begins empty, and is asked before the other gateways' logs.
final class SentElsewhere: Sendable {
  /// What a gateway tells the others.
  private struct Message: Codable {
    var device: Int64
    var app: Int64
    /// As senders write it.
    var id: String
    var category: String
    /// Milliseconds since 1970.
    var at: Int64
  }

  private struct Key: Hashable {
    var device: DeviceID
    var id: APNSID
  }

  private struct State {
    var pushes: [Key: SentPush] = [:]
    var order = Deque<Key>()
  }

  private static let name = "sent"
  private let state = Mutex(State())
  private let capacity: Int

  /// - Parameter capacity: how many pushes are remembered.
  init(capacity: Int = Limits.pushesSentElsewhere) { self.capacity = capacity }

  /// Begins to note what the other gateways tell.
  func join(_ cell: any GatewayCell) throws {
    try cell.hear(SentElsewhere.name) { [self] in
      guard let message = try? decodeJSON(Message.self, from: $0), let id = APNSID(message.id) else { return }
      let push = SentPush(
        id: id, sent: ShortTime(message.at), app: AppID(row: message.app), category: message.category)
      note(push, to: DeviceID(row: message.device))
    }
  }

  /// Tells the other gateways what this one has sent; `at` is in milliseconds since 1970.
  static func tell(
    _ cell: any GatewayCell, _ push: APNSID, of app: AppID, category: String, to device: DeviceID, at: Int64
  ) {
    cell.tell(
      name,
      controlJSON(Message(device: device.row, app: app.row, id: push.description, category: category, at: at)))
  }

  func push(_ id: APNSID, of device: DeviceID) -> SentPush? {
    state.withLock { $0.pushes[Key(device: device, id: id)] }
  }

  private func note(_ push: SentPush, to device: DeviceID) {
    let key = Key(device: device, id: push.id)
    state.withLock { state in
      if state.pushes.updateValue(push, forKey: key) == nil { state.order.append(key) }
      if state.order.count > capacity, let oldest = state.order.popFirst() { state.pushes[oldest] = nil }
    }
  }
}
