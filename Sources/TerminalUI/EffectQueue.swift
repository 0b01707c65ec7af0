import Synchronization

/// Performs the effects of ``Program`` or ``LineProgram`` in order in one separate task, so that a slow disk delays
/// no key.
package final class EffectQueue<Model: EffectModel>: Sendable {
  /// The number of queued effect batches, one for each loop iteration, from which on the loop takes no more messages.
  package static var maximumBacklog: Int { 4 }

  /// Performs the effects of one loop iteration.
  package typealias Perform = @Sendable ([Model.Effect]) async -> Void

  private let backlog = Mutex(0)
  private let work: AsyncStream<[Model.Effect]>.Continuation
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// - Parameter hasRoom: Called when the backlog falls below ``maximumBacklog``.
  package init(perform: @escaping Perform, hasRoom: @escaping @Sendable () -> Void) {
    let (stream, continuation) = AsyncStream.makeStream(of: [Model.Effect].self)
    work = continuation
    // A dedicated thread, because saving blocks on the disk.
    let task = Task(executorPreference: SerialQueue("effects")) {
      for await effects in stream {
        await perform(effects)
        if self.done() { hasRoom() }
      }
    }
    self.task.withLock { $0 = task }
  }

  /// True if the backlog has reached its limit.
  package var isFull: Bool { backlog.withLock { $0 >= Self.maximumBacklog } }

  /// Appends the effects of one loop iteration; an empty array is ignored.
  package func post(_ effects: [Model.Effect]) {
    guard !effects.isEmpty else { return }
    backlog.withLock { $0 += 1 }
    work.yield(effects)
  }

  /// Waits until all effects are performed. Cancels the task of the effects, so that a pause in an effect ends at
  /// once.
  package func finish() async {
    work.finish()
    let task = task.withLock { $0 }
    task?.cancel()
    await task?.value
  }

  /// Records that one batch of effects is performed. Returns true if the backlog has just fallen below its limit.
  private func done() -> Bool {
    backlog.withLock { backlog in
      backlog -= 1
      return backlog == Self.maximumBacklog - 1
    }
  }
}
