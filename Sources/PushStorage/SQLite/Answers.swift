import Foundation
import GRDB
package import PushCore
import Synchronization

/// What a person picked on an alert.
package struct Answer: Sendable, Equatable {
  /// The push's `apns-id`.
  package var id: APNSID
  package var person: PersonID
  /// `view`, `close`, `ok`, or the action of a category.
  package var action: String
  /// The device on which it was picked.
  package var device: DeviceID
  package var app: AppID
  /// Milliseconds since 1970.
  package var at: Int64

  package init(id: APNSID, person: PersonID, action: String, device: DeviceID, app: AppID, at: Int64) {
    (self.id, self.person, self.action, self.device, self.app, self.at) = (id, person, action, device, app, at)
  }
}

/// The answers of persons, of which the first to each push counts: on disk before anybody hears of one, so that it is the
/// first also after a crash.
///
/// The last ``Limits/rememberedAnswers`` of each person are kept, for ``Limits/answerRetention`` at most; whoever answers
/// an older push once more is believed. Answers that come while a commit runs share the next one.
package final class Answers: Sendable {
  /// What became of an answer.
  package struct Taken: Sendable {
    /// The one that counts.
    package var counting: Answer
    /// Whether it is the one that was just given.
    package var isFirst: Bool
    /// For whom it counts: whoever gave it, and where it is the answer of a group all to whom its push went.
    package var persons: [PersonID]
  }

  private struct Line {
    var waiting: [(answer: Answer, isPick: Bool, completion: @Sendable (Result<Taken?, StoreError>) -> Void)] = []
    var isWriting = false
    var settling: [CheckedContinuation<Void, Never>] = []
  }

  private let store: SQLiteStore
  private let line = Mutex(Line())

  package init(store: SQLiteStore) { self.store = store }

  /// Keeps an answer, unless its push has one of this person, and calls `completion` when that is on disk, or with a
  /// ``StoreError`` when the disk refuses. Of answers that one thread gives the first is the first. The outcome is nil, and
  /// nothing is kept, where a person picks an action for a group that the person has left since, or that was removed.
  ///
  /// - Parameter isPick: whether it is one of the actions that the push offers, which counts for all members where the
  ///   push is a group's; who only views or closes an alert does so alone.
  package func take(
    _ answer: Answer, isPick: Bool = false, completion: @escaping @Sendable (Result<Taken?, StoreError>) -> Void
  ) {
    let mustWrite = line.withLock { line in
      line.waiting.append((answer, isPick, completion))
      defer { line.isWriting = true }
      return !line.isWriting
    }
    if mustWrite { Task { await write() } }
  }

  /// Returns when everything given so far is on disk, or can't be.
  package func settle() async {
    await withCheckedContinuation { continuation in
      let isIdle = line.withLock { line in
        if line.isWriting { line.settling.append(continuation) }
        return !line.isWriting
      }
      if isIdle { continuation.resume() }
    }
  }

  private func write() async {
    while true {
      let now = line.withLock { line in
        let now = line
        line.waiting = []
        if now.waiting.isEmpty { line = Line() }
        return now
      }
      let taken = now.waiting
      guard !taken.isEmpty else {
        for continuation in now.settling { continuation.resume() }
        return
      }
      let answers = taken.map { ($0.answer, $0.isPick) }
      do {
        let outcomes = try await store.write { db in try answers.map { try Answers.take($0, isPick: $1, db) } }
        for (outcome, waiting) in zip(outcomes, taken) { waiting.completion(.success(outcome)) }
      } catch {
        let failure = SQLiteStore.explain(error, path: store.path)
        for waiting in taken { waiting.completion(.failure(failure)) }
      }
    }
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

  /// A group's push that went to the person who answers, and whether this person is still a member of the group.
  private struct GroupPush {
    var number: Int64
    var persons: [PersonID]
    var isMember: Bool
  }

  /// The group's push that is answered, where it is one. One id can be that of pushes to several groups: a group that the
  /// person is still a member of comes first, then the latest push.
  private static func groupPush(of answer: Answer, _ db: Database) throws -> GroupPush? {
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
        return GroupPush(number: row["number"], persons: persons, isMember: row["is_member"])
      }
    }
    return nil
  }

  /// The answer that a group has given.
  private static func first(of groupPush: Int64, _ db: Database) throws -> Answer? {
    let rows = try PreparedStatement(db, "SELECT \(columns) FROM answer WHERE group_push = ?", isKept: true)
    defer { rows.reset() }
    rows.bind(groupPush)
    return try rows.next() ? try Answers.answer(rows) : nil
  }

  /// The answers since a time in milliseconds since 1970, the oldest first: at most ``Limits/rememberedAnswers`` of each
  /// person.
  package func answers(since time: Int64) async throws -> [Answer] {
    do {
      return try await store.pool.read { db in
        let rows = try PreparedStatement(db, "SELECT \(Answers.columns) FROM answer WHERE at >= ? ORDER BY number")
        rows.bind(time)
        var answers: [Answer] = []
        while try rows.next() { answers.append(try Answers.answer(rows)) }
        return answers
      }
    } catch {
      throw SQLiteStore.explain(error, path: store.path)
    }
  }

  /// The answers of groups since a time in milliseconds since 1970, the oldest first, with all for whom each counts.
  package func groupAnswers(since time: Int64) async throws -> [Taken] {
    do {
      return try await store.pool.read { db in
        let rows = try PreparedStatement(
          db,
          """
          SELECT a.person, a.apns_id, a.action, a.device, a.app, a.at, p.persons
            FROM answer a JOIN group_push p ON p.number = a.group_push WHERE a.at >= ? ORDER BY a.number
          """)
        rows.bind(time)
        var answers: [Taken] = []
        while try rows.next() {
          answers.append(
            Taken(counting: try Answers.answer(rows), isFirst: true, persons: try Groups.persons(rows.text(6))))
        }
        return answers
      }
    } catch {
      throw SQLiteStore.explain(error, path: store.path)
    }
  }

  /// Forgets the answers of a person.
  package func forget(_ person: PersonID) async throws {
    try await write { try $0.execute(sql: "DELETE FROM answer WHERE person = ?", arguments: [person.row]) }
  }

  /// Forgets the answers to pushes of an app.
  package func forget(_ app: AppID) async throws {
    try await write { try $0.execute(sql: "DELETE FROM answer WHERE app = ?", arguments: [app.row]) }
  }

  /// Forgets what is older than ``Limits/answerRetention`` at `now`, in milliseconds since 1970, or of nobody any longer.
  package func trim(now: Int64) async throws {
    try await write { db in
      let end = now - Limits.answerRetention * 1000
      let isDue = "at < ? OR person NOT IN (SELECT id FROM person)"
      // Most often there is nothing to do, and then nothing is to be written.
      guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM answer WHERE \(isDue))", arguments: [end]) == true
      else { return }
      try db.execute(sql: "DELETE FROM answer WHERE \(isDue)", arguments: [end])
    }
  }

  /// Reads all of it, and keeps nothing.
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

  private func write(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
    do { try await store.write(body) } catch { throw SQLiteStore.explain(error, path: store.path) }
  }
}
