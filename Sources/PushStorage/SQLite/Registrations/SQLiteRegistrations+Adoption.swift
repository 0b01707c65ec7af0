import Foundation
import GRDB
package import PushCore
package import PushPolicy

/// Devices with tokens that a sender has chosen, for test gateways.
extension SQLiteRegistrations {
  /// Enrolls a device with a user of the same name, and registers it for an app with a given token.
  ///
  /// - Returns: the device; its secret is not given out.
  /// - Throws: a refusal if the token or the name is in use.
  @inline(never)
  package func adopt(
    _ token: DeviceToken, name: String, topic: String, environment: Environment, preferences: Preferences
  ) async throws -> Device {
    guard ShownName.isValid(name) else {
      throw Refusal(kind: .invalid, description: "invalid name of a device: expected \(ShownName.expected)")
    }
    guard registration(token) == nil else {
      throw Refusal(kind: .conflict, description: "the token \(token.hex) is in use: choose another")
    }
    let app = try app(topic: topic)
    let text = try preferences.stored()
    let hash = SQLiteRegistrations.hash(of: SQLiteRegistrations.newSecret())
    let uuid = randomUUID()
    return try await store.write { [self] db in
      do {
        try db.execute(sql: "INSERT INTO person (name, preferences) VALUES (?, ?)", arguments: [name, text])
        let owner = PersonID(row: db.lastInsertedRowID)
        try db.execute(
          sql: """
            INSERT INTO device (id, uuid, name, person, secret_hash)
            VALUES (\(SQLiteRegistrations.nextDevice), ?, ?, ?, ?)
            """, arguments: [uuid, name, owner.row, Data(hash)])
        let device = Device(id: DeviceID(row: db.lastInsertedRowID), uuid: uuid, name: name, person: owner)
        try db.execute(
          sql: "INSERT INTO token (token, device, app, environment) VALUES (?, ?, ?, ?)",
          arguments: [Data(token.bytes), device.id.row, app.id.row, environment.rawValue])
        let registration = Registration(token: token, device: device.id, app: app.id, environment: environment)
        db.afterNextTransaction { [self] _ in
          add([(device, hash, registration)], choices: RegistrationTables.SharedPreferences(preferences))
        }
        return device
      } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
        throw Refusal(kind: .conflict, description: "there is a device or user \(name): choose another name")
      }
    }
  }
}
