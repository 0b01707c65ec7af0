import Synchronization

/// One task that awaits changes of the record.
final class RecordWait: Sendable {
  private struct State {
    var isNotified = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  /// The token whose pushes matter; nil for all pushes.
  let token: String?
  private let state = Mutex(State())

  init(_ token: String?) { self.token = token }

  /// Reports a change.
  func notify() {
    let waiting = state.withLock { state in
      state.isNotified = true
      return state.waiting.take()
    }
    waiting?.resume()
  }

  /// Returns after a change since the last call, at the given time, or after a cancellation of the task.
  func next(until end: ContinuousClock.Instant) async {
    let limit = Task {
      guard (try? await Task.sleep(until: end, clock: .continuous)) != nil else { return }
      notify()
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isNotified = state.withLock { state in
          if !state.isNotified { state.waiting = continuation }
          return state.isNotified
        }
        if isNotified { continuation.resume() }
      }
    } onCancel: {
      notify()
    }
    limit.cancel()
    state.withLock { $0.isNotified = false }
  }
}
