import Dispatch

/// A thread of its own for a task that must not wait for others, or that others must not wait for.
final class SerialQueue: TaskExecutor {
  private let queue: DispatchQueue

  /// - Parameter isUrgent: Whether a person waits for what it does.
  init(_ label: String, isUrgent: Bool = false) {
    queue = DispatchQueue(label: label, qos: isUrgent ? .userInteractive : .default)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
