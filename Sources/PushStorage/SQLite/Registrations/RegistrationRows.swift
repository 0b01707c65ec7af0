import PushCore

/// The rows of users, devices and tokens: their columns, and the values that they stand for.
enum RegistrationRows {
  // MARK: Users

  static let personColumns = "id, name, preferences"

  /// Reads a row of ``personColumns``.
  static func person(_ row: PreparedStatement) throws -> Person {
    Person(id: PersonID(row: try row.integer(0)), name: try row.text(1), preferences: try row.json(2))
  }

  // MARK: Devices

  static let deviceColumns = "id, uuid, name, person, role, last_seen, secret_hash"

  /// Reads a row of ``deviceColumns``.
  static func device(_ row: PreparedStatement) throws -> Device {
    Device(
      id: DeviceID(row: try row.integer(0)), uuid: try row.text(1), name: try row.text(2),
      person: PersonID(row: try row.integer(3)), role: try row.word(4) ?? .device,
      lastSeen: try row.optionalInteger(5, in: ColumnBounds.seconds))
  }

  // MARK: Tokens

  static let tokenColumns = "token, device, app, environment, unregistered, expires"

  /// The columns of a token of a removed device, in the form of ``tokenColumns``.
  static let formerTokenColumns = "token, device, app, environment, unregistered, NULL"

  /// Reads a row of ``tokenColumns``; nil if its token is invalid.
  static func registration(_ row: PreparedStatement) throws -> Registration? {
    guard let token = unsafe row.withBytes(0, { unsafe DeviceToken(bytes: $0) }) else { return nil }
    let times = ColumnBounds.milliseconds
    // An earlier version accepted any time here.
    let expires = try row.optionalInteger(5, in: Int64.min...Int64.max)
    return Registration(
      token: token, device: DeviceID(row: try row.integer(1)), app: AppID(row: try row.integer(2)),
      environment: try row.word(3) ?? .development, unregistered: try row.optionalInteger(4, in: times),
      expires: expires.map { min(max($0, times.lowerBound), times.upperBound) })
  }
}
