import GRDB
import PushCore
import PushPolicy
import Synchronization

/// What other gateways of a cell have changed, taken over into memory.
extension SQLiteRegistrations {
  private typealias Step = @Sendable (inout State) -> Void

  /// Has changes of other gateways taken over from now on.
  func followReplica() {
    store.replica.onChange(of: ["team", "key", "app", "certificate"]) { [weak self] db, _ in try self?.adoptSmall(db) }
    store.replica.onChange(of: ["person", "device", "token", "former_token"]) { [weak self] db, changes in
      try self?.adopt(changes, db)
    }
  }

  /// Teams, keys, apps and certificates are few: all are read again.
  private func adoptSmall(_ db: Database) throws {
    let fresh = try SQLiteRegistrations.loadSmall(db)
    db.afterNextTransaction { [weak self] _ in
      guard let self else { return }
      let revoked = state.withLock { state in
        let revoked = fresh.certificates.values.filter {
          $0.revoked != nil && state.certificates[$0.fingerprint]?.revoked == nil
        }
        (state.teams, state.keys, state.apps) = (fresh.teams, fresh.keys, fresh.apps)
        (state.appsByTopic, state.certificates) = (fresh.appsByTopic, fresh.certificates)
        return revoked
      }
      changeGeneration()
      for certificate in revoked { notify(.revokedCertificate(certificate.fingerprint)) }
    }
  }

  private func adopt(_ changes: [RowChange], _ db: Database) throws {
    var (steps, told): ([Step], [RegistrationChange]) = ([], [])
    // What belongs to a device goes before it does, and comes after it.
    let order = ["person", "device", "token", "former_token"]
    for (kind, tables) in [(RowChange.Kind.delete, order.reversed()), (.update, order), (.insert, order)] {
      for table in tables {
        for change in changes where change.kind == kind && change.table == table {
          try SQLiteRegistrations.adopt(change, StoredRegistrations(db: db), &steps, &told)
        }
      }
    }
    let (made, news) = (steps, told)
    db.afterNextTransaction { [weak self] _ in
      guard let self else { return }
      state.withLock { state in for step in made { step(&state) } }
      for change in news { notify(change) }
    }
  }

  private static func adopt(
    _ change: RowChange, _ stored: StoredRegistrations, _ steps: inout [Step], _ told: inout [RegistrationChange]
  ) throws {
    switch change.table {
    case "person": try adoptPerson(change, stored, &steps, &told)
    case "device": try adoptDevice(change, stored, &steps, &told)
    default: try adoptToken(change, stored, &steps)
    }
  }

  private static func adoptPerson(
    _ change: RowChange, _ stored: StoredRegistrations, _ steps: inout [Step], _ told: inout [RegistrationChange]
  ) throws {
    guard let row = change.key["id"]?.integer else { return }
    let id = PersonID(row: row)
    guard change.kind != .delete, let person = try stored.person(id) else {
      return steps.append { $0.tables.remove(id) }
    }
    steps.append { state in
      if state.tables.person(id) == nil { state.tables.add(id, name: person.name, choices: nil) }
      state.tables.rename(id, to: person.name)
      state.tables.set(person.preferences, of: id)
    }
    if change.kind == .update, change.values["preferences"] != nil { told.append(.preferences(id, person.preferences)) }
  }

  private static func adoptDevice(
    _ change: RowChange, _ stored: StoredRegistrations, _ steps: inout [Step], _ told: inout [RegistrationChange]
  ) throws {
    guard let row = change.key["id"]?.integer else { return }
    let id = DeviceID(row: row)
    let hash = change.values["secret_hash"]?.blob
    switch change.kind {
    case .delete:
      steps.append { state in state.tables.remove(id) }
      told.append(.revokedDevices([id]))
    case .insert:
      guard let device = try stored.device(id), let hash else { return }
      steps.append { $0.tables.add(device, secretHash: hash) }
    case .update:
      if let hash {
        steps.append { $0.tables.set(secretHash: hash, of: id) }
        told.append(.revokedDevices([id]))
      }
      if let seen = change.values["last_seen"]?.integer { steps.append { $0.tables.set(lastSeen: seen, of: id) } }
    }
  }

  private static func adoptToken(
    _ change: RowChange, _ stored: StoredRegistrations, _ steps: inout [Step]
  ) throws {
    guard let token = change.key["token"]?.blob.flatMap({ DeviceToken(bytes: $0) }) else { return }
    switch change.kind {
    case .delete: steps.append { $0.tables.remove(token) }
    case .insert:
      guard let registration = try stored.registration(token) else { return }
      let isLinked = change.table == "token"
      steps.append { $0.tables.add(registration, isLinked: isLinked) }
    case .update:
      guard let time = change.values["unregistered"]?.integer else { return }
      steps.append { $0.tables.set(unregistered: time, of: token) }
    }
  }
}
