import Synchronization

/// A counter with a task that awaits a value.
final class Tally: Sendable {
  private struct State {
    var count = 0
    var target = Int.max
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  var count: Int { state.withLock { $0.count } }

  func add(_ more: Int = 1) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.count += more
      return state.count >= state.target ? state.waiter.take() : nil
    }
    waiter?.resume()
  }

  /// Returns when the counter has reached `target`. At most one task may wait at a time.
  func reach(_ target: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        guard state.count < target else { return true }
        precondition(state.waiter == nil, "somebody waits already")
        (state.target, state.waiter) = (target, continuation)
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}
