import GatewayProtocol
import NIOCore
import PushCore
import PushStorage

/// A device's stream that is open now. Its methods are called on its loop.
protocol LiveSubscription: AnyObject {
  /// A push was accepted for the device: it is sent with the flush that follows, or found in the mailbox later.
  func deliver(_ entry: MailboxEntry)
  /// What was delivered and told is all that comes for now, and leaves at once.
  func flush()
  /// Something else that the device is to be told.
  func notify(_ notice: DeviceNotice)
  /// Something stored may not have been told: the mailbox is to be read again.
  func resync()
}

/// What a device is told besides pushes.
enum DeviceNotice: Sendable {
  /// The push is not to be shown any longer: replaced, expired, or taken back.
  case retract(APNSID)
  /// The same, because it was answered on another screen.
  case answered(APNSID, GivenAnswer)
  /// The sender of this push of an app has taken it back.
  case takenBack(APNSID, topic: String)
  /// The person's choices, as JSON.
  case preferences([UInt8])
  /// The device subscribes to other channels than before.
  case channels
  /// The device's secret is good no longer: its streams end.
  case revoked
  /// Another gateway can read the device's mailbox, and this one can't: its streams end, and name the others.
  case cutOff
}

/// Where a push went that is never stored.
enum Handover: Sendable, Equatable {
  /// To at least one stream of this gateway, which logs what becomes of it.
  case delivered
  /// To other gateways: one that has a stream of the device logs what becomes of it, and perhaps none has.
  case beyond
  /// No stream of the device is open anywhere.
  case nowhere
}

/// Brings what was accepted to the streams of its device, wherever they are open. Within one process that is
/// ``DeviceStreamRegistry``; between gateways another may do it. `RouterConformance` says what each must do.
///
/// It is a signal and no promise: what is stored is found in the mailbox by a stream that attached before it read, and by
/// one that misses a number. So a router may lose or repeat a delivery of what is stored; when it may have lost the last
/// it asks for a ``resync()``. What is never stored (`apns-expiration: 0`) it brings at most once. What is handed over
/// after ``detach(_:_:)`` does not reach the stream; what was on its way to the stream's loop may, and a stream that has
/// ended sends nothing.
///
/// Pushes and notices for one stream keep the order in which one thread handed them over. Every method returns at once, on
/// any thread, and reaches streams on their loops.
protocol PushRouter: AnyObject, Sendable {
  /// Adds a stream; the number names it for ``detach(_:_:)``, and is never given out again. Call it on the stream's loop,
  /// before the mailbox is read: what is appended afterwards, by whichever gateway, is then told here or found there.
  func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64
  func detach(_ device: DeviceID, _ number: UInt64)
  /// How many streams of a device are open, as far as this gateway knows; for people to read.
  func count(of device: DeviceID) -> Int
  /// Whether the device of each push has a stream open, as far as this gateway knows; for the words of the delivery log.
  func areConnected(_ entries: [MailboxEntry]) -> [Bool]
  /// Hands pushes that were stored to the streams of their devices.
  func deliver(_ entries: [MailboxEntry])
  /// Hands a push that is never stored to the streams of its device that are open now, to each at most once.
  func deliverNow(_ push: StoredPush) -> Handover
  /// Has `body` called with each push that was handed beyond this gateway, on the thread of ``deliverNow(_:)``.
  func onForwarded(_ body: @escaping @Sendable (StoredPush) -> Void)
  /// Tells every stream of a device something, save one.
  func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?)
  /// Has every stream of this gateway read its mailbox again, because signals may have been lost: a router between
  /// gateways does so when its link was broken and is back.
  func resync()
}

extension PushRouter {
  /// A gateway that is alone hands nothing beyond.
  func onForwarded(_ body: @escaping @Sendable (StoredPush) -> Void) {}

  /// Tells every stream of a device something.
  func notify(_ device: DeviceID, _ notice: DeviceNotice) { notify(device, notice, except: nil) }
}
