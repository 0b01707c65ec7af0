import Dispatch

/// A thread of its own for a task that must not wait for others, or that others must not wait for.
final class SerialQueue: TaskExecutor {
  private let queue: DispatchQueue

  init(_ label: String, qos: DispatchQoS = .default) {
    queue = DispatchQueue(label: label, qos: qos)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
