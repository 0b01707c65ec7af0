import PushCore
import PushPolicy
import PushStorage

/// Accepts a user's answer to a push: the first one counts, and retracts the push from the user's other devices.
struct AnswerPush: Sendable {
  let registrations: any Registrations
  let answers: Answers
  let log: DeliveryLog
  let retract: Retract
  let mailbox: any Mailbox

  /// Calls `completion` after the effective answer is durable, with its action. The action is nil if the push does
  /// not offer it, or if the user has left the group that was asked. Fails with ``StoreError`` if the answer can't be
  /// stored.
  ///
  /// - Parameters:
  ///   - push: a push that the device was sent.
  ///   - action: `view`, `close`, `ok`, or the action of a category.
  ///   - stream: the number of the stream that carried the answer.
  ///   - now: milliseconds since 1970.
  func callAsFunction(
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
  func spread(_ taken: Answers.Taken, except stream: UInt64? = nil) {
    let answer = taken.counting
    for person in taken.persons { retract(answer.id, of: person, except: stream, for: answer) }
    guard taken.persons.count > 1 else { return }
    let others = taken.persons.filter { $0 != answer.person }.flatMap(registrations.devices)
    mailbox.retract(answer.id, app: answer.app, from: others) { _ in }
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
