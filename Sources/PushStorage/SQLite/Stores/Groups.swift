import Foundation
import GRDB
package import PushCore
import PushPolicy
import Synchronization

/// The address of a group of users in an environment. It takes the position of a device in a registration, in
/// scheduled pushes and in the delivery log. A group has no mailbox.
package struct GroupAddress: Sendable, Hashable {
  /// The row of the group.
  package var group: Int64
  package var environment: Environment

  package init(group: Int64, environment: Environment) { (self.group, self.environment) = (group, environment) }

  /// Returns the group address that an id stands for; nil for the id of a device.
  package init?(_ device: DeviceID) {
    guard device.isGroup, device.row > -Limits.maximumNumber else { return nil }
    let number = -device.row - 2
    self.init(group: number / 2, environment: number % 2 == 0 ? .development : .production)
  }

  /// The id that stands for this address.
  package var device: DeviceID { DeviceID(row: -(2 * group + (environment == .development ? 2 : 3))) }
}

extension DeviceID {
  /// True if this id stands for a group (``GroupAddress``).
  package var isGroup: Bool { row < -1 }
}

/// Groups of users with their own device tokens, and the recipients of their pushes. Groups, members and tokens are
/// in memory, each change on disk first.
package final class Groups: Sendable {
  package typealias Refusal = RegistrationRefusal

  /// A group of users who receive the same pushes.
  package struct Group: Sendable {
    package var id: Int64
    package var name: String
    /// The members in the order in which they were added.
    package var members: [PersonID] = []

    /// Returns the id that stands for the group in an environment.
    package func address(in environment: Environment) -> DeviceID {
      GroupAddress(group: id, environment: environment).device
    }
  }

  package struct Push: Sendable {
    package var address: DeviceID
    package var app: AppID
    package var id: APNSID
    /// The recipients.
    package var persons: [PersonID]
    /// The time of the push in milliseconds since 1970.
    package var at: Int64

    package init(address: DeviceID, app: AppID, id: APNSID, persons: [PersonID], at: Int64) {
      (self.address, self.app, self.id, self.persons, self.at) = (address, app, id, persons, at)
    }
  }

  fileprivate struct State {
    var groups: [Int64: Group] = [:]
    var byName: [String: Int64] = [:]
    var tokens: [DeviceToken: Registration] = [:]

    func registrations(of group: Int64) -> [Registration] {
      tokens.values.filter { $0.unregistered == nil && GroupAddress($0.device)?.group == group }
    }
  }

  private let store: SQLiteStore
  private let state: Mutex<State>
  private let queue = CommitQueue<Push, Void>()

  package init(store: SQLiteStore) throws(StoreError) {
    self.store = store
    state = Mutex(try store.load(Groups.load))
    store.replica.onChange(of: ["person_group", "group_member", "group_token"]) { [weak self] db, _ in
      let fresh = try Groups.load(db)
      db.afterNextTransaction { [weak self] _ in self?.state.withLock { $0 = fresh } }
    }
  }

  // MARK: Lookups

  /// All groups, sorted by name.
  package var groups: [Group] { state.withLock { Array($0.groups.values) }.sorted { $0.name < $1.name } }

  package func find(_ name: String) -> Group? {
    state.withLock { state in state.byName[name].flatMap { state.groups[$0] } }
  }

  package func group(named name: String) throws(Refusal) -> Group {
    guard let group = find(name) else {
      throw Refusal(kind: .unknown, description: "there is no group \(name): `pushcli groups` shows them")
    }
    return group
  }

  /// Returns the group of an address; nil for a device and for a removed group.
  package func group(at address: DeviceID) -> Group? {
    GroupAddress(address).flatMap { address in state.withLock { $0.groups[address.group] } }
  }

  /// Returns the registration of a group's token, current or former. Its device is the address of the group.
  package func registration(_ token: DeviceToken) -> Registration? { state.withLock { $0.tokens[token] } }

  /// Returns the current registrations of a group.
  package func registrations(of group: Group) -> [Registration] {
    state.withLock { $0.registrations(of: group.id) }.sorted {
      ($0.app.row, $0.device.row) > ($1.app.row, $1.device.row)
    }
  }

  /// Checks that no group has a name.
  ///
  /// - Throws: ``Refusal`` if a group has this name.
  package func requireFree(_ name: String) throws(Refusal) {
    guard find(name) == nil else {
      throw Refusal(kind: .conflict, description: "there is a group \(name) already: choose another name")
    }
  }

  // MARK: Changes

  /// Changes the state in memory when the transaction is committed.
  private func afterCommit(_ db: Database, _ change: @escaping @Sendable (inout State) -> Void) {
    db.afterNextTransaction { [self] _ in state.withLock { change(&$0) } }
  }

  /// Creates a group, or adds members to an existing one.
  package func add(_ name: String, _ persons: [PersonID]) async throws -> Group {
    guard ShownName.isValid(name), !name.contains("/") else {
      throw Refusal(
        kind: .invalid, description: "invalid name of a group: expected \(ShownName.expected), and no slash")
    }
    return try await store.write { [self] db in
      var group = find(name) ?? Group(id: 0, name: name)
      let new = persons.reduce(into: [PersonID]()) {
        if !group.members.contains($1), !$0.contains($1) { $0.append($1) }
      }
      group.members += new
      guard group.members.count <= Limits.maximumGroupMembers else {
        throw Refusal(kind: .conflict, description: "a group has at most \(Limits.maximumGroupMembers) members")
      }
      if group.id == 0 {
        guard state.withLock({ $0.groups.count < Limits.maximumGroups }) else {
          throw Refusal(
            kind: .conflict, description: "there are at most \(Limits.maximumGroups) groups: remove one first")
        }
        group.id = try Groups.nextNumber(db)
        try db.execute(sql: "INSERT INTO person_group (id, name) VALUES (?, ?)", arguments: [group.id, name])
      }
      let insert = try db.cachedStatement(sql: "INSERT INTO group_member (person_group, person) VALUES (?, ?)")
      for person in new { try insert.execute(arguments: [group.id, person.row]) }
      let made = group
      afterCommit(db) { state in
        state.groups[made.id] = made
        state.byName[name] = made.id
      }
      return made
    }
  }

  /// Returns a number that no group has and that no stored token or push of a former group refers to.
  private static func nextNumber(_ db: Database) throws -> Int64 {
    let last = try Int64.fetchOne(
      db,
      sql: """
        SELECT max((SELECT ifnull(max(id), 0) FROM person_group), (SELECT ifnull(max(person_group), 0) FROM group_token),
          (SELECT ifnull(max(person_group), 0) FROM group_push))
        """)
    return (last ?? 0) + 1
  }

  @inline(never)
  package func remove(_ person: PersonID, from group: Group) async throws {
    guard group.members.contains(person) else {
      throw Refusal(kind: .unknown, description: "this user is not a member of \(group.name)")
    }
    try await store.write { [self] db in
      try db.execute(
        sql: "DELETE FROM group_member WHERE person_group = ? AND person = ?", arguments: [group.id, person.row])
      afterCommit(db) { $0.groups[group.id]?.members.removeAll { $0 == person } }
    }
  }

  /// Removes the users for whom `isGone` returns true from all groups.
  @inline(never)
  package func forget(where isGone: (PersonID) -> Bool) async throws {
    let gone = Set(groups.flatMap(\.members)).filter(isGone)
    guard !gone.isEmpty else { return }
    try await store.write { [self] db in
      for person in gone {
        try db.execute(sql: "DELETE FROM group_member WHERE person = ?", arguments: [person.row])
      }
      afterCommit(db) { state in
        for id in state.groups.keys { state.groups[id]?.members.removeAll { gone.contains($0) } }
      }
    }
  }

  /// Removes a group and unregisters its tokens at `now`, in milliseconds since 1970.
  package func remove(_ group: Group, now: Int64) async throws {
    try await store.write { [self] db in
      try db.execute(
        sql: "UPDATE group_token SET unregistered = ? WHERE person_group = ? AND unregistered IS NULL",
        arguments: [now, group.id])
      try db.execute(sql: "DELETE FROM group_member WHERE person_group = ?", arguments: [group.id])
      try db.execute(sql: "DELETE FROM person_group WHERE id = ?", arguments: [group.id])
      afterCommit(db) { state in
        for one in state.registrations(of: group.id) { state.tokens[one.token]?.unregistered = now }
        state.groups[group.id] = nil
        state.byName[group.name] = nil
      }
    }
  }

  /// Registers a group for an app. Returns the existing registration if there is one.
  @inline(never)
  package func register(_ group: Group, app: AppID, environment: Environment) async throws -> Registration {
    let address = group.address(in: environment)
    return try await store.write { [self] db in
      let (known, isThere, count) = state.withLock { state in
        (
          state.registrations(of: group.id).first { $0.app == app && $0.device == address },
          state.groups[group.id] != nil, state.tokens.values.count { GroupAddress($0.device)?.group == group.id }
        )
      }
      if let known { return known }
      guard isThere else { throw Refusal(kind: .unknown, description: "there is no group \(group.name)") }
      guard count < Limits.maximumDeviceTokens else {
        throw Refusal(
          kind: .conflict, description: "a group has at most \(Limits.maximumDeviceTokens) tokens, also ended ones")
      }
      let made = Registration(token: .random(), device: address, app: app, environment: environment)
      try db.execute(
        sql: "INSERT INTO group_token (token, person_group, app, environment) VALUES (?, ?, ?, ?)",
        arguments: [Data(made.token.bytes), group.id, app.row, environment.rawValue])
      afterCommit(db) { $0.tokens[made.token] = made }
      return made
    }
  }

  /// Ends the registrations of a group for an app at `now`, in milliseconds since 1970.
  package func unregister(_ group: Group, app: AppID, now: Int64) async throws {
    let tokens = registrations(of: group).filter { $0.app == app }.map(\.token)
    guard !tokens.isEmpty else {
      throw Refusal(kind: .unknown, description: "\(group.name) is not registered for this app")
    }
    try await store.write { [self] db in
      for token in tokens {
        try db.execute(
          sql: "UPDATE group_token SET unregistered = ? WHERE token = ?", arguments: [now, Data(token.bytes)])
      }
      afterCommit(db) { state in for token in tokens { state.tokens[token]?.unregistered = now } }
    }
  }

  /// Returns the number of current tokens for an app.
  package func registrationCount(of app: AppID) -> Int {
    state.withLock { $0.tokens.values.count { $0.app == app && $0.unregistered == nil } }
  }

  /// Removes the tokens for an app and the recipients of its pushes.
  @inline(never)
  package func forget(_ app: AppID) async throws {
    try await store.write { [self] db in
      try db.execute(sql: "DELETE FROM group_token WHERE app = ?", arguments: [app.row])
      try db.execute(sql: "DELETE FROM group_push WHERE app = ?", arguments: [app.row])
      afterCommit(db) { state in state.tokens = state.tokens.filter { $0.value.app != app } }
    }
  }

  // MARK: Pushes

  /// Stores the recipients of a push, of whose answers the first counts (``Answers``). Calls `completion` when they
  /// are on disk, or with false if the disk refuses them. Completions are called in the order of the calls.
  package func note(_ push: Push, completion: @escaping @Sendable (_ isDurable: Bool) -> Void) {
    queue.append([push], commit: commit) { result in completion((try? result.get()) != nil) }
  }

  /// Returns when all pushes given so far are on disk or have failed.
  package func settle() async { await queue.settle() }

  private func commit(_ pushes: [Push]) async throws(StoreError) -> [Void] {
    try await store.change { db in try pushes.map { try Groups.note($0, db) } }
  }

  private static let isThis = "substr(apns_id, 1, 16) = ? AND app = ? AND address = ?"

  private static func note(_ push: Push, _ db: Database) throws {
    let id = Data(push.id.stored)
    let stored = try GRDB.Row.fetchOne(
      db, sql: "SELECT number, persons FROM group_push WHERE \(isThis)",
      arguments: [id.prefix(16), push.app.row, push.address.row])
    if let stored {
      let before = try Groups.persons(stored["persons"]).map(\.row)
      let known = Set(before)
      let all = before + push.persons.map(\.row).filter { !known.contains($0) }
      try db.execute(
        sql: "UPDATE group_push SET persons = ? WHERE number = ?", arguments: ["\(all)", stored["number"] as Int64])
      return
    }
    try db.execute(
      sql: "INSERT INTO group_push (person_group, address, app, apns_id, persons, at) VALUES (?, ?, ?, ?, ?, ?)",
      arguments: [
        GroupAddress(push.address)?.group ?? 0, push.address.row, push.app.row, id, "\(push.persons.map(\.row))",
        push.at,
      ])
    try db.execute(
      sql: "DELETE FROM group_push WHERE number <= ?",
      arguments: [db.lastInsertedRowID - Int64(Limits.rememberedGroupPushes)])
  }

  /// Returns the recipients of a push, as long as they are stored; otherwise an empty array.
  @inline(never)
  package func persons(of id: APNSID, app: AppID, at address: DeviceID) async throws -> [PersonID] {
    try await store.read { db in
      let text = try String.fetchOne(
        db, sql: "SELECT persons FROM group_push WHERE \(Groups.isThis)",
        arguments: [Data(id.stored.prefix(16)), app.row, address.row])
      return try text.map { try Groups.persons($0) } ?? []
    }
  }

  /// Decodes the recipients of a row.
  static func persons(_ text: String) throws -> [PersonID] {
    try decodeJSON([Int64].self, from: text.utf8).map { PersonID(row: $0) }
  }

  /// Deletes the pushes whose answers are no longer kept at `now`, in milliseconds since 1970.
  @inline(never)
  package func trim(now: Int64) async throws {
    let end = now - Limits.answerRetention * 1000
    let isDue = try await store.read { db in
      try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM group_push WHERE at < ?)", arguments: [end])
    }
    guard isDue == true else { return }
    try await store.write { try $0.execute(sql: "DELETE FROM group_push WHERE at < ?", arguments: [end]) }
  }

  // MARK: Rows

  /// Reads every row to check it, and discards the result.
  static func checkRows(_ db: Database) throws {
    _ = try load(db)
    let pushes = try PreparedStatement(db, "SELECT number, address, app, apns_id, persons, at FROM group_push")
    while try pushes.next() {
      _ = try (
        pushes.integer(0, in: ColumnBounds.number), pushes.integer(1, in: ColumnBounds.address),
        pushes.integer(2, in: ColumnBounds.app), pushes.integer(5, in: ColumnBounds.milliseconds)
      )
      guard pushes.id(3) != nil else { throw pushes.damage(3, "expected 20 bytes") }
      guard (try? Groups.persons(try pushes.text(4))) != nil else {
        throw pushes.damage(4, "expected a list of numbers")
      }
    }
  }

  private static func load(_ db: Database) throws -> State {
    var state = State()
    let groups = try PreparedStatement(db, "SELECT id, name FROM person_group")
    while try groups.next() {
      let group = Group(id: try groups.integer(0, in: ColumnBounds.number), name: try groups.text(1))
      state.groups[group.id] = group
      state.byName[group.name] = group.id
    }
    let members = try PreparedStatement(db, "SELECT person_group, person FROM group_member ORDER BY id")
    while try members.next() {
      state.groups[try members.integer(0)]?.members.append(PersonID(row: try members.integer(1)))
    }
    let tokens = try PreparedStatement(
      db, "SELECT token, person_group, app, environment, unregistered FROM group_token")
    while try tokens.next() {
      guard let token = DeviceToken(bytes: tokens.blob(0)) else { throw tokens.damage(0, "expected 32 bytes") }
      guard let environment = Environment(rawValue: try tokens.text(3)) else {
        throw tokens.damage(3, "expected an environment")
      }
      let address = GroupAddress(group: try tokens.integer(1, in: ColumnBounds.number), environment: environment)
      state.tokens[token] = Registration(
        token: token, device: address.device, app: AppID(row: try tokens.integer(2, in: ColumnBounds.app)),
        environment: environment, unregistered: try tokens.optionalInteger(4, in: ColumnBounds.milliseconds))
    }
    return state
  }
}
