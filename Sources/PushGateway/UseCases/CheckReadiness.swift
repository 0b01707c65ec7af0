import PushCore
import PushStorage

/// Says whether the gateway is able to take on pushes now.
struct CheckReadiness: Sendable {
  let mailbox: any Mailbox
  let lifecycle: Lifecycle

  enum Readiness: Sendable, Equatable {
    case ready
    /// The gateway ends.
    case draining
    /// Nothing can be stored, for this reason.
    case failing(String)
  }

  /// What was lost, or can't be read, does not keep the gateway from storing: that is in ``CheckHealth``.
  func callAsFunction() -> Readiness {
    if lifecycle.isDraining { return .draining }
    guard let problem = mailbox.problem, problem.part == HealthProblem.storing else { return .ready }
    return .failing(problem.problem)
  }
}
