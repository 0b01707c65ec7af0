import PushCore
import PushStorage

/// The health of the gateway, and its ability to accept pushes now.
struct HealthCheck: Sendable {
  let backend: GatewayBackend
  let log: DeliveryLog
  let schedule: Schedule
  let events: EventSenders
  let pages: ClosedPages
  let lifecycle: Lifecycle
  let housekeeping: Housekeeping
  let upstream: Upstream?
  /// The permanent properties of the gateway for its clients.
  var notices: [HealthProblem] = []

  enum Readiness: Sendable, Equatable {
    case ready
    /// The gateway is shutting down.
    case draining
    /// The mailbox can't store pushes, for this reason.
    case failing(String)
  }

  /// The ability to accept pushes now. Lost or unreadable data does not prevent the gateway from storing pushes:
  /// ``health`` reports it.
  var readiness: Readiness {
    if lifecycle.isDraining { return .draining }
    guard let problem = backend.mailbox.problem, problem.part == HealthProblem.storing else { return .ready }
    return .failing(problem.problem)
  }

  /// The current problems and warnings.
  var health: Health {
    Health(
      durability: backend.durability,
      problems: backend.problems() + [log.problem, schedule.problem].compactMap(\.self),
      warnings: housekeeping.warnings + events.warnings + pages.warnings + notices
        + [upstream?.warning].compactMap(\.self))
  }
}

extension Health {
  init(durability: DurabilityLevel, problems: [HealthProblem], warnings: [HealthProblem] = []) {
    self.init(
      status: problems.isEmpty ? "ready" : "degraded", durability: durability.name, promise: durability.words,
      problems: problems, warnings: warnings.isEmpty ? nil : warnings)
  }
}
