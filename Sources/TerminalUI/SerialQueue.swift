import Dispatch

/// An executor with a dedicated thread, for a task that must not wait for other tasks or must not delay them.
package final class SerialQueue: TaskExecutor {
  private let queue: DispatchQueue

  /// - Parameter isUrgent: True if a user waits for the results of the task.
  package init(_ label: String, isUrgent: Bool = false) {
    queue = DispatchQueue(label: label, qos: isUrgent ? .userInteractive : .default)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
