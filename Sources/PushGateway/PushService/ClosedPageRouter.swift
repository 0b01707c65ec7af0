import NIOCore
import PushCore
import PushStorage

/// The router of the storage backend, which also passes on the pushes for closed pages.
final class ClosedPageRouter: PushRouter {
  private let streams: any PushRouter
  private let pages: ClosedPages

  init(_ streams: any PushRouter, _ pages: ClosedPages) { (self.streams, self.pages) = (streams, pages) }

  func deliver(_ entries: [MailboxEntry]) {
    streams.deliver(entries)
    if pages.hasSubscriptions { pages.note(entries) }
  }

  func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {
    streams.notify(device, notice, except: number)
    guard pages.hasSubscriptions else { return }
    switch notice {
    case .answered(let id, _), .takenBack(let id, _): pages.retract(id, on: device)
    // A replaced push needs no message: its notification has the tag of the new one.
    case .retract, .preferences, .acknowledged, .channels, .revoked, .cutOff: break
    }
  }

  func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64 {
    streams.attach(device, subscription, loop: loop)
  }

  func detach(_ device: DeviceID, _ number: UInt64) { streams.detach(device, number) }
  func count(of device: DeviceID) -> Int { streams.count(of: device) }
  func areConnected(_ entries: [MailboxEntry]) -> [Bool] { streams.areConnected(entries) }
  func deliverNow(_ push: StoredPush) -> Handover { streams.deliverNow(push) }
  func onForwarded(_ body: @escaping @Sendable (StoredPush) -> Void) { streams.onForwarded(body) }
  func resync() { streams.resync() }
}
