import Foundation
import GRDB
package import PushCore
import Synchronization

/// The removal of devices and users, and the replacement of secrets.
extension SQLiteRegistrations {
  package func remove(_ device: DeviceID, now: Int64) async throws -> [AppID] {
    let apps = Set(registrations(of: device).map(\.1.id))
    try await store.write { [self] db in
      try SQLiteRegistrations.requireDevice(device, db)
      try db.execute(
        sql: """
          INSERT INTO former_token (token, device, app, environment, unregistered)
            SELECT token, device, app, environment, ifnull(unregistered, ?) FROM token WHERE device = ?
          """, arguments: [now, device.row])
      try db.execute(sql: "DELETE FROM token WHERE device = ?", arguments: [device.row])
      try db.execute(
        sql: "INSERT INTO former_device (id, person) SELECT id, person FROM device WHERE id = ?",
        arguments: [device.row])
      try db.execute(sql: "DELETE FROM push_subscription WHERE device = ?", arguments: [device.row])
      try db.execute(sql: "DELETE FROM device WHERE id = ?", arguments: [device.row])
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          for token in state.tables.remove(device) where state.tables.registration(token)?.unregistered == nil {
            state.tables.set(unregistered: now, of: token)
          }
        }
        notify(.revokedDevices([device]))
      }
    }
    return apps.sorted { $0.row < $1.row }
  }

  package func rotateSecret(of device: DeviceID) async throws -> String {
    let secret = SQLiteRegistrations.newSecret()
    let hash = SQLiteRegistrations.hash(of: secret)
    try await store.write { [self] db in
      try SQLiteRegistrations.requireDevice(device, db)
      try db.execute(sql: "UPDATE device SET secret_hash = ? WHERE id = ?", arguments: [Data(hash), device.row])
      // A browser whose session has ended gets no more notifications.
      try db.execute(sql: "DELETE FROM push_subscription WHERE device = ?", arguments: [device.row])
      db.afterNextTransaction { [self] _ in
        state.withLock { $0.tables.set(secretHash: hash, of: device) }
        notify(.revokedDevices([device]))
      }
    }
    return secret
  }

  package func note(seen: [DeviceID: Int64]) async throws {
    guard !seen.isEmpty else { return }
    try await store.write { [self] db in
      let update = try db.cachedStatement(sql: "UPDATE device SET last_seen = ? WHERE id = ?")
      for (device, time) in seen { try update.execute(arguments: [time, device.row]) }
      afterCommit(db) { state in
        for (device, time) in seen { state.tables.set(lastSeen: time, of: device) }
      }
    }
  }

  // MARK: Users

  // The result is sorted without the lock, because pushes need it.
  package var persons: [Person] {
    var (persons, next, isComplete): ([Person], Int, Bool) = ([], 0, false)
    while !isComplete {
      isComplete = state.withLock { state in
        persons += state.tables.persons(from: &next, limit: SQLiteRegistrations.listSlice)
        return next >= state.tables.personEnd
      }
    }
    return persons.sorted { $0.name < $1.name }
  }

  package func person(named name: String) throws(Refusal) -> Person {
    guard let person = state.withLock({ $0.tables.person(named: name) }) else {
      throw Refusal(kind: .unknown, description: "there is no user \(name): `pushcli persons list` shows them")
    }
    return person
  }

  package func rename(_ person: PersonID, to name: String) async throws {
    try SQLiteRegistrations.requirePersonName(name)
    try await store.write { [self] db in
      let other = try Int64.fetchOne(
        db, sql: "SELECT id FROM person WHERE name = ? AND id <> ?", arguments: [name, person.row])
      guard other == nil else {
        throw Refusal(kind: .conflict, description: "there is a user \(name) already: choose another name")
      }
      // An invitation refers to a user by name.
      try db.execute(
        sql: "UPDATE invitation SET person = ? WHERE person = (SELECT name FROM person WHERE id = ?)",
        arguments: [name, person.row])
      try db.execute(sql: "UPDATE person SET name = ? WHERE id = ?", arguments: [name, person.row])
      afterCommit(db) { $0.tables.rename(person, to: name) }
    }
  }

  package func allDevices(of person: PersonID) async throws -> Set<DeviceID> {
    try await store.write { db in
      let rows = try PreparedStatement(
        db, "SELECT id FROM device WHERE person = ?1 UNION SELECT id FROM former_device WHERE person = ?1")
      rows.bind(person.row)
      return Set(try rows.map { DeviceID(row: try $0.integer(0)) })
    }
  }

  package func remove(_ person: PersonID) async throws {
    try await store.write { [self] db in
      guard try Int64.fetchOne(db, sql: "SELECT id FROM device WHERE person = ?", arguments: [person.row]) == nil else {
        throw Refusal(kind: .conflict, description: "this user has devices: remove them first")
      }
      let former = "SELECT id FROM former_device WHERE person = ?"
      for table in ["ad_report", "former_token", "channel_subscription", "held", "digest", "scheduled"] {
        // Ended tokens stay in place as ended, but refer to no device.
        let change = table == "former_token" ? "UPDATE former_token SET device = 0" : "DELETE FROM \(table)"
        try db.execute(sql: "\(change) WHERE device IN (\(former))", arguments: [person.row])
      }
      try db.execute(
        sql: "DELETE FROM invitation WHERE person = (SELECT name FROM person WHERE id = ?)", arguments: [person.row])
      // The highest number stays, so that it is not assigned again.
      try db.execute(
        sql: "DELETE FROM former_device WHERE person = ? AND id < (SELECT max(id) FROM former_device)",
        arguments: [person.row])
      try db.execute(sql: "UPDATE former_device SET person = 0 WHERE person = ?", arguments: [person.row])
      try db.execute(sql: "DELETE FROM person WHERE id = ?", arguments: [person.row])
      afterCommit(db) { $0.tables.remove(person) }
    }
    // The rows are deleted even if this fails. If a backup reads the log during the call, later writes overwrite it.
    _ = try? await store.emptyLog()
  }

  // MARK: Implementation

  private static func requireDevice(_ device: DeviceID, _ db: Database) throws {
    guard try Int64.fetchOne(db, sql: "SELECT id FROM device WHERE id = ?", arguments: [device.row]) != nil else {
      throw Refusal(kind: .unknown, description: "this device was removed before")
    }
  }

  func notify(_ change: RegistrationChange) {
    for listener in listeners.withLock({ $0 }) { listener(change) }
  }
}
