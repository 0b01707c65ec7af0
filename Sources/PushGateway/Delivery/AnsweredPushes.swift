import DequeModule
import PushCore
import Synchronization

/// Which pushes somebody has answered: the first answer counts, wherever a person gives it.
///
/// The last ``capacity`` of them are remembered; whoever answers an older one once more is believed.
final class AnsweredPushes: Sendable {
  private struct Key: Hashable {
    var person: PersonID
    var id: APNSID
  }

  private static let capacity = 10_000

  private let state = Mutex((known: Set<Key>(), order: Deque<Key>()))

  /// Notes an answer; false when there was one before.
  func isFirst(_ id: APNSID, by person: PersonID) -> Bool {
    state.withLock { state in
      let key = Key(person: person, id: id)
      guard state.known.insert(key).inserted else { return false }
      state.order.append(key)
      if state.order.count > AnsweredPushes.capacity { state.known.remove(state.order.removeFirst()) }
      return true
    }
  }
}
