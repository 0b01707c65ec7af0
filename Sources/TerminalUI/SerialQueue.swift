import Dispatch

/// A thread of its own for a task that must not wait for others, or that others must not wait for.
package final class SerialQueue: TaskExecutor {
  private let queue: DispatchQueue

  /// - Parameter isUrgent: Whether a person waits for what it does.
  package init(_ label: String, isUrgent: Bool = false) {
    queue = DispatchQueue(label: label, qos: isUrgent ? .userInteractive : .default)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
