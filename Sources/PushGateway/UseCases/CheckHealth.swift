import PushCore
import PushStorage

/// Says what the gateway can't do now.
struct CheckHealth: Sendable {
  let backend: GatewayBackend
  let log: DeliveryLog

  func callAsFunction() -> Health {
    Health(promise: backend.promise, problems: backend.problems() + (log.problem.map { [$0] } ?? []))
  }
}

extension Health {
  init(promise: DurabilityPromise, problems: [HealthProblem]) {
    self.init(
      status: problems.isEmpty ? "ready" : "degraded", durability: promise.name, promise: promise.words,
      problems: problems)
  }
}
