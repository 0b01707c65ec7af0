import Synchronization

/// How far a gateway is on its way from its start to its end, for whoever asks whether it is alive and ready.
final class Lifecycle: Sendable {
  private let draining = Atomic(false)
  private let question = Mutex<SharedQuestion?>(nil)

  /// Whether the gateway ends: it answers what it has taken on, and takes on nothing more.
  var isDraining: Bool { draining.load(ordering: .relaxed) }

  func beginDrain() { draining.store(true, ordering: .relaxed) }

  /// - Parameter ask: asks every event loop for an answer, and returns false when one does not give it in time.
  func watch(_ ask: @escaping @Sendable () async -> Bool) { question.withLock { $0 = SharedQuestion(ask) } }

  /// Whether every event loop does its work, as of the last second; before there are any, nothing is wrong with them.
  func isAlive() async -> Bool { await question.withLock { $0 }?.answer() ?? true }
}

/// Shares one answer among all requests of a second: at most one call of `ask` runs at a time, however many requests come.
actor SharedQuestion {
  private let ask: @Sendable () async -> Bool
  private let now: @Sendable () -> ContinuousClock.Instant
  private var latest: (answer: Bool, time: ContinuousClock.Instant)?
  private var asking: Task<Bool, Never>?

  init(_ ask: @escaping @Sendable () async -> Bool, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.ask = ask
    self.now = now
  }

  /// The answer of the last second, or a new one.
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
