package import Dispatch

/// The queue, executor and clock of a cluster's mailbox. A simulation has its own.
package struct MailboxEnvironment: Sendable {
  /// The target of the mailbox's queue.
  package var queue: DispatchQueue?
  /// The executor on which its tasks run.
  package var executor: (any TaskExecutor)?
  package var now: @Sendable () -> ContinuousClock.Instant
  /// The time for which an append, or another request to brokers, is retried.
  package var timeout = Duration.seconds(10)
  /// The time for which a start is retried while brokers elect the leaders of the streams.
  package var startTime = Duration.seconds(30)
  /// Calls a closure after a delay, on any thread.
  package var after: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

  package init(
    queue: DispatchQueue? = nil, executor: (any TaskExecutor)? = nil,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    after: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = { delay, body in
      DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(delay / .nanoseconds(1))), execute: body)
    }
  ) {
    (self.queue, self.executor, self.now, self.after) = (queue, executor, now, after)
  }

  func start(_ work: @escaping @Sendable () async -> Void) {
    Task(executorPreference: executor) { await work() }
  }

  func pause(_ time: Duration) async {
    await withCheckedContinuation { continuation in after(time) { continuation.resume() } }
  }
}
