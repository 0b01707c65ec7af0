import Synchronization

/// What the loop of ``Program`` or ``LineProgram`` wants done, done in order by one task beside it, so that a slow disk delays no key.
package final class EffectQueue<Model: EffectModel>: Sendable {
  /// How many turns' effects wait before the loop takes no more messages.
  package static var maximumBacklog: Int { 4 }

  /// Carries out the effects of a turn.
  package typealias Perform = @Sendable ([Model.Effect]) async -> Void

  private let backlog = Mutex(0)
  private let work: AsyncStream<[Model.Effect]>.Continuation
  private let task: Task<Void, Never>

  /// - Parameter hasRoom: Called when the backlog has become short enough for more.
  package init(perform: @escaping Perform, hasRoom: @escaping @Sendable () -> Void) {
    let (stream, continuation) = AsyncStream.makeStream(of: [Model.Effect].self)
    work = continuation
    let box = Relay()
    // Its own thread: storing waits for the disk.
    task = Task(executorPreference: SerialQueue("effects")) {
      for await effects in stream {
        await perform(effects)
        if box.queue.withLock({ $0 })?.done() ?? false { hasRoom() }
      }
    }
    box.queue.withLock { $0 = self }
  }

  /// Leads from the task back to its queue, which keeps the task.
  private final class Relay: Sendable {
    let queue = Mutex<EffectQueue<Model>?>(nil)
  }

  package var isFull: Bool { backlog.withLock { $0 >= Self.maximumBacklog } }

  package func post(_ effects: [Model.Effect]) {
    guard !effects.isEmpty else { return }
    backlog.withLock { $0 += 1 }
    work.yield(effects)
  }

  /// Waits until all effects are carried out. The task of these effects is canceled: a pause in them ends at once.
  package func finish() async {
    work.finish()
    task.cancel()
    await task.value
  }

  /// Notes that a turn's effects are carried out; returns whether the backlog has become short enough for more.
  private func done() -> Bool {
    backlog.withLock { backlog in
      backlog -= 1
      return backlog == Self.maximumBacklog - 1
    }
  }
}
