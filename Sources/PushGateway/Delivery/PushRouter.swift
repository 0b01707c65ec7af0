import GatewayProtocol
import NIOCore
import PushCore
import PushStorage

/// An open stream of a device. Its methods are called on its event loop.
protocol LiveSubscription: AnyObject {
  /// Accepts a push for the device. The stream sends it at the next ``flush()``, or reads it from the mailbox later.
  func deliver(_ entry: MailboxEntry)
  /// Sends the delivered pushes and notices at once: no more follow for now.
  func flush()
  func notify(_ notice: DeviceNotice)
  /// Reads the mailbox again, because the delivery of a stored push may have been lost.
  func resync()
}

/// A message to a device other than a push.
enum DeviceNotice: Sendable {
  /// The push must no longer be shown: it was replaced, has expired or was retracted.
  case retract(APNSID)
  /// The push must no longer be shown: it was answered on another device.
  case answered(APNSID, GivenAnswer)
  /// The sender of this push of an app retracted it.
  case takenBack(APNSID, topic: String)
  /// The user's preferences, as JSON.
  case preferences([UInt8])
  /// The device has reported in a request that it has stored all pushes up to this number: for the delivery log.
  case acknowledged(UInt64)
  /// The device's channel subscriptions have changed.
  case channels
  /// The device's secret was revoked: its streams end.
  case revoked
  /// This gateway can't read the device's mailbox, but another one can: the streams end and name the others.
  case cutOff
}

/// The result of handing over a push that is never stored.
enum Handover: Sendable, Equatable {
  /// At least one stream of this gateway got the push; this gateway logs the delivery events.
  case delivered
  /// Other gateways got the push. One that has a stream of the device logs the delivery events; possibly none has
  /// one.
  case forwarded
  /// No gateway has an open stream of the device.
  case notConnected
}

/// Delivers accepted pushes to the open streams of their devices. Within one process the router is
/// ``DeviceStreamRegistry``; between gateways it may be another type. `RouterConformance` specifies the requirements.
///
/// A delivery is a signal without a durability guarantee. A stream finds stored pushes in the mailbox: it attaches
/// before it reads, and reads again when it misses a number. So a router may lose or repeat the delivery of a stored
/// push; when it may have lost the last one, it calls ``resync()``. It delivers a push that is never stored
/// (`apns-expiration: 0`) at most once. Items that are handed over after ``detach(_:_:)`` do not reach the stream.
/// Items that are in transit to the stream's event loop may reach it, and a stream that has ended sends nothing.
///
/// Pushes and notices for one stream keep the order in which one thread handed them over. Every method returns at
/// once, on any thread, and calls streams on their event loops.
protocol PushRouter: AnyObject, Sendable {
  /// Adds a stream; returns its unique number for ``detach(_:_:)``. Must be called on the stream's event loop, before
  /// the mailbox is read: pushes that any gateway appends afterwards are then delivered or found in the mailbox.
  func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64
  func detach(_ device: DeviceID, _ number: UInt64)
  /// Returns the number of open streams of a device, as far as this gateway can determine: for display, and for the
  /// limit of streams per device.
  func count(of device: DeviceID) -> Int
  /// Returns, for each push, true if its device has an open stream, as far as this gateway can determine; for the
  /// delivery log.
  func areConnected(_ entries: [MailboxEntry]) -> [Bool]
  /// Hands stored pushes to the streams of their devices.
  func deliver(_ entries: [MailboxEntry])
  /// Hands a push that is never stored to the open streams of its device, to each at most once.
  func deliverNow(_ push: StoredPush) -> Handover
  /// Registers a handler for pushes that were forwarded to other gateways; called on the thread of
  /// ``deliverNow(_:)``.
  func onForwarded(_ body: @escaping @Sendable (StoredPush) -> Void)
  /// Sends a notice to every stream of a device except one.
  func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?)
  /// Makes every stream of this gateway read its mailbox again, because signals may have been lost. A router between
  /// gateways calls it when its link was down and is restored.
  func resync()
}

extension PushRouter {
  /// Does nothing: a standalone gateway forwards no pushes.
  func onForwarded(_ body: @escaping @Sendable (StoredPush) -> Void) {}

  /// Sends a notice to every stream of a device.
  func notify(_ device: DeviceID, _ notice: DeviceNotice) { notify(device, notice, except: nil) }
}
