import PushCore
import PushPolicy
import PushStorage

/// Takes a person's answer to a push: the first one counts, and takes the push off the person's other screens.
struct AnswerPush: Sendable {
  let registrations: any Registrations
  let answers: Answers
  let log: DeliveryLog
  let retract: Retract

  /// Calls back when an answer counts that no crash takes back: with its action, or with nil where the push offers none
  /// such. Where the disk refuses it is a ``StoreError``.
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
    answers.take(answer) { [log, retract] outcome in
      if case .success(let taken) = outcome, taken.isFirst {
        log.append([answer.row])
        retract(push.id, of: device.person, except: stream)
      }
      completion(outcome.map(\.counting.action))
    }
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
