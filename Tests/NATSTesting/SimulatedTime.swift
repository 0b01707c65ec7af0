package import Dispatch
import Synchronization

/// The time of a simulation. It advances when all work of the current time has been done.
///
/// All work runs on one queue, in the order in which it was started, so that a seed determines the run: tasks that
/// prefer this executor, queues whose target is ``queue``, and delayed calls.
package final class SimulatedTime: TaskExecutor {
  private struct Event {
    var due: Duration
    var body: @Sendable () -> Void
  }

  private struct State {
    var now = Duration.zero
    /// The delayed calls by descending time. Of two with the same time, the one that was added earlier is called first.
    var events: [Event] = []
    var isRunning = false
  }

  /// The queue for all work.
  package let queue = DispatchQueue(label: "pushgateway.test.time")
  private let state = Mutex(State())
  private let start = ContinuousClock.now

  /// The number of queue iterations without new work after which time advances. A task that resumes needs several
  /// iterations until its effects are visible.
  private static let quietTurns = 8

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// The time since the simulation began.
  package var now: Duration { state.withLock { $0.now } }
  package var instant: ContinuousClock.Instant { start + now }

  /// Calls `body` on the queue after `delay`.
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

  /// Runs a simulation. When it returns, time stands still.
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
