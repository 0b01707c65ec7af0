import Synchronization

/// What the loop of ``Program`` wants done, done in order by one task beside it, so that a slow disk delays no key.
final class EffectQueue: Sendable {
  /// How many turns' effects wait before the loop takes no more messages.
  static let maximumBacklog = 4

  /// Carries out the effects of a turn, with the state after it if it was asked for; returns whether it wants the state
  /// of the next turn.
  typealias Perform = @Sendable ([PhoneEffect], PhoneState?) async -> Bool

  private struct State {
    var backlog = 0
    var wantsState = false
  }

  private let state = Mutex(State())
  private let work: AsyncStream<([PhoneEffect], PhoneState?)>.Continuation
  private let task: Task<Void, Never>

  /// - Parameter hasRoom: Called when the backlog has become short enough for more.
  init(perform: @escaping Perform, hasRoom: @escaping @Sendable () -> Void) {
    let (stream, continuation) = AsyncStream.makeStream(of: ([PhoneEffect], PhoneState?).self)
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
    let queue = Mutex<EffectQueue?>(nil)
  }

  var isFull: Bool { state.withLock { $0.backlog >= EffectQueue.maximumBacklog } }

  func post(_ effects: [PhoneEffect], _ phone: PhoneState) {
    guard !effects.isEmpty else { return }
    let wantsState = state.withLock { state in
      state.backlog += 1
      return state.wantsState
    }
    work.yield((effects, wantsState ? phone : nil))
  }

  /// Waits until everything is done.
  func finish() async {
    work.finish()
    await task.value
  }

  private func done(_ wantsState: Bool) -> Bool {
    state.withLock { state in
      state.backlog -= 1
      state.wantsState = wantsState
      return state.backlog == EffectQueue.maximumBacklog - 1
    }
  }
}
