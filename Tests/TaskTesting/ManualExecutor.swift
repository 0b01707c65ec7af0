import Synchronization

/// Runs its tasks only when a test says so: afterwards each of them is done, or waits for something else.
package final class ManualExecutor: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Begins a task, and returns when it is done or waits.
  @discardableResult
  package func start(_ body: @escaping @Sendable () async -> Void) -> ManualTask {
    let task = ManualTask()
    Task(executorPreference: self) {
      await body()
      task.finish()
    }
    run()
    return task
  }

  /// Runs all that can go on, until nothing can.
  package func run() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

/// A task of a ``ManualExecutor``.
package final class ManualTask: Sendable {
  private let state = Atomic(false)

  /// Whether it has come to its end.
  package var isDone: Bool { state.load(ordering: .acquiring) }

  fileprivate func finish() { state.store(true, ordering: .releasing) }
}
