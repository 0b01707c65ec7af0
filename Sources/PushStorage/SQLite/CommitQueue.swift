import Synchronization

/// Group commit: changes that arrive while a commit runs share the next one.
///
/// Commits run one at a time, each with all changes that have arrived before it, in their order. A commit succeeds or
/// fails for all of its changes.
final class CommitQueue<Change: Sendable, Outcome: Sendable>: Sendable {
  /// Commits changes as one transaction, and returns the outcome of each, in their order.
  typealias Commit = @Sendable (_ changes: [Change]) async throws(StoreError) -> [Outcome]
  typealias Completion = @Sendable (Result<Outcome, StoreError>) -> Void

  private struct Entry: Sendable {
    var change: Change
    var completion: Completion
  }

  private struct State: Sendable {
    var waiting: [Entry] = []
    /// The changes of the commit that is in progress.
    var committing: [Entry] = []
    var isCommitting = false
    var settling: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Adds changes, which are part of the same commit. Calls `completion` for each of them after the commit, in the
  /// order of the changes.
  ///
  /// - Parameter commit: runs the commits until the queue is empty again; all calls pass the same function.
  func append(_ changes: [Change], commit: @escaping Commit, completion: @escaping Completion = { _ in }) {
    if changes.isEmpty { return }
    let mustCommit = state.withLock { state in
      for change in changes { state.waiting.append(Entry(change: change, completion: completion)) }
      defer { state.isCommitting = true }
      return !state.isCommitting
    }
    if mustCommit { Task { await run(commit) } }
  }

  /// The changes that are not on disk yet, in their order. The changes of a failed commit are among them until their
  /// completions have been called.
  var pending: [Change] { state.withLock { ($0.committing + $0.waiting).map(\.change) } }

  /// Returns when the queue is empty: all changes so far are on disk or have failed, and their completions have been
  /// called.
  func settle() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if state.isCommitting { state.settling.append(continuation) }
        return !state.isCommitting
      }
      if isIdle { continuation.resume() }
    }
  }

  private func run(_ commit: Commit) async {
    while let entries = next() {
      do throws(StoreError) {
        let outcomes = try await commit(entries.map(\.change))
        assert(outcomes.count == entries.count, "\(outcomes.count) outcomes of \(entries.count) changes")
        for (entry, outcome) in zip(entries, outcomes) { entry.completion(.success(outcome)) }
      } catch {
        for entry in entries { entry.completion(.failure(error)) }
      }
    }
  }

  /// Takes the changes of the next commit. If there are none, ends the calls of ``settle()`` and returns nil.
  private func next() -> [Entry]? {
    let taken = state.withLock { state in
      (state.committing, state.waiting) = (state.waiting, [])
      let taken = state
      if taken.committing.isEmpty { state = State() }
      return taken
    }
    if !taken.committing.isEmpty { return taken.committing }
    for continuation in taken.settling { continuation.resume() }
    return nil
  }
}
