import DequeModule
import PushCore
import Synchronization

/// Which pushes somebody has answered: the first answer counts, wherever a person gives it.
///
/// The last ``Limits/rememberedAnswers`` of each person are remembered, so that nobody's answers make another's
/// forgotten; whoever answers an older one once more is believed.
final class AnsweredPushes: Sendable {
  private struct Answers {
    var known: Set<APNSID> = []
    var order: Deque<APNSID> = []
  }

  private struct State {
    var answers: [PersonID: Answers] = [:]
    /// Persons in the order of their first answers.
    var order: Deque<PersonID> = []
  }

  private let state = Mutex(State())

  /// How many persons are remembered.
  var personCount: Int { state.withLock { $0.answers.count } }

  /// Notes an answer; false when there was one before.
  func isFirst(_ id: APNSID, by person: PersonID) -> Bool {
    state.withLock { state in
      if state.answers[person] == nil {
        state.order.append(person)
        if state.order.count > Limits.maximumAnsweringPersons { state.answers[state.order.removeFirst()] = nil }
      }
      var answers = state.answers.removeValue(forKey: person) ?? Answers()
      defer { state.answers[person] = answers }
      guard answers.known.insert(id).inserted else { return false }
      answers.order.append(id)
      if answers.order.count > Limits.rememberedAnswers { answers.known.remove(answers.order.removeFirst()) }
      return true
    }
  }
}
