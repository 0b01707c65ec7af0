import Synchronization

/// An executor that runs its tasks only when the test calls it. After that, each task is done or waits.
package final class ManualExecutor: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Starts a task, and returns when it is done or waits.
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

  /// Runs tasks until none can continue.
  package func run() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

/// A task of a ``ManualExecutor``.
package final class ManualTask: Sendable {
  private let state = Atomic(false)

  /// True if the task has ended.
  package var isDone: Bool { state.load(ordering: .acquiring) }

  fileprivate func finish() { state.store(true, ordering: .releasing) }
}
