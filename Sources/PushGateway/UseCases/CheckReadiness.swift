import PushCore
import PushStorage

/// Returns the gateway's ability to accept pushes now.
struct CheckReadiness: Sendable {
  let mailbox: any Mailbox
  let lifecycle: Lifecycle

  enum Readiness: Sendable, Equatable {
    case ready
    /// The gateway is shutting down.
    case draining
    /// The mailbox can't store pushes, for this reason.
    case failing(String)
  }

  /// Lost or unreadable data does not prevent the gateway from storing pushes: ``CheckHealth`` reports it.
  func callAsFunction() -> Readiness {
    if lifecycle.isDraining { return .draining }
    guard let problem = mailbox.problem, problem.part == HealthProblem.storing else { return .ready }
    return .failing(problem.problem)
  }
}
