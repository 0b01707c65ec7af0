import PushCore
import PushStorage

/// Registers a device for an app.
struct Register: Sendable {
  let registrations: any Registrations
  let clock: WallClock

  /// Returns a registration.
  ///
  /// - Parameter validSeconds: the lifetime of a new token; nil: until it is unregistered.
  /// - Returns: the existing registration, unless it has expired.
  func callAsFunction(
    _ device: DeviceID, topic: String, environment: Environment, validSeconds: Int? = nil
  ) async throws -> Registration {
    let now = clock.milliseconds()
    return try await registrations.register(
      device, topic: topic, environment: environment, expires: validSeconds.map { now + Int64($0) * 1000 }, now: now)
  }
}
