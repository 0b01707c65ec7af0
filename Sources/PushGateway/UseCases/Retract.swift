import GatewayProtocol
import PushCore
import PushStorage

/// Retracts an answered push from the devices of a user, and from pending summaries.
struct Retract: Sendable {
  let registrations: any Registrations
  let held: DeferredPushes
  let router: any PushRouter

  /// Retracts a push.
  ///
  /// - Parameters:
  ///   - stream: the number of a stream that needs no notification.
  ///   - answer: the answer that causes the retraction.
  func callAsFunction(_ id: APNSID, of person: PersonID, except stream: UInt64? = nil, for answer: Answer) {
    let given = GivenAnswer(
      action: answer.action,
      person: answer.person == person ? nil : registrations.person(answer.person)?.name,
      device: answer.person == person ? registrations.device(answer.device)?.name : nil)
    for device in registrations.devices(of: person) {
      held.release(id, of: device)
      router.notify(device, .answered(id, given), except: stream)
    }
  }
}
