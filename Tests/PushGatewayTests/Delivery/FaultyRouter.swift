import NIOCore
import PushTesting
import Synchronization

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// A router with an injected fault, which the checks of ``RouterConformance`` have to detect.
final class FaultyRouter: PushRouter {
  enum Fault: CaseIterable {
    /// A stream is attached only after two further deliveries.
    case attachesLate
    /// Stored pushes are not delivered.
    case losesDeliveries
    /// Every other stored push is lost, beginning with the first.
    case losesEveryOther
    /// A push that is never stored is delivered twice.
    case repeatsDeliveringNow
    /// A push that is never stored is also delivered to the next stream of the device.
    case keepsWhatIsNeverStored
    /// Reports that a stream took a push although none did.
    case claimsHandover
    /// A detached stream stays registered.
    case forgetsNobody
    /// Only the first stream of a device receives pushes.
    case knowsOneStream
    /// The newest push is delivered first.
    case reversesOrder
    /// A notice is delivered only after the next delivery of a push.
    case notifiesLate
    /// A notice is delivered to all streams, without its exception.
    case leavesNobodyOut
    /// An acknowledgement is not delivered.
    case losesAcknowledgements
    /// No stream is asked to read again.
    case neverResyncs

    /// The name of the check that has to detect the fault. Other checks may detect it too.
    var finder: String {
      switch self {
      case .attachesLate: "what was appended before attaching is found by reading"
      case .losesDeliveries, .losesEveryOther: "what is handed over after attaching is told"
      case .repeatsDeliveringNow, .keepsWhatIsNeverStored: "what is never stored comes to each stream once"
      case .claimsHandover: "it is known where what is never stored went"
      case .forgetsNobody: "nothing comes after detaching"
      case .knowsOneStream: "each stream of a device gets what is its device's"
      case .reversesOrder: "order is kept"
      case .notifiesLate: "a notice keeps its position among pushes"
      case .leavesNobodyOut: "one stream can be left out of what is told"
      case .losesAcknowledgements: "an acknowledgement comes to every stream of its device"
      case .neverResyncs: "every stream is asked to read again"
      }
    }
  }

  private let registry: any PushRouter
  private let fault: Fault
  private let losesNext = Mutex(true)
  private let pending = Mutex<[(device: DeviceID, notice: DeviceNotice, except: UInt64?)]>([])
  private let kept = Mutex<[StoredPush]>([])
  /// Streams that are not attached yet, and the number of deliveries that each still misses.
  private let late = Mutex<[(missing: Int, attach: @Sendable () -> Void)]>([])

  init(_ fault: Fault, _ registry: any PushRouter = DeviceStreamRegistry()) {
    (self.fault, self.registry) = (fault, registry)
  }

  func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64 {
    switch fault {
    case .attachesLate:
      let bound = NIOLoopBound(subscription, eventLoop: loop)
      late.withLock {
        $0.append((2, { [registry] in loop.execute { _ = registry.attach(device, bound.value, loop: loop) } }))
      }
      return 0
    case .knowsOneStream where registry.count(of: device) > 0: return .max
    default: break
    }
    let number = registry.attach(device, subscription, loop: loop)
    for push in kept.withLock({ $0 }) where push.device == device { _ = registry.deliverNow(push) }
    return number
  }

  func detach(_ device: DeviceID, _ number: UInt64) {
    if fault != .forgetsNobody { registry.detach(device, number) }
  }

  func count(of device: DeviceID) -> Int { registry.count(of: device) }
  func areConnected(_ entries: [MailboxEntry]) -> [Bool] { registry.areConnected(entries) }

  func deliver(_ entries: [MailboxEntry]) {
    defer {
      attachLate()
      notifyLate()
    }
    switch fault {
    case .losesDeliveries: break
    case .losesEveryOther:
      let isLost = losesNext.withLock { next in
        defer { next.toggle() }
        return next
      }
      if !isLost { registry.deliver(entries) }
    case .reversesOrder: registry.deliver(entries.reversed())
    default: registry.deliver(entries)
    }
  }

  /// Counts a delivery and attaches the streams that are due.
  private func attachLate() {
    let due = late.withLock { late in
      for index in late.indices { late[index].missing -= 1 }
      defer { late.removeAll { $0.missing == 0 } }
      return late.filter { $0.missing == 0 }
    }
    for stream in due { stream.attach() }
  }

  func deliverNow(_ push: StoredPush) -> Handover {
    switch fault {
    case .repeatsDeliveringNow: _ = registry.deliverNow(push)
    case .keepsWhatIsNeverStored: kept.withLock { $0.append(push) }
    case .claimsHandover:
      _ = registry.deliverNow(push)
      return .delivered
    default: break
    }
    return registry.deliverNow(push)
  }

  /// Sends the delayed notices after a delivery.
  private func notifyLate() {
    let pending = pending.withLock { pending in
      defer { pending = [] }
      return pending
    }
    for (device, notice, number) in pending { registry.notify(device, notice, except: number) }
  }

  func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {
    if fault == .notifiesLate { return pending.withLock { $0.append((device, notice, number)) } }
    if fault == .losesAcknowledgements, case .acknowledged = notice { return }
    registry.notify(device, notice, except: fault == .leavesNobodyOut ? nil : number)
  }

  func resync() {
    if fault != .neverResyncs { registry.resync() }
  }
}
