import Synchronization

/// What the loop of ``Program`` or ``LineProgram`` wants done, done in order by one task beside it, so that a slow disk delays no key.
package final class EffectQueue<Model: EffectModel>: Sendable {
  /// How many turns' effects wait before the loop takes no more messages.
  package static var maximumBacklog: Int { 4 }

  /// Carries out the effects of a turn, with the state after it if it was asked for; returns whether it wants the state
  /// of the next turn.
  package typealias Perform = @Sendable ([Model.Effect], Model.State?) async -> Bool

  private struct State {
    var backlog = 0
    var wantsState = false
  }

  private let state = Mutex(State())
  private let work: AsyncStream<([Model.Effect], Model.State?)>.Continuation
  private let task: Task<Void, Never>

  /// - Parameter hasRoom: Called when the backlog has become short enough for more.
  package init(perform: @escaping Perform, hasRoom: @escaping @Sendable () -> Void) {
    let (stream, continuation) = AsyncStream.makeStream(of: ([Model.Effect], Model.State?).self)
    work = continuation
    let box = Relay()
    // Its own thread: storing waits for the disk.
    task = Task(executorPreference: SerialQueue("effects")) {
      for await (effects, state) in stream {
        let wantsState = await perform(effects, state)
        if box.queue.withLock({ $0 })?.done(wantsState) ?? false { hasRoom() }
      }
    }
    box.queue.withLock { $0 = self }
  }

  /// Leads from the task back to its queue, which keeps the task.
  private final class Relay: Sendable {
    let queue = Mutex<EffectQueue<Model>?>(nil)
  }

  package var isFull: Bool { state.withLock { $0.backlog >= Self.maximumBacklog } }

  package func post(_ effects: [Model.Effect], _ current: Model.State) {
    guard !effects.isEmpty else { return }
    let wantsState = state.withLock { state in
      state.backlog += 1
      return state.wantsState
    }
    work.yield((effects, wantsState ? current : nil))
  }

  /// Waits until everything is done.
  package func finish() async {
    work.finish()
    await task.value
  }

  private func done(_ wantsState: Bool) -> Bool {
    state.withLock { state in
      state.backlog -= 1
      state.wantsState = wantsState
      return state.backlog == Self.maximumBacklog - 1
    }
  }
}
