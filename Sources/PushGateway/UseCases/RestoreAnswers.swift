import PushCore
import PushStorage

/// Brings back what a crash took of the delivery log's last moments that somebody may wait for: the answers of persons.
struct RestoreAnswers: Sendable {
  let answers: Answers
  let log: DeliveryLog
  let clock: WallClock

  /// What the log may have lost before its last row, in milliseconds: many times what its writer collects.
  private static let margin: Int64 = 10_000
  /// How old an answer may be, in milliseconds, that is logged anew: nobody waits for one of yesterday.
  private static let maximumAge: Int64 = 86_400_000

  /// - Throws: where the log can't be read, which decides nothing: see ``DeliveryLog/problem``.
  func callAsFunction() async throws {
    let oldest = clock.milliseconds() - RestoreAnswers.maximumAge
    let last = try await log.rows(.init(limit: 1)).last?.row.at ?? oldest
    for answer in try await answers.answers(since: max(oldest, last - RestoreAnswers.margin)) {
      let row = answer.row
      let query = DeliveryLog.Query(
        id: answer.id, device: answer.device, events: [row.event], since: answer.at, limit: 1)
      if try await log.rows(query).isEmpty { log.append([row]) }
    }
  }
}
