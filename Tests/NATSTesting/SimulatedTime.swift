package import Dispatch
import Synchronization

/// Time of a simulation: it goes on when everything that can be done has been done.
///
/// All work runs on one queue, in the order in which it was begun, so that the same seed gives the same run: tasks that
/// prefer this executor, queues whose target is ``queue``, and what was asked for later.
package final class SimulatedTime: TaskExecutor {
  private struct Event {
    var due: Duration
    var body: @Sendable () -> Void
  }

  private struct State {
    var now = Duration.zero
    /// By time, the first last; of two of the same time the earlier one comes first.
    var events: [Event] = []
    var isRunning = false
  }

  /// Where everything happens.
  package let queue = DispatchQueue(label: "pushgateway.test.time")
  private let state = Mutex(State())
  private let start = ContinuousClock.now

  /// A task that goes on needs a few turns of the queue until what it does is seen; in so many nothing has come.
  private static let quietTurns = 8

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Since it began.
  package var now: Duration { state.withLock { $0.now } }
  package var instant: ContinuousClock.Instant { start + now }

  /// Calls `body` so much later, on the queue.
  package func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    state.withLock { state in
      let due = state.now + max(.zero, delay)
      let index = state.events.firstIndex { $0.due <= due } ?? state.events.count
      state.events.insert(Event(due: due, body: body), at: index)
    }
  }

  package func pause(_ time: Duration) async {
    await withCheckedContinuation { continuation in after(time) { continuation.resume() } }
  }

  /// Runs a simulation; when this returns, time stands still.
  package func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
    state.withLock { $0.isRunning = true }
    turn(0)
    defer { state.withLock { $0.isRunning = false } }
    try await Task(executorPreference: self) { try await body() }.value
  }

  private func turn(_ quiet: Int) {
    queue.async { [self] in
      guard state.withLock({ $0.isRunning }) else { return }
      guard quiet >= Self.quietTurns else { return turn(quiet + 1) }
      next()?()
      turn(0)
    }
  }

  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard let event = state.events.popLast() else { return nil }
      state.now = event.due
      return event.body
    }
  }
}
