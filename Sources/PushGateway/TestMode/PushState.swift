/// A state of a push that an expectation names. A push can have several.
enum PushState: String, Sendable, CaseIterable {
  /// The sender got 200.
  case accepted
  /// The device showed the alert. Other parts count only if the preferences of the user did not remove an alert.
  case presented
  /// The preferences of the user removed a part of it.
  case suppressed
  /// The sender got another status than 200.
  case refused
  /// Any of these, and pushes without an answer.
  case any
}

/// The answer to a request of a sender.
enum PushOutcome: String, Sendable, CaseIterable {
  /// Not answered yet.
  case open
  case accepted
  /// Answered 200, because the push with this `apns-id` was accepted before.
  case duplicate
  case refused
  /// Answered 200 by the state `accepted-and-dropped` of the token.
  case dropped
  /// Ended without an answer, by an injected fault or by the sender.
  case reset

  /// True for a request that the sender takes for accepted.
  var isAcceptance: Bool { self == .accepted || self == .duplicate || self == .dropped }
}
