import Synchronization

/// The phase of a gateway between start and stop, for liveness and readiness checks.
final class Lifecycle: Sendable {
  private let draining = Atomic(false)
  private let question = Mutex<SharedQuestion?>(nil)

  /// True while the gateway shuts down: it completes accepted requests and accepts no more.
  var isDraining: Bool { draining.load(ordering: .relaxed) }

  func beginDrain() { draining.store(true, ordering: .relaxed) }

  /// - Parameter ask: queries every event loop, and returns false if one does not answer in time.
  func watch(_ ask: @escaping @Sendable () async -> Bool) { question.withLock { $0 = SharedQuestion(ask) } }

  /// Returns true if every event loop responds, as of the last second; true before there are any loops.
  func isAlive() async -> Bool { await question.withLock { $0 }?.answer() ?? true }
}

/// Shares one answer among all requests of a second: at most one call of `ask` runs at a time, however many requests
/// come.
actor SharedQuestion {
  private let ask: @Sendable () async -> Bool
  private let now: @Sendable () -> ContinuousClock.Instant
  private var latest: (answer: Bool, time: ContinuousClock.Instant)?
  private var asking: Task<Bool, Never>?

  init(_ ask: @escaping @Sendable () async -> Bool, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.ask = ask
    self.now = now
  }

  /// Returns the answer of the last second, or a new one.
  func answer() async -> Bool {
    if let latest, now() - latest.time < .seconds(1) { return latest.answer }
    if let asking { return await asking.value }
    let task = Task { await ask() }
    asking = task
    let answer = await task.value
    (latest, asking) = ((answer, now()), nil)
    return answer
  }
}
