import DequeModule
import PushCore
import Synchronization

/// A line of pushes to groups. At most ``Limits/groupCopiesAtOnce`` copies are in the mailbox's next commit, so that this commit
/// stays short for other pushes. Apps take turns.
///
/// Holds at most ``Limits/waitingGroupPushes`` pushes, all of them without their copies.
final class GroupPushLine: Sendable {
  private struct Entry: Sendable {
    let copies: Int
    let begin: @Sendable () -> Void
  }

  private struct State {
    /// Copies that were given to the mailbox and are not committed yet.
    var underWay = 0
    var waiting: [AppID: Deque<Entry>] = [:]
    /// The apps of ``waiting``, in the order of their turns.
    var turns: Deque<AppID> = []
    var count = 0

    /// The next push that may begin: one, however large, where nothing is under way.
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

  /// Calls `begin` when the copies of a push may be stored, on the thread that made room for them; ``end(copies:)`` has to follow.
  ///
  /// - Parameter copies: at least 1.
  /// - Returns: false where the line is full; then `begin` is never called.
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

  /// Makes room: the copies of a push are stored, or refused.
  func end(copies: Int) {
    state.withLock { $0.underWay -= copies }
    beginNext()
  }

  private func beginNext() {
    while let entry = state.withLock({ $0.next() }) { entry.begin() }
  }
}
