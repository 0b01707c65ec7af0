import Synchronization

/// Delays a stop by a signal between showing and acknowledging a push; otherwise the push would be shown again.
final class ShowingTurn: Sendable {
  private struct State {
    var isShowing = false
    var isStopping = false
    /// The stops that are suspended until the push is shown.
    var stops: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let gracePeriod: Duration

  /// - Parameter gracePeriod: The maximum time to finish showing a push after a request to stop.
  init(gracePeriod: Duration = .seconds(2)) { self.gracePeriod = gracePeriod }

  /// Returns true if more pushes may be shown; then ``end()`` must follow.
  func begin() -> Bool {
    state.withLock { state in
      guard !state.isStopping else { return false }
      state.isShowing = true
      return true
    }
  }

  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Resumes the stops; a push that is still shown counts as shown.
  func end() {
    let stops = state.withLock { state in
      defer { (state.isShowing, state.stops) = (false, []) }
      return state.stops
    }
    for stop in stops { stop.resume() }
  }

  /// Prevents further showing; returns when the current push is shown, or after the grace period if the reader does not
  /// accept it.
  func stop() async {
    let limit = Task {
      do { try await Task.sleep(for: gracePeriod) } catch { return }
      end()
    }
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        state.isStopping = true
        if state.isShowing { state.stops.append(continuation) }
        return !state.isShowing
      }
      if isOver { continuation.resume() }
    }
    limit.cancel()
  }
}
