import Foundation
import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct AnswersTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let answers: Answers

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    answers = Answers(store: store)
  }

  private func answer(_ number: Int, _ action: String, by person: Int64 = 1, at time: Int64 = 1000) -> Answer {
    Answer(
      id: .number(number), person: PersonID(row: person), action: action, device: DeviceID(row: person), app: 1,
      at: time)
  }

  /// Opens a copy of the current files, as they are after a crash of the process.
  private func crashed() throws -> (answers: Answers, folder: TemporaryFolder) {
    let copy = try TemporaryFolder()
    for name in ["push.sqlite", "push.sqlite-wal"] where FileManager.default.fileExists(atPath: folder.file(name)) {
      try FileManager.default.copyItem(atPath: folder.file(name), toPath: copy.file(name))
    }
    return (Answers(store: try SQLiteStore(path: copy.file("push.sqlite"))), copy)
  }

  @Test func `the first answer counts, for each person, also after a crash`() async throws {
    let first = try await answers.taken(answer(1, "approve"))
    #expect(first.isFirst && first.counting.action == "approve")
    let (later, folder) = try crashed()
    for again in [answer(1, "close", at: 2000), answer(1, "approve"), answer(1, "deny", at: 1)] {
      let taken = try await later.taken(again)
      #expect(!taken.isFirst && taken.counting == answer(1, "approve"))
    }
    #expect(try await later.taken(answer(1, "deny", by: 2)).isFirst)
    #expect(try await later.taken(answer(2, "deny")).isFirst)
    _ = folder
  }

  @Test func `of answers at once one counts, and all are told which`() async throws {
    let actions = try await withThrowingTaskGroup(of: (String, Bool).self) { group in
      for number in 0..<200 {
        group.addTask { [answers] in
          let taken = try await answers.taken(answer(1, "a\(number)"))
          return (taken.counting.action, taken.isFirst)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(actions.map(\.0)).count == 1)
    #expect(actions.count(where: \.1) == 1)
  }

  @Test func `nobody's answers make another person's forgotten`() async throws {
    _ = try await answers.taken(answer(1, "view"))
    _ = try await answers.taken(answer(1, "view", by: 2))
    for number in 2..<(2 + Limits.rememberedAnswers) { _ = try await answers.taken(answer(number, "view", by: 2)) }
    #expect(try await !answers.taken(answer(1, "view")).isFirst)
    // Old answers of the same user are removed.
    #expect(try await answers.taken(answer(1, "view", by: 2)).isFirst)
    #expect(try await answers.answers(since: 0).count == 1 + Limits.rememberedAnswers)
  }

  @Test func `answers are forgotten with their person, and in time`() async throws {
    try await store.pool.write { db in
      try db.execute(sql: "INSERT INTO person VALUES (1, 'ada', '{}'), (2, 'ben', '{}')")
    }
    let now = Limits.answerRetention * 1000 + 5000
    _ = try await answers.taken(answer(1, "view", at: 4999))
    _ = try await answers.taken(answer(2, "view", at: 5000))
    _ = try await answers.taken(answer(3, "view", by: 2, at: now))
    _ = try await answers.taken(answer(4, "view", by: 3, at: now))
    try await answers.trim(now: now)
    #expect(try await answers.answers(since: 0).map(\.id) == [.number(2), .number(3)])
    #expect(try await answers.answers(since: now).map(\.id) == [.number(3)])
    try await answers.forget(PersonID(row: 1))
    #expect(try await answers.answers(since: 0).map(\.id) == [.number(3)])
  }

  @Test func `an answer that the disk refuses fails, and the next one counts`() async throws {
    try await store.pool.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON answer BEGIN SELECT RAISE(ABORT, 'no room'); END")
    }
    await #expect(throws: StoreError.self) { try await answers.taken(answer(1, "approve")) }
    try await store.pool.write { try $0.execute(sql: "DROP TRIGGER full") }
    #expect(try await answers.taken(answer(1, "deny")).isFirst)
    await answers.settle()
  }
}

extension Answers {
  /// Stores an answer, and returns when it is on the disk.
  fileprivate func taken(_ answer: Answer) async throws -> Taken {
    let taken = try await withCheckedThrowingContinuation { continuation in
      take(answer) { continuation.resume(with: $0) }
    }
    return try #require(taken)
  }
}
