import Foundation
import GRDB
package import PushCore

/// The action that a user picked on an alert.
package struct Answer: Sendable, Equatable {
  /// The `apns-id` of the push.
  package var id: APNSID
  package var person: PersonID
  /// The action: `view`, `close`, `ok`, or an action of a category.
  package var action: String
  /// The device on which the user picked the action.
  package var device: DeviceID
  package var app: AppID
  /// The time of the answer in milliseconds since 1970.
  package var at: Int64

  package init(id: APNSID, person: PersonID, action: String, device: DeviceID, app: AppID, at: Int64) {
    (self.id, self.person, self.action, self.device, self.app, self.at) = (id, person, action, device, app, at)
  }
}

/// The answers of users. The first answer to each push counts. It is on disk before it is reported, so that it stays
/// the first after a crash.
///
/// The last ``Limits/rememberedAnswers`` of each user are kept, for ``Limits/answerRetention`` at most. A second
/// answer to an older push counts as the first. Answers that arrive while a commit runs share the next one.
package final class Answers: Sendable {
  /// The outcome of an answer.
  package struct Taken: Sendable {
    package var counting: Answer
    /// True if the answer that was just given is the one that counts.
    package var isFirst: Bool
    /// The users for whom the answer counts: the user who gave it; for the answer of a group, all users to whom the
    /// push went.
    package var persons: [PersonID]
  }

  private let store: SQLiteStore
  private let queue = CommitQueue<(answer: Answer, isPick: Bool), Taken?>()

  package init(store: SQLiteStore) { self.store = store }

  /// Stores an answer, unless this user has already answered the push.
  ///
  /// Calls `completion` when the answer is on disk, or with a ``StoreError`` if the disk refuses it. Answers from one
  /// thread are stored in the order in which they were given. The outcome is nil, and nothing is stored, if the user
  /// picks an action for a group that was removed or that the user has left.
  ///
  /// - Parameter isPick: true if `answer` is one of the actions that the push offers. Such an answer to a group's
  ///   push counts for all members; viewing or closing an alert counts only for the user who did it.
  package func take(
    _ answer: Answer, isPick: Bool = false, completion: @escaping @Sendable (Result<Taken?, StoreError>) -> Void
  ) {
    queue.append([(answer, isPick)], commit: commit, completion: completion)
  }

  /// Returns when all answers given so far are on disk or have failed.
  package func settle() async { await queue.settle() }

  private func commit(_ answers: [(answer: Answer, isPick: Bool)]) async throws(StoreError) -> [Taken?] {
    try await store.change { db in try answers.map { try Answers.take($0.answer, isPick: $0.isPick, db) } }
  }

  private static func take(_ answer: Answer, isPick: Bool, _ db: Database) throws -> Taken? {
    let id = Data(answer.id.stored)
    let group = try groupPush(of: answer, db)
    if let group, isPick, !group.isMember { return nil }
    if let group, let first = try first(of: group.number, db) {
      return Taken(counting: first, isFirst: false, persons: [answer.person])
    }
    let push = isPick ? group : nil
    let insert = try db.cachedStatement(
      sql: """
        INSERT OR IGNORE INTO answer (person, apns_id, action, device, app, at, group_push) VALUES (?, ?, ?, ?, ?, ?, ?)
        """)
    try insert.execute(
      arguments: [
        answer.person.row, id, answer.action, answer.device.row, answer.app.row, answer.at, push?.number,
      ])
    if db.changesCount > 0 {
      let forget = try db.cachedStatement(
        sql: """
          DELETE FROM answer WHERE person = ? AND number <= (
            SELECT number FROM answer WHERE person = ? ORDER BY number DESC LIMIT 1 OFFSET \(Limits.rememberedAnswers))
          """)
      try forget.execute(arguments: [answer.person.row, answer.person.row])
      return Taken(counting: answer, isFirst: true, persons: push?.persons ?? [answer.person])
    }
    let rows = try PreparedStatement(
      db, "SELECT \(columns) FROM answer WHERE person = ? AND apns_id = ?", isKept: true)
    defer { rows.reset() }
    return try unsafe id.withUnsafeBytes { bytes in
      rows.bind(answer.person.row)
      unsafe rows.bind(borrowed: bytes)
      guard try rows.next() else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
      return Taken(counting: try Answers.answer(rows), isFirst: false, persons: [answer.person])
    }
  }

  /// Returns the group's push that an answer belongs to, or nil if there is none. `isMember` is true if the user is
  /// still a member of the group. Pushes to several groups can share an id: a group with the user as a member comes
  /// first, then the latest push.
  private static func groupPush(
    of answer: Answer, _ db: Database
  ) throws -> (number: Int64, persons: [PersonID], isMember: Bool)? {
    let select = try db.cachedStatement(
      sql: """
        SELECT number, persons, EXISTS (
            SELECT 1 FROM group_member m WHERE m.person_group = group_push.person_group AND m.person = ?) AS is_member
          FROM group_push WHERE substr(apns_id, 1, 16) = ? AND app = ? ORDER BY is_member DESC, number DESC
        """)
    let rows = try GRDB.Row.fetchCursor(
      select, arguments: [answer.person.row, Data(answer.id.stored.prefix(16)), answer.app.row])
    while let row = try rows.next() {
      let persons = try Groups.persons(row["persons"])
      if persons.contains(answer.person) {
        return (row["number"] as Int64, persons, row["is_member"] as Bool)
      }
    }
    return nil
  }

  /// Returns the answer that a group has given, or nil if there is none.
  private static func first(of groupPush: Int64, _ db: Database) throws -> Answer? {
    let rows = try PreparedStatement(db, "SELECT \(columns) FROM answer WHERE group_push = ?", isKept: true)
    defer { rows.reset() }
    rows.bind(groupPush)
    return try rows.next() ? try Answers.answer(rows) : nil
  }

  /// Returns the answers since `time`, in milliseconds since 1970, the oldest first: at most
  /// ``Limits/rememberedAnswers`` of each user.
  @inline(never)
  package func answers(since time: Int64) async throws -> [Answer] {
    try await store.read { db in
      let rows = try PreparedStatement(db, "SELECT \(Answers.columns) FROM answer WHERE at >= ? ORDER BY number")
      rows.bind(time)
      return try rows.map(Answers.answer)
    }
  }

  /// Returns the answers of groups since `time`, in milliseconds since 1970, the oldest first, each with all users
  /// for whom it counts.
  @inline(never)
  package func groupAnswers(since time: Int64) async throws -> [Taken] {
    try await store.read { db in
      let rows = try PreparedStatement(
        db,
        """
        SELECT a.person, a.apns_id, a.action, a.device, a.app, a.at, p.persons
          FROM answer a JOIN group_push p ON p.number = a.group_push WHERE a.at >= ? ORDER BY a.number
        """)
      rows.bind(time)
      return try rows.map { row in
        Taken(counting: try Answers.answer(row), isFirst: true, persons: try Groups.persons(row.text(6)))
      }
    }
  }

  /// Deletes the answers of a user.
  @inline(never)
  package func forget(_ person: PersonID) async throws {
    try await store.change { try $0.execute(sql: "DELETE FROM answer WHERE person = ?", arguments: [person.row]) }
  }

  /// Deletes the answers to pushes of an app.
  @inline(never)
  package func forget(_ app: AppID) async throws {
    try await store.change { try $0.execute(sql: "DELETE FROM answer WHERE app = ?", arguments: [app.row]) }
  }

  /// Deletes the answers that are older than ``Limits/answerRetention`` at `now`, in milliseconds since 1970, and
  /// those of users that no longer exist.
  @inline(never)
  package func trim(now: Int64) async throws {
    try await store.change { db in
      let end = now - Limits.answerRetention * 1000
      let isDue = "at < ? OR person NOT IN (SELECT id FROM person)"
      // Most calls find no due answers: the check avoids a write.
      guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM answer WHERE \(isDue))", arguments: [end]) == true
      else { return }
      try db.execute(sql: "DELETE FROM answer WHERE \(isDue)", arguments: [end])
    }
  }

  /// Reads every row to check it, and discards the result.
  static func checkRows(_ db: Database) throws {
    let rows = try PreparedStatement(db, "SELECT \(columns) FROM answer")
    while try rows.next() { _ = try answer(rows) }
  }

  private static let columns = "person, apns_id, action, device, app, at"

  private static func answer(_ row: PreparedStatement) throws -> Answer {
    guard let id = row.id(1) else { throw row.damage(1, "expected 20 bytes") }
    return Answer(
      id: id, person: PersonID(row: try row.integer(0)), action: try row.text(2),
      device: DeviceID(row: try row.integer(3)), app: AppID(row: try row.integer(4)),
      at: try row.integer(5, in: ColumnBounds.milliseconds))
  }
}
