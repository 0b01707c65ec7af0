import GatewayProtocol
import PushCore
import PushStorage

/// Takes a push off the screens of a person, and out of the digests that it waits for.
struct Retract: Sendable {
  let registrations: any Registrations
  let held: DeferredPushes
  let router: any PushRouter

  /// - Parameters:
  ///   - stream: The number of a stream that need not be told.
  ///   - answer: The answer that is why.
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
