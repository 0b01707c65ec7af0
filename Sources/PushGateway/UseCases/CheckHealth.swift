import PushCore
import PushStorage

/// Returns the current problems and warnings of the gateway.
struct CheckHealth: Sendable {
  let backend: GatewayBackend
  let log: DeliveryLog
  let schedule: Schedule
  var housekeeping: Housekeeping?

  func callAsFunction() -> Health {
    Health(
      promise: backend.promise, problems: backend.problems() + [log.problem, schedule.problem].compactMap(\.self),
      warnings: housekeeping?.warnings ?? [])
  }
}

extension Health {
  init(promise: DurabilityLevel, problems: [HealthProblem], warnings: [HealthProblem] = []) {
    self.init(
      status: problems.isEmpty ? "ready" : "degraded", durability: promise.name, promise: promise.words,
      problems: problems, warnings: warnings.isEmpty ? nil : warnings)
  }
}
