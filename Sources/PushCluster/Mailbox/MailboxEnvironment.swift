package import Dispatch

/// Where a cell's mailbox does its work, and how it waits. A simulation has a queue and a time of its own.
package struct MailboxEnvironment: Sendable {
  /// The target of the mailbox's queue.
  package var queue: DispatchQueue?
  /// Where its tasks run.
  package var executor: (any TaskExecutor)?
  package var now: @Sendable () -> ContinuousClock.Instant
  /// How long an append, or anything else that brokers are asked for, is tried.
  package var patience = Duration.seconds(10)
  /// How long a start waits for brokers that elect the leaders of its streams.
  package var startTime = Duration.seconds(30)
  /// Calls something later, on any thread.
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
