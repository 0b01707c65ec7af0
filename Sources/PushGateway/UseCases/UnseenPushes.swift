import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// Says in the delivery log of pushes that are never stored that their device was connected nowhere, where that takes the
/// word of the other gateways of a cell.
///
/// One question is under way at a time; pushes that come meanwhile share the next. Where a gateway does not answer nothing
/// is said: the device may be there.
final class UnseenPushes: Sendable {
  private struct State {
    var waiting: [StoredPush] = []
    var isAsking = false
  }

  /// More wait for no question: what became of those is not said.
  private static let maximumCount = 10_000

  private let presence: CellPresence
  private let log: DeliveryLog
  private let state = Mutex(State())

  init(_ presence: CellPresence, log: DeliveryLog) { (self.presence, self.log) = (presence, log) }

  /// Begins to look after what a router has handed to other gateways.
  func join(_ router: any PushRouter) { router.onForwarded { [self] in note($0) } }

  func note(_ push: StoredPush) {
    let begins = state.withLock { state -> Bool in
      if state.waiting.count < UnseenPushes.maximumCount { state.waiting.append(push) }
      defer { state.isAsking = true }
      return !state.isAsking
    }
    if begins { Task { await ask() } }
  }

  private func ask() async {
    while true {
      let pushes = state.withLock { state in
        defer { state.waiting = [] }
        state.isAsking = !state.waiting.isEmpty
        return state.waiting
      }
      if pushes.isEmpty { return }
      guard let connected = await presence.connected(of: Set(pushes.map(\.device))) else { continue }
      log.append(
        pushes.filter { !connected.contains($0.device) }.map {
          $0.event(.dropped, at: $0.received, detail: .fact(.notConnected))
        })
    }
  }
}
