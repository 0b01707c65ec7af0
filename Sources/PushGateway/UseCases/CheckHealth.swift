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
