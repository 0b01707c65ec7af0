import Foundation
import GRDB
package import PushCore
import Synchronization

/// Invitations, and the owner of a device that enrolls.
extension SQLiteRegistrations {
  package func enroll(
    name: String, person: String?, by authorization: EnrollmentAuthorization
  ) async throws -> (device: Device, secret: String) {
    guard ShownName.isValid(name), name.allSatisfy({ $0.isLetter || $0.isNumber || "-_.".contains($0) }) else {
      throw Refusal(
        kind: .invalid, description: "invalid name of a device: expected up to 64 letters, digits, dots and hyphens")
    }
    let secret = SQLiteRegistrations.newSecret()
    let hash = SQLiteRegistrations.hash(of: secret)
    if let person { try SQLiteRegistrations.requirePersonName(person) }
    let uuid = randomUUID()
    let record = try await counting(authorization) { [self] db in
      let (personName, role) = try SQLiteRegistrations.admit(authorization, person: person, device: name, db)
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
      afterCommit(db) { state in
        if state.tables.person(device.person) == nil {
          state.tables.add(device.person, name: personName, choices: nil)
        }
        state.tables.add(device, secretHash: hash)
      }
      return device
    }
    return (record, secret)
  }

  /// Runs a change. If it fails with a wrong invitation code, counts the attempt in a separate transaction, because
  /// the change is rolled back.
  private func counting<Value: Sendable>(
    _ authorization: EnrollmentAuthorization, _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    do {
      return try await store.write(body)
    } catch let refusal as Refusal {
      if refusal.kind == .wrongCode, case .invitation(let secret, _) = authorization { try await noteWrong(secret) }
      throw refusal
    }
  }

