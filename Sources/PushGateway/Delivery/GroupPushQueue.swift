import DequeModule
import PushCore
import Synchronization

/// A queue of pushes to groups. At most ``Limits/groupCopiesAtOnce`` copies are in the mailbox's next commit, so that
/// this commit stays short for other pushes. Apps take turns.
///
/// Holds at most ``Limits/waitingGroupPushes`` pushes, without their copies.
final class GroupPushQueue: Sendable {
  private struct Entry: Sendable {
    let copies: Int
    let begin: @Sendable () -> Void
  }

  private struct State {
    /// The number of copies that were given to the mailbox and are not committed yet.
    var underWay = 0
    var waiting: [AppID: Deque<Entry>] = [:]
    /// The apps of ``waiting``, in the order of their turns.
    var turns: Deque<AppID> = []
    var count = 0

    /// Returns the next push that may begin. A push of any size may begin if no copies are in progress.
    mutating func next() -> Entry? {
      guard let app = turns.first, let entry = waiting[app]?.first else { return nil }
      guard underWay == 0 || underWay + entry.copies <= Limits.groupCopiesAtOnce else { return nil }
      turns.removeFirst()
      waiting[app]?.removeFirst()
      if waiting[app]?.isEmpty == true { waiting[app] = nil } else { turns.append(app) }
      count -= 1
      underWay += entry.copies
      return entry
    }
  }

  private let state = Mutex(State())

  /// Queues a push; calls `begin` when its copies may be stored, on the thread that freed the capacity. The caller
  /// must then call ``end(copies:)``.
  ///
  /// - Parameter copies: at least 1.
  /// - Returns: false if the queue is full; then `begin` is never called.
  func enter(_ app: AppID, copies: Int, begin: @escaping @Sendable () -> Void) -> Bool {
    let isTaken = state.withLock { state in
      guard state.count < Limits.waitingGroupPushes else { return false }
      if state.waiting[app] == nil { state.turns.append(app) }
      state.waiting[app, default: []].append(Entry(copies: copies, begin: begin))
      state.count += 1
      return true
    }
    if isTaken { beginNext() }
    return isTaken
  }

  /// Frees capacity after the copies of a push are stored or refused.
  func end(copies: Int) {
    state.withLock { $0.underWay -= copies }
    beginNext()
  }

  private func beginNext() {
    while let entry = state.withLock({ $0.next() }) { entry.begin() }
  }
}
