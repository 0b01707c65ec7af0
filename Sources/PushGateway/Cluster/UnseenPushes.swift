import PushPolicy
import PushStorage
import Synchronization

/// Logs that the device of a push that is never stored was not connected, if only the other gateways of a cluster can
/// confirm that.
///
/// One query runs at a time; pushes that arrive during it share the next one. If a gateway does not answer, no row is
/// logged, because the device may be connected there.
final class UnseenPushes: Sendable {
  private struct State {
    var waiting: [StoredPush] = []
    var isAsking = false
  }

  /// The maximum number of pushes that are kept for a query; no row is logged for the others.
  private static let maximumCount = 10_000

  private let presence: ClusterPresence
  private let log: DeliveryLog
  private let state = Mutex(State())

  init(_ presence: ClusterPresence, log: DeliveryLog) { (self.presence, self.log) = (presence, log) }

  /// Registers the handler for pushes that a router forwards to other gateways.
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
