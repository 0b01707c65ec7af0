import PushPolicy

/// The outcome of a question for programs.
struct QuestionResult: Encodable {
  /// The id of the chosen action.
  var action: String?
  /// The title of the chosen action.
  var title: String?
  var apnsID: String
  var outcome: String
  /// The device on which the question was answered.
  var device: String?
  /// The rule by which the user's preferences refuse the question.
  var rule: String?

  enum CodingKeys: String, CodingKey {
    case action, title, outcome, device, rule
    case apnsID = "apns_id"
  }

  init(_ outcome: QuestionProgress.Outcome, id: String, actions: [AlertAction]) {
    apnsID = id
    switch outcome {
    case .answered(let picked, let device):
      (self.outcome, self.device) = ("answered", device)
      (action, title) = (picked, actions.first { $0.id == picked }?.title)
    case .closed(let event): self.outcome = event
    case .refused(let words): (self.outcome, rule) = ("refused", words)
    case .expired: self.outcome = "timed out"
    }
  }
}

extension QuestionProgress.Outcome {
  /// The failure of a command that needs an answer; nil for an answer.
  var failure: CommandFailure? {
    switch self {
    case .answered: nil
    case .closed(let event): CommandFailure(.failed, "the question was \(event) without an answer")
    case .refused(let words): CommandFailure(.suppressed, "nothing of the question can be shown: \(words)")
    case .expired: CommandFailure(.timedOut, "nobody answered in time")
    }
  }
}
