import PushCore
import PushPolicy
import PushStorage

/// Takes a person's answer to a push: the first one counts, and takes the push off the person's other screens.
struct AnswerPush: Sendable {
  let registrations: any Registrations
  let answers: AnsweredPushes
  let retract: Retract

  /// - Parameters:
  ///   - push: one that the device was sent.
  ///   - action: `view`, `close`, `ok`, or the action of a category.
  ///   - stream: the number of the stream that it came by.
  ///   - now: milliseconds since 1970.
  /// - Returns: the row of the delivery log; nil when the push was answered before, or offers no such action.
  func callAsFunction(
    _ push: SentPush, _ action: String, by device: Device, on stream: UInt64?, at now: Int64
  ) -> DeliveryLog.Row? {
    guard push.offers(action, by: registrations), answers.isFirst(push.id, by: device.person) else { return nil }
    retract(push.id, of: device.person, except: stream)
    let (event, detail): (DeliveryEvent, DeliveryDetail) =
      switch action {
      case "view": (.viewed, .nothing)
      case "close", "ok": (.closed, .answered(action))
      default: (.action, .answered(action))
      }
    return DeliveryLog.Row(at: now, event: event, id: push.id, device: device.id, app: push.app, detail: detail)
  }
}
