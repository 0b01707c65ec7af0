import PushCore
import PushPolicy
import PushStorage

/// Takes a person's answer to a push: the first one counts, and takes the push off the person's other screens.
struct AnswerPush: Sendable {
  let registrations: any Registrations
  let answers: Answers
  let log: DeliveryLog
  let retract: Retract
  let mailbox: any Mailbox

  /// Calls back when an answer counts that no crash takes back: with its action, or with nil where the push offers none
  /// such, or the person has left the group that was asked. Where the disk refuses it is a ``StoreError``.
  ///
  /// - Parameters:
  ///   - push: one that the device was sent.
  ///   - action: `view`, `close`, `ok`, or the action of a category.
  ///   - stream: the number of the stream that it came by.
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

  /// Takes an answered push off the other screens of all persons for whom the answer counts, and out of the mailboxes of the
  /// other members of a group.
  func spread(_ taken: Answers.Taken, except stream: UInt64? = nil) {
    let answer = taken.counting
    for person in taken.persons { retract(answer.id, of: person, except: stream, for: answer) }
    guard taken.persons.count > 1 else { return }
    let others = taken.persons.filter { $0 != answer.person }.flatMap(registrations.devices)
    mailbox.retract(answer.id, app: answer.app, from: others) { _ in }
  }
}

extension Answer {
  /// Its row of the delivery log.
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
