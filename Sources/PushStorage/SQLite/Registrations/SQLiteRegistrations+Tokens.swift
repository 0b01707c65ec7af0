import Foundation
import GRDB
package import PushCore
import Synchronization

/// The registrations of devices for apps.
extension SQLiteRegistrations {
  package func register(
    _ device: DeviceID, topic: String, environment: Environment, expires: Int64?, now: Int64
  ) async throws -> Registration {
    let app = try app(topic: topic)
    @Sendable func known() -> Registration? {
      registrations(of: device).map(\.0).first { registration in
        registration.app == app.id && registration.environment == environment && !registration.isExpired(at: now)
      }
    }
    if let known = known() { return known }
    return try await store.write { [self] db in
      // Checked again within the write, since another caller may have registered the device in between.
      if let known = known() { return known }
      let ended = try tokenToForget(of: device, now: now)
      if let ended { try db.execute(sql: "DELETE FROM token WHERE token = ?", arguments: [Data(ended.bytes)]) }
      let registration = Registration(
        token: .random(), device: device, app: app.id, environment: environment, expires: expires)
      try db.execute(
        sql: "INSERT INTO token (token, device, app, environment, expires) VALUES (?, ?, ?, ?, ?)",
        arguments: [
          Data(registration.token.bytes), device.row, app.id.row, environment.rawValue, registration.expires,
        ])
      afterCommit(db) { state in
        if let ended { state.tables.remove(ended) }
        state.tables.add(registration)
      }
      return registration
    }
  }

  /// Returns the token that a device's next one replaces: the one that ended first, if there are
  /// ``Limits/maximumDeviceTokens``.
  ///
  /// - Throws: ``Refusal`` if all of them are in use.
  private func tokenToForget(of device: DeviceID, now: Int64) throws(Refusal) -> DeviceToken? {
    let known = state.withLock { $0.tables.registrations(of: device) }
    guard known.count >= Limits.maximumDeviceTokens else { return nil }
    let ended = known.compactMap { registration -> (token: DeviceToken, at: Int64)? in
      guard let end = registration.unregistered ?? registration.expires, end <= now else { return nil }
      return (registration.token, end)
    }
    guard let first = ended.min(by: { $0.at < $1.at }) else {
      throw Refusal(
        kind: .conflict,
        description: "a device has at most \(Limits.maximumDeviceTokens) registrations: unregister one first")
    }
    return first.token
  }

  package func unregister(_ device: DeviceID, topic: String, now: Int64) async throws {
    let app = try app(topic: topic)
    let tokens = registrations(of: device).filter { $0.0.app == app.id }.map(\.0.token)
    guard !tokens.isEmpty else {
      throw Refusal(kind: .unknown, description: "this device is not registered for \(topic)")
    }
    try await store.write { [self] db in
      try db.execute(
        sql: "UPDATE token SET unregistered = ? WHERE device = ? AND app = ? AND unregistered IS NULL",
        arguments: [now, device.row, app.id.row])
      afterCommit(db) { state in
        for token in tokens { state.tables.set(unregistered: now, of: token) }
      }
    }
  }
}
