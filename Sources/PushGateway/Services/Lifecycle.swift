import Synchronization

/// How far a gateway is on its way from its start to its end, for whoever asks whether it is alive and ready.
final class Lifecycle: Sendable {
  private let draining = Atomic(false)
  private let answer = Mutex<(@Sendable () async -> Bool)?>(nil)

  /// Whether the gateway ends: it answers what it has taken on, and takes on nothing more.
  var isDraining: Bool { draining.load(ordering: .relaxed) }

  func beginDrain() { draining.store(true, ordering: .relaxed) }

  /// - Parameter answer: asks every event loop for an answer, and returns false when one does not give it in time.
  func watch(_ answer: @escaping @Sendable () async -> Bool) { self.answer.withLock { $0 = answer } }

  /// Whether every event loop does its work; before there are any, nothing is wrong with them.
  func isAlive() async -> Bool { await answer.withLock { $0 }?() ?? true }
}
