import PushCore
import PushStorage

/// Takes a push off the screens of a person, and out of the digests that it waits for.
struct Retract: Sendable {
  let registrations: any Registrations
  let held: HeldPushes
  let router: any PushRouter

  /// - Parameter stream: the number of a stream that need not be told.
  func callAsFunction(_ id: APNSID, of person: PersonID, except stream: UInt64? = nil) {
    for device in registrations.devices(of: person) {
      held.release(id, of: device)
      router.notify(device, .retract(id), except: stream)
    }
  }
}
