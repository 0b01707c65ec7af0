import GatewayProtocol
import PushStorage
import Synchronization

/// The outcomes of the pushes of one message.
final class CollectedOutcomes: Sendable {
  private struct State {
    var left: Int
    var failure: Reason?
    var isNew = false
  }

  private let state: Mutex<State>
  private let done: @Sendable (Reason?, _ isNew: Bool) -> Void

  /// - Parameters:
  ///   - count: the number of pushes, at least 1.
  ///   - done: called once after the last outcome, with the reason of a failure, and true if at least one push was stored
  ///     that was not stored before.
  init(count: Int, done: @escaping @Sendable (Reason?, _ isNew: Bool) -> Void) {
    state = Mutex(State(left: count))
    self.done = done
  }

  /// Adds the outcome of one push, or of the copies of one.
  func add(_ outcome: AppendOutcome) {
    var isNew = false
    if case .queued = outcome { isNew = true }
    add(outcome.failure, isNew: isNew)
  }

  /// Adds the outcome of one push; nil if it is stored.
  ///
  /// - Parameter isNew: false for a push that was stored before.
  func add(_ failure: Reason?, isNew: Bool = true) {
    let now = state.withLock { state in
      state.left -= 1
      state.failure = state.failure ?? failure
      state.isNew = state.isNew || failure == nil && isNew
      return state
    }
    if now.left == 0 { done(now.failure, now.isNew) }
  }
}

extension AppendOutcome {
  /// The reason for a push that is not stored; nil for a stored one.
  fileprivate var failure: Reason? {
    switch self {
    case .queued, .duplicate: nil
    case .unavailable: .serviceUnavailable
    case .failed: .internalServerError
    }
  }
}
