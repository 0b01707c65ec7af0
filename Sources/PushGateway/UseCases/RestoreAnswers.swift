import PushCore
import PushStorage

/// Does anew what a crash may have kept from being done after the answers of persons: a group's answer takes its question
/// away from the other members, and each answer has a row of the delivery log, for which somebody may wait.
struct RestoreAnswers: Sendable {
  let answers: Answers
  let answerPush: AnswerPush
  let log: DeliveryLog
  let clock: WallClock

  /// What the log may have lost before its last row, in milliseconds: many times what its writer collects.
  private static let margin: Int64 = 10_000
  /// How old an answer may be, in milliseconds, that is logged anew: nobody waits for one of yesterday.
  private static let maximumAge: Int64 = 86_400_000

  /// - Throws: where the log can't be read, which decides nothing: see ``DeliveryLog/problem``.
  func callAsFunction() async throws {
    let oldest = clock.milliseconds() - RestoreAnswers.maximumAge
    let last = (try? await log.rows(.init(limit: 1)).last?.row.at) ?? oldest
    let start = max(oldest, last - RestoreAnswers.margin)
    for taken in try await answers.groupAnswers(since: start) { answerPush.spread(taken) }
    for answer in try await answers.answers(since: start) {
      let row = answer.row
      let query = DeliveryLog.Query(
        id: answer.id, device: answer.device, events: [row.event], since: answer.at, limit: 1)
      if try await log.rows(query).isEmpty { log.append([row]) }
    }
  }
}
