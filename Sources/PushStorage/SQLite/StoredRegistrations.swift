import GRDB
import PushCore
import PushPolicy

/// The stored users, devices and tokens: a start reads all of their rows, and until then they are looked up one by
/// one.
///
/// Belongs to one access of a connection.
struct StoredRegistrations {
  let db: Database

  // MARK: Users

  static let personColumns = "id, name, preferences"

  func person(_ id: PersonID) throws -> Person? {
    try first(
      "\(StoredRegistrations.personColumns) FROM person WHERE id = ?", .number(id.row), StoredRegistrations.person)
  }

  func person(named name: String) throws -> Person? {
    try first(
      "\(StoredRegistrations.personColumns) FROM person WHERE name = ?", .text(name), StoredRegistrations.person)
  }

  private static func person(_ row: PreparedStatement) throws -> Person {
    Person(id: PersonID(row: try row.integer(0)), name: try row.text(1), preferences: try row.json(2))
  }

  // MARK: Devices

  static let deviceColumns = "id, uuid, name, person, role, last_seen, secret_hash"

  func device(_ id: DeviceID) throws -> Device? {
    try first(
      "\(StoredRegistrations.deviceColumns) FROM device WHERE id = ?", .number(id.row), StoredRegistrations.device)
  }

  func device(named name: String) throws -> Device? {
    try first(
      "\(StoredRegistrations.deviceColumns) FROM device WHERE name = ?", .text(name), StoredRegistrations.device)
  }

  func device(secretHash: [UInt8]) throws -> Device? {
    try first(
      "\(StoredRegistrations.deviceColumns) FROM device WHERE secret_hash = ?", .bytes(secretHash),
      StoredRegistrations.device)
  }

  /// Returns the devices of a user, in the order in which they were added.
  func devices(of person: PersonID) throws -> [DeviceID] {
    try all("id FROM device WHERE person = ? ORDER BY id", .number(person.row)) { DeviceID(row: try $0.integer(0)) }
  }

  /// Reads a row of ``deviceColumns``.
  static func device(_ row: PreparedStatement) throws -> Device {
    Device(
      id: DeviceID(row: try row.integer(0)), uuid: try row.text(1), name: try row.text(2),
      person: PersonID(row: try row.integer(3)), role: try row.word(4) ?? .device,
      lastSeen: try row.optionalInteger(5, in: ColumnBounds.seconds))
  }

  // MARK: Tokens

  static let tokenColumns = "token, device, app, environment, unregistered, expires"

  func registration(_ token: DeviceToken) throws -> Registration? {
    let sources = [
      "\(StoredRegistrations.tokenColumns) FROM token", "\(StoredRegistrations.formerTokenColumns) FROM former_token",
    ]
    for source in sources {
      let found = try first("\(source) WHERE token = ?", .bytes(token.bytes), StoredRegistrations.registration)
      if let registration = found.flatMap(\.self) { return registration }
    }
    return nil
  }

  /// Returns all registrations of a device, in the order in which they were made.
  func registrations(of device: DeviceID) throws -> [Registration] {
    try all(
      "\(StoredRegistrations.tokenColumns) FROM token WHERE device = ? ORDER BY rowid", .number(device.row),
      StoredRegistrations.registration
    ).compactMap(\.self)
  }

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

  // MARK: Rows by a key

  private enum Key {
    case number(Int64)
    case text(String)
    case bytes([UInt8])
  }

  private func first<Value>(_ selection: String, _ key: Key, _ read: (PreparedStatement) throws -> Value) throws
    -> Value?
  {
    try all(selection + " LIMIT 1", key, read).first
  }

  private func all<Value>(_ selection: String, _ key: Key, _ read: (PreparedStatement) throws -> Value) throws
    -> [Value]
  {
    let rows = try PreparedStatement(db, "SELECT " + selection, isKept: true)
    defer { rows.reset() }
    func values() throws -> [Value] {
      var values: [Value] = []
      while try rows.next() { values.append(try read(rows)) }
      return values
    }
    switch key {
    case .number(let number): rows.bind(number)
    case .text(let text): rows.bind(text: text)
    case .bytes(let bytes):
      return try unsafe bytes.withUnsafeBytes { bytes in
        unsafe rows.bind(borrowed: bytes)
        return try values()
      }
    }
    return try values()
  }
}
