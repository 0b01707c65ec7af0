import Synchronization

/// Counts the open parts of an operation, on any threads, and calls its completion once: after the last part, or at
/// ``cancel()``.
package final class CountdownLatch: Sendable {
  private struct State: Sendable {
    var open: Int
    var hasSucceeded = true
    var done: (@Sendable (Bool) -> Void)?
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - count: the number of parts, at least 1.
  ///   - done: called with true if all parts have succeeded.
  package init(_ count: Int, done: @escaping @Sendable (Bool) -> Void) {
    precondition(count > 0, "expected at least one part")
    state = Mutex(State(open: count, done: done))
  }

  /// Ends one part.
  package func countDown(hasSucceeded: Bool = true) {
    let (done, result) = state.withLock { state in
      state.open -= 1
      state.hasSucceeded = state.hasSucceeded && hasSucceeded
      return (state.open == 0 ? state.done.take() : nil, state.hasSucceeded)
    }
    done?(result)
  }

  /// Completes the operation without its open parts, as failed.
  package func cancel() { state.withLock { $0.done.take() }?(false) }
}