  package func invite(_ terms: InvitationTerms) async throws -> (secret: String, invitation: Invitation) {
    if let person = terms.person { try SQLiteRegistrations.requirePersonName(person) }
    guard Role.invitable.contains(terms.role) else {
      let roles = Role.invitable.map(\.rawValue).joined(separator: ", ")
      throw Refusal(
        kind: .invalid,
        description: "invalid role of an invitation \"\(terms.role.rawValue)\": expected one of \(roles)")
    }
    guard terms.isGrantable else {
      throw Refusal(
        kind: .invalid,
        description: "a channel's link is for new users with the role device: omit the user and the role")
    }
    let id = SQLiteRegistrations.name(of: randomBytes(count: 8))
    let secret = try await store.write { db in
      guard try Int.fetchOne(db, sql: "SELECT count(*) FROM invitation") ?? 0 < Limits.maximumInvitations else {
        throw Refusal(
          kind: .conflict,
          description: "\(Limits.maximumInvitations) invitations are open: `pushcli devices uninvite ID` revokes one"
        )
      }
      let secret = try SQLiteRegistrations.freeSecret(terms.kind, db)
      try db.execute(
        sql: """
          INSERT INTO invitation (code_hash, expires, person, role, name, selector, uses, channel)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          Data(SQLiteRegistrations.hash(ofInvitation: secret)), terms.expires, terms.person, terms.role.rawValue, id,
          InvitationCode.selector(of: secret), terms.uses, terms.channel.map { Data($0.bytes) },
        ])
      return secret
    }
    return (secret, Invitation(id: id, terms))
  }

  /// Returns a secret whose selector is unused. There are 32 times as many selectors as invitations, so that few
  /// attempts are needed.
  private static func freeSecret(_ kind: InvitationCode.Kind, _ db: Database) throws -> String {
    while true {
      let secret = InvitationCode.newSecret(kind)
      guard let selector = InvitationCode.selector(of: secret) else { return secret }
      let isTaken = try Bool.fetchOne(
        db, sql: "SELECT EXISTS (SELECT 1 FROM invitation WHERE selector = ?)", arguments: [selector])
      if isTaken != true { return secret }
    }
  }

  private static func hash(ofInvitation secret: String) -> [UInt8] { Digest.sha256(Array(secret.utf8)) }

  package func invitations(now: Int64) async throws -> [Invitation] {
    try await store.write { db in
      let rows = try PreparedStatement(
        db, "SELECT \(SQLiteRegistrations.invitationColumns) FROM invitation WHERE expires > ? ORDER BY expires")
      rows.bind(now)
      return try rows.map { try SQLiteRegistrations.invitation($0) }
    }
  }

  static let invitationColumns = "code_hash, name, person, role, expires, uses, channel"

  /// Reads a row of ``invitationColumns``.
  static func invitation(_ row: PreparedStatement) throws -> Invitation {
    Invitation(
      id: try row.optionalText(1) ?? name(of: row.blob(0)),
      InvitationTerms(
        person: try row.optionalText(2), role: Role(rawValue: try row.text(3)) ?? .device,
        expires: try row.integer(4, in: Int64.min...Int64.max),
        uses: Int(try row.integer(5, in: 1...Int64(Limits.maximumInvitationUses))),
        channel: ChannelID(bytes: row.blob(6))))
  }

  package func invitation(sharedSecret secret: String, now: Int64) async throws -> Invitation? {
    guard InvitationCode.selector(of: secret) == nil else { return nil }
    let hash = SQLiteRegistrations.hash(ofInvitation: secret)
    return try await store.read { db in try SQLiteRegistrations.find(hash, now: now, db) }
  }

  package func redeem(_ secret: String, now: Int64) async throws {
    _ = try await counting(.invitation(secret, now: now)) { db in
      try SQLiteRegistrations.use(secret, now: now, db)
    }
  }

  package func withdrawInvitations(to channels: Set<ChannelID>) async throws {
    // Most channels have no invitations: this avoids an empty write, since pushes wait for the writer.
    let hashes = try await store.read { db in
      let rows = try PreparedStatement(db, "SELECT code_hash, channel FROM invitation WHERE channel IS NOT NULL")
      let links = try rows.map { (hash: $0.blob(0), channel: ChannelID(bytes: $0.blob(1))) }
      return links.filter { $0.channel.map(channels.contains) ?? false }.map(\.hash)
    }
    guard !hashes.isEmpty else { return }
    try await store.write { db in
      for hash in hashes {
        try db.execute(sql: "DELETE FROM invitation WHERE code_hash = ?", arguments: [Data(hash)])
      }
    }
  }

  package func withdraw(invitation id: String) async throws {
    let hashes = try await store.write { db in
      let rows = try PreparedStatement(db, "SELECT \(SQLiteRegistrations.invitationColumns) FROM invitation")
      let known = try rows.map { (id: try SQLiteRegistrations.invitation($0).id, hash: $0.blob(0)) }
      let hashes = known.filter { $0.id == id.lowercased() }.map(\.hash)
      for hash in hashes {
        try db.execute(sql: "DELETE FROM invitation WHERE code_hash = ?", arguments: [Data(hash)])
      }
      return hashes
    }
    guard hashes.isEmpty else { return }
    throw Refusal(
      kind: .unknown, description: "there is no invitation \(id): `pushcli devices invitations` shows them")
  }

  private static func name(of hash: [UInt8]) -> String { Digest.hex(Array(hash.prefix(8))) }

  /// Checks that no device has a name.
  ///
  /// - Throws: ``Refusal`` if a device has it.
  static func requireFreeName(_ name: String, _ db: Database) throws {
    guard try Int64.fetchOne(db, sql: "SELECT id FROM device WHERE name = ?", arguments: [name]) == nil else {
      throw Refusal(kind: .conflict, description: "there is a device \(name) already: choose another name")
    }
  }

  /// Returns the owner and the role of a device that enrolls, and uses up an invitation.
  ///
  /// - Throws: ``Refusal``, which rolls back the whole transaction.
  static func admit(
    _ authorization: EnrollmentAuthorization, person: String?, device name: String, _ db: Database
  ) throws -> (person: String, role: Role) {
    switch authorization {
    case .anyPerson: return (person ?? name, .device)
    case .newPerson:
      // A repeated enrollment reports the name conflict, rather than that an invitation is needed.
      try requireFreeName(name, db)
      try requireNew(person ?? name, db)
      return (person ?? name, .device)
    case .invitation(let secret, let now):
      let terms = try use(secret, now: now, db)
      guard let invited = terms.person else {
        // Machines of different users often have the same name: a user of an invitation link is asked to choose
        // another one.
        if terms.channel != nil { try requireFreeName(name, db) }
        try requireNew(person ?? name, db)
        return (person ?? name, terms.role)
      }
      guard person == nil || person == invited else {
        throw Refusal(kind: .forbidden, description: "this invitation is for another user: ask for your own")
      }
      return (invited, terms.role)
    }
  }

  private static func use(_ secret: String, now: Int64, _ db: Database) throws -> InvitationTerms {
    let hash = hash(ofInvitation: secret)
    guard let found = try find(hash, now: now, db) else {
      throw Refusal(kind: .wrongCode, description: "this invitation is unknown, used or expired: ask for another")
    }
    try db.execute(sql: "UPDATE invitation SET uses = uses - 1 WHERE code_hash = ?", arguments: [Data(hash)])
    try db.execute(sql: "DELETE FROM invitation WHERE uses <= 0 OR expires <= ?", arguments: [now])
    return found.terms
  }

  /// Returns the invitation with a hash if it can still be used; otherwise nil.
  private static func find(_ hash: [UInt8], now: Int64, _ db: Database) throws -> Invitation? {
    let rows = try PreparedStatement(
      db, "SELECT \(invitationColumns) FROM invitation WHERE code_hash = ? AND expires > ?")
    defer { rows.reset() }
    return try unsafe hash.withUnsafeBytes { bytes in
      unsafe rows.bind(borrowed: bytes)
      rows.bind(now)
      return try rows.next() ? try invitation(rows) : nil
    }
  }

  /// Counts a wrong secret as an attempt on the invitation that its selector names.
  func noteWrong(_ secret: String) async throws {
    guard let selector = InvitationCode.selector(of: secret) else { return }
    try await store.write { db in
      try db.execute(sql: "UPDATE invitation SET tries = tries + 1 WHERE selector = ?", arguments: [selector])
      try db.execute(sql: "DELETE FROM invitation WHERE tries >= ?", arguments: [Limits.invitationTries])
    }
  }

  private static func requireNew(_ person: String, _ db: Database) throws {
    let known = try Int64.fetchOne(db, sql: "SELECT id FROM person WHERE name = ?", arguments: [person])
    guard known == nil else {
      throw Refusal(
        kind: .forbidden,
        description:
          "there is a user \(person) already: joining needs an invitation, `pushcli devices invite --person NAME`")
    }
  }
}
