import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite struct AnsweredPushesTests {
  @Test func `the first answer counts, for each person`() throws {
    let answers = AnsweredPushes()
    let (one, other) = (PersonID(row: 1), PersonID(row: 2))
    #expect(answers.isFirst(.number(1), by: one))
    #expect(!answers.isFirst(.number(1), by: one))
    #expect(answers.isFirst(.number(1), by: other))
    #expect(answers.isFirst(.number(2), by: one))
  }
}
