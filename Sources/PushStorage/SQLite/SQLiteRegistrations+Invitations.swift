import Foundation
import GRDB
package import PushCore
import Synchronization

/// Invitations, and whom a device that enrolls belongs to.
extension SQLiteRegistrations {
  package func enroll(
    name: String, person: String?, by warrant: EnrollmentWarrant
  ) async throws -> (device: Device, secret: String) {
    guard ShownName.isValid(name), name.allSatisfy({ $0.isLetter || $0.isNumber || "-_.".contains($0) }) else {
      throw Refusal(kind: .invalid, description: "a device's name is up to 64 letters, digits, dots and hyphens")
    }
    let secret = SQLiteRegistrations.newSecret()
    let hash = SQLiteRegistrations.hash(of: secret)
    if let person { try SQLiteRegistrations.requirePersonName(person) }
    let uuid = randomUUID()
    let (record, personName) = try await change { db in
      let (personName, role) = try SQLiteRegistrations.admit(warrant, person: person, device: name, db)
      try SQLiteRegistrations.requireFreeName(name, db)
      try db.execute(
        sql: "INSERT OR IGNORE INTO person (name, preferences) VALUES (?, '{}')", arguments: [personName])
      let owner = try Int64.fetchOne(db, sql: "SELECT id FROM person WHERE name = ?", arguments: [personName]) ?? 0
      try db.execute(
        sql: """
          INSERT INTO device (id, uuid, name, person, secret_hash, role)
          VALUES (\(SQLiteRegistrations.nextDevice), ?, ?, ?, ?, ?)
          """,
        arguments: [uuid, name, owner, Data(hash), role.rawValue])
      let device = Device(
        id: DeviceID(row: db.lastInsertedRowID), uuid: uuid, name: name, person: PersonID(row: owner), role: role)
      return (device, personName)
    }
    state.withLock { state in
      if state.tables.person(record.person) == nil {
        state.tables.add(record.person, name: personName, choices: nil)
      }
      state.tables.add(record, secretHash: hash)
    }
    return (record, secret)
  }

  package func invite(
    person: String?, role: Role, expires: Int64
  ) async throws -> (code: String, invitation: Invitation) {
    if let person { try SQLiteRegistrations.requirePersonName(person) }
    guard Role.invitable.contains(role) else {
      let roles = Role.invitable.map(\.rawValue).joined(separator: ", ")
      throw Refusal(kind: .invalid, description: "an invitation is for one of \(roles), not for a \(role.rawValue)")
    }
    let code = InvitationCode.make(randomBytes(count: 20))
    let hash = Digest.sha256(Array(code.utf8))
    try await write { db in
      try db.execute(
        sql: "INSERT INTO invitation (code_hash, expires, person, role) VALUES (?, ?, ?, ?)",
        arguments: [Data(hash), expires, person, role.rawValue])
    }
    return (code, Invitation(id: SQLiteRegistrations.name(of: hash), person: person, role: role, expires: expires))
  }

  package func invitations(now: Int64) async throws -> [Invitation] {
    try await write { db in
      let rows = try PreparedStatement(
        db, "SELECT code_hash, person, role, expires FROM invitation WHERE expires > ? ORDER BY expires")
      defer { rows.reset() }
      rows.bind(now)
      var invitations: [Invitation] = []
      while try rows.next() {
        invitations.append(
          Invitation(
            id: SQLiteRegistrations.name(of: rows.blob(0)), person: try rows.optionalText(1),
            role: Role(rawValue: try rows.text(2)) ?? .device, expires: try rows.integer(3, in: Int64.min...Int64.max)))
      }
      return invitations
    }
  }

  package func withdraw(invitation id: String) async throws {
    let hashes = try await write { db in
      let rows = try PreparedStatement(db, "SELECT code_hash FROM invitation")
      defer { rows.reset() }
      var hashes: [[UInt8]] = []
      while try rows.next() {
        if SQLiteRegistrations.name(of: rows.blob(0)) == id.lowercased() { hashes.append(rows.blob(0)) }
      }
      for hash in hashes {
        try db.execute(sql: "DELETE FROM invitation WHERE code_hash = ?", arguments: [Data(hash)])
      }
      return hashes
    }
    guard hashes.isEmpty else { return }
    throw Refusal(
      kind: .unknown, description: "there is no invitation \(id): `pushcli devices invitations` shows them")
  }

  private static func name(of hash: [UInt8]) -> String {
    String(decoding: hash.prefix(8).flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self)
  }

  /// - Throws: a refusal where a device has the name.
  static func requireFreeName(_ name: String, _ db: Database) throws {
    guard try Int64.fetchOne(db, sql: "SELECT id FROM device WHERE name = ?", arguments: [name]) == nil else {
      throw Refusal(kind: .conflict, description: "there is a device \(name) already: choose another name")
    }
  }

  /// Whom a device that enrolls belongs to, and its role; an invitation is used up.
  ///
  /// - Throws: a refusal, with which the whole transaction is undone.
  static func admit(
    _ warrant: EnrollmentWarrant, person: String?, device name: String, _ db: Database
  ) throws -> (person: String, role: Role) {
    switch warrant {
    case .anyPerson: return (person ?? name, .device)
    case .newPerson:
      // Whoever asks for the same again is told that, and not that an invitation is needed.
      try requireFreeName(name, db)
      try requireNew(person ?? name, db)
      return (person ?? name, .device)
    case .invitation(let code, let now):
      let invitation = try use(code, now: now, db)
      guard let invited = invitation.person else {
        try requireNew(person ?? name, db)
        return (person ?? name, invitation.role)
      }
      guard person == nil || person == invited else {
        throw Refusal(kind: .forbidden, description: "this invitation is for another person: ask for one of your own")
      }
      return (invited, invitation.role)
    }
  }

  private static func use(_ code: String, now: Int64, _ db: Database) throws -> (person: String?, role: Role) {
    let hash = Digest.sha256(Array(InvitationCode.read(code).utf8))
    let rows = try PreparedStatement(db, "SELECT person, role FROM invitation WHERE code_hash = ? AND expires > ?")
    defer { rows.reset() }
    let found: (String?, Role)? = try unsafe hash.withUnsafeBytes { bytes in
      unsafe rows.bind(borrowed: bytes)
      rows.bind(now)
      guard try rows.next() else { return nil }
      return (try rows.optionalText(0), Role(rawValue: try rows.text(1)) ?? .device)
    }
    guard let found else {
      throw Refusal(kind: .forbidden, description: "this invitation is unknown, used or too old: ask for another")
    }
    rows.reset()
    try db.execute(
      sql: "DELETE FROM invitation WHERE code_hash = ? OR expires <= ?", arguments: [Data(hash), now])
    return found
  }

  private static func requireNew(_ person: String, _ db: Database) throws {
    let known = try Int64.fetchOne(db, sql: "SELECT id FROM person WHERE name = ?", arguments: [person])
    guard known == nil else {
      throw Refusal(
        kind: .forbidden,
        description:
          "there is a person \(person) already: joining needs an invitation, `pushcli devices invite --person NAME`")
    }
  }
}
