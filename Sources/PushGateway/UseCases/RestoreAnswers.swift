import PushCore
import PushStorage

/// Completes the processing of answers that a crash may have interrupted. The answer to a group's question retracts
/// it from the other members, and each answer gets a row of the delivery log, because a sender may wait for it.
struct RestoreAnswers: Sendable {
  let answers: Answers
  let answerPush: AnswerPush
  let log: DeliveryLog
  let clock: WallClock

  /// The time before its last row in which the log may have lost rows, in milliseconds: many times what its writer
  /// collects.
  private static let margin: Int64 = 10_000
  /// The maximum age of an answer that is logged again, in milliseconds: no sender waits for an older one.
  private static let maximumAge: Int64 = 86_400_000

  /// - Throws: an error if the log can't be read, which is not fatal: see ``DeliveryLog/problem``.
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
