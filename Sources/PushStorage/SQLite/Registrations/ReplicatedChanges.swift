import GRDB
import PushCore

/// Changes of another gateway to users, devices and tokens, as steps that apply them to the tables in memory.
struct ReplicatedChanges {
  typealias Step = @Sendable (inout RegistrationTables) -> Void

  private(set) var steps: [Step] = []
  /// The changes to report to listeners.
  private(set) var news: [RegistrationChange] = []

  static let tables: Set = ["person", "device", "token", "former_token"]

  /// Converts changes into steps.
  ///
  /// - Parameter db: the database, within the transaction in which the changes were applied.
  init(_ changes: [RowChange], _ db: Database) throws {
    // The rows of a device are deleted before the device and added after it.
    let order = ["person", "device", "token", "former_token"]
    for (kind, tables) in [(RowChange.Kind.delete, order.reversed()), (.update, order), (.insert, order)] {
      for table in tables {
        for change in changes where change.kind == kind && change.table == table {
          try ReplicatedChanges.add(change, db, &steps, &news)
        }
      }
    }
  }

  private static func add(
    _ change: RowChange, _ db: Database, _ steps: inout [Step], _ notices: inout [RegistrationChange]
  ) throws {
    switch change.table {
    case "person": try adoptPerson(change, db, &steps, &notices)
    case "device": try adoptDevice(change, db, &steps, &notices)
    default: try adoptToken(change, db, &steps)
    }
  }

  private static func adoptPerson(
    _ change: RowChange, _ db: Database, _ steps: inout [Step], _ notices: inout [RegistrationChange]
  ) throws {
    guard let row = change.key["id"]?.integer else { return }
    let id = PersonID(row: row)
    guard change.kind != .delete, let person = try person(id, db) else {
      return steps.append { $0.remove(id) }
    }
    steps.append { tables in
      if tables.person(id) == nil { tables.add(id, name: person.name, choices: nil) }
      tables.rename(id, to: person.name)
      tables.set(person.preferences, of: id)
    }
    if change.kind == .update, change.values["preferences"] != nil {
      notices.append(.preferences(id, person.preferences))
    }
  }

  private static func adoptDevice(
    _ change: RowChange, _ db: Database, _ steps: inout [Step], _ notices: inout [RegistrationChange]
  ) throws {
    guard let row = change.key["id"]?.integer else { return }
    let id = DeviceID(row: row)
    let hash = change.values["secret_hash"]?.blob
    switch change.kind {
    case .delete:
      steps.append { tables in tables.remove(id) }
      notices.append(.revokedDevices([id]))
    case .insert:
      guard let device = try device(id, db), let hash else { return }
      steps.append { $0.add(device, secretHash: hash) }
    case .update:
      if let hash {
        steps.append { $0.set(secretHash: hash, of: id) }
        notices.append(.revokedDevices([id]))
      }
      if let seen = change.values["last_seen"]?.integer { steps.append { $0.set(lastSeen: seen, of: id) } }
    }
  }

  private static func adoptToken(
    _ change: RowChange, _ db: Database, _ steps: inout [Step]
  ) throws {
    guard let token = change.key["token"]?.blob.flatMap({ DeviceToken(bytes: $0) }) else { return }
    switch change.kind {
    case .delete: steps.append { $0.remove(token) }
    case .insert:
      guard let registration = try registration(token, db) else { return }
      let isLinked = change.table == "token"
      steps.append { $0.add(registration, isLinked: isLinked) }
    case .update:
      guard let time = change.values["unregistered"]?.integer else { return }
      steps.append { $0.set(unregistered: time, of: token) }
    }
  }

  // MARK: Reading

  private static func person(_ id: PersonID, _ db: Database) throws -> Person? {
    let rows = try PreparedStatement(
      db, "SELECT \(RegistrationRows.personColumns) FROM person WHERE id = ?", isKept: true)
    defer { rows.reset() }
    rows.bind(id.row)
    return try rows.next() ? RegistrationRows.person(rows) : nil
  }

  private static func device(_ id: DeviceID, _ db: Database) throws -> Device? {
    let rows = try PreparedStatement(
      db, "SELECT \(RegistrationRows.deviceColumns) FROM device WHERE id = ?", isKept: true)
    defer { rows.reset() }
    rows.bind(id.row)
    return try rows.next() ? RegistrationRows.device(rows) : nil
  }

  private static func registration(_ token: DeviceToken, _ db: Database) throws -> Registration? {
    let rows = try PreparedStatement(
      db,
      """
      SELECT \(RegistrationRows.tokenColumns) FROM token WHERE token = ?1
      UNION ALL SELECT \(RegistrationRows.formerTokenColumns) FROM former_token WHERE token = ?1
      """, isKept: true)
    defer { rows.reset() }
    return try unsafe token.bytes.withUnsafeBytes { bytes in
      unsafe rows.bind(borrowed: bytes)
      return try rows.next() ? RegistrationRows.registration(rows) : nil
    }
  }
}
