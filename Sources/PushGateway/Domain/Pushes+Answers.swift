import GatewayProtocol
import PushCore
import PushPolicy
import PushStorage

/// The answers of users. The first one counts, and retracts the push from the user's other devices.
extension Pushes {
  /// Accepts an answer. Calls `completion` after the effective answer is durable, with its action.
  ///
  /// The action is nil if the push does not offer it, or if the user has left the group that was asked. Fails with
  /// ``StoreError`` if the answer can't be stored.
  ///
  /// - Parameters:
  ///   - push: a push that the device was sent.
  ///   - action: `view`, `close`, `ok`, or the action of a category.
  ///   - stream: the number of the stream that carried the answer.
  ///   - now: milliseconds since 1970.
  func answer(
    _ push: SentPush, _ action: String, by device: Device, on stream: UInt64?, at now: Int64,
    completion: @escaping @Sendable (Result<String?, StoreError>) -> Void
  ) {
    guard push.offers(action, by: registrations) else { return completion(.success(nil)) }
    let answer = Answer(
      id: push.id, person: device.person, action: action, device: device.id, app: push.app, at: now)
    let isPick = !SentPush.commonActions.contains(action)
    answers.take(answer, isPick: isPick) { outcome in
      if case .success(let taken?) = outcome, taken.isFirst {
        log.append([answer.row])
        spread(taken, except: stream)
      }
      completion(outcome.map { $0?.counting.action })
    }
  }

  /// Retracts an answered push from the other devices of all users for whom the answer counts, and from the mailboxes
  /// of the other members of a group.
  private func spread(_ taken: Answers.Taken, except stream: UInt64? = nil) {
    let answer = taken.counting
    for person in taken.persons { retract(answer, from: person, except: stream) }
    guard taken.persons.count > 1 else { return }
    let others = taken.persons.filter { $0 != answer.person }.flatMap(registrations.devices)
    mailbox.retract(answer.id, app: answer.app, from: others) { _ in }
  }

  /// Retracts an answered push from the devices of a user, and from pending summaries.
  ///
  /// - Parameter stream: the number of a stream that needs no notification.
  private func retract(_ answer: Answer, from person: PersonID, except stream: UInt64?) {
    let given = GivenAnswer(
      action: answer.action,
      person: answer.person == person ? nil : registrations.person(answer.person)?.name,
      device: answer.person == person ? registrations.device(answer.device)?.name : nil)
    for device in registrations.devices(of: person) {
      held.release(answer.id, of: device)
      router.notify(device, .answered(answer.id, given), except: stream)
    }
  }

  /// The time before its last row in which the log may have lost rows, in milliseconds: many times what its writer
  /// collects.
  private static let lostTime: Int64 = 10_000
  /// The maximum age of an answer that is logged again, in milliseconds: no sender waits for an older one.
  private static let maximumAnswerAge: Int64 = 86_400_000

  /// Completes the processing of answers that a crash may have interrupted. The answer to a group's question retracts
  /// it from the other members, and each answer gets a row of the delivery log, because a sender may wait for it.
  ///
  /// - Throws: an error if the log can't be read, which is not fatal: see ``DeliveryLog/problem``.
  func restoreAnswers() async throws {
    let oldest = clock.milliseconds() - Pushes.maximumAnswerAge
    let last = (try? await log.rows(.init(limit: 1)).last?.row.at) ?? oldest
    let start = max(oldest, last - Pushes.lostTime)
    for taken in try await answers.groupAnswers(since: start) { spread(taken) }
    try await logAnswers(since: start)
  }

  /// Logs answers whose rows the delivery log has lost: a sender may wait for them.
  ///
  /// - Parameter loss: the time of the first lost event in milliseconds since 1970.
  func logAnswers(afterLoss loss: Int64) async throws {
    try await logAnswers(since: max(clock.milliseconds() - Pushes.maximumAnswerAge, loss - Pushes.lostTime))
  }

  /// Logs the answers since `start`, in milliseconds since 1970, of which the log has no row.
  private func logAnswers(since start: Int64) async throws {
    let rows = try await answers.answers(since: start).map(\.row)
    guard !rows.isEmpty else { return }
    let query = DeliveryLog.Query(events: LoggedAnswer.events, since: start, limit: .max)
    let logged = Set(try await log.rows(query).map { LoggedAnswer($0.row) })
    log.append(rows.filter { !logged.contains(LoggedAnswer($0)) })
  }

  /// The identity of an answer in the delivery log.
  private struct LoggedAnswer: Hashable {
    static let events: Set<DeliveryEvent> = [.viewed, .closed, .action]

    let id: APNSID
    let device: DeviceID?
    let event: DeliveryEvent

    init(_ row: DeliveryLog.Row) { (id, device, event) = (row.id, row.device, row.event) }
  }
}

extension Answer {
  /// The row of the delivery log for the answer.
  var row: DeliveryLog.Row {
    let (event, detail): (DeliveryEvent, DeliveryDetail) =
      switch action {
      case "view": (.viewed, .nothing)
      case "close", "ok": (.closed, .answered(action))
      default: (.action, .answered(action))
      }
    return DeliveryLog.Row(at: at, event: event, id: id, device: device, app: app, detail: detail)
  }
}
