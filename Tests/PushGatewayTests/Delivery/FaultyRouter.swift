import NIOCore
import PushTesting
import Synchronization

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// A router with a fault that is planted: what is held against ``RouterConformance`` has to be found out by it.
final class FaultyRouter: PushRouter {
  enum Fault: CaseIterable {
    /// A stream is known only when two deliveries have gone by since it attached.
    case attachesLate
    /// Nothing that was stored is told.
    case losesDeliveries
    /// Of what was stored every other delivery is lost, the first to begin with.
    case losesEveryOther
    /// What is never stored comes twice.
    case repeatsDeliveringNow
    /// What is never stored comes also to the next stream of the device.
    case keepsWhatIsNeverStored
    /// Says that a stream took what none did.
    case claimsHandover
    /// A stream that has gone is not forgotten.
    case forgetsNobody
    /// Only a device's first stream hears.
    case knowsOneStream
    /// The newest comes first.
    case reversesOrder
    /// What is told arrives only when something else has been delivered.
    case notifiesLate
    /// What is told is told to all.
    case leavesNobodyOut
    /// Nobody is asked to read again.
    case neverResyncs

    /// The check that has to find it, whichever others do.
    var finder: String {
      switch self {
      case .attachesLate: "what was appended before attaching is found by reading"
      case .losesDeliveries, .losesEveryOther: "what is handed over after attaching is told"
      case .repeatsDeliveringNow, .keepsWhatIsNeverStored: "what is never stored comes to each stream once"
      case .claimsHandover: "it is known where what is never stored went"
      case .forgetsNobody: "nothing comes after detaching"
      case .knowsOneStream: "each stream of a device gets what is its device's"
      case .reversesOrder: "order is kept"
      case .notifiesLate: "a notice keeps its place among pushes"
      case .leavesNobodyOut: "one stream can be left out of what is told"
      case .neverResyncs: "every stream is asked to read again"
      }
    }
  }

  private let registry: any PushRouter
  private let fault: Fault
  private let losesNext = Mutex(true)
  private let pending = Mutex<[(device: DeviceID, notice: DeviceNotice, except: UInt64?)]>([])
  private let kept = Mutex<[StoredPush]>([])
  /// Streams that are not known yet, and how many deliveries they still miss.
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

  /// A delivery has gone by.
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

  /// Something has been delivered.
  private func notifyLate() {
    let pending = pending.withLock { pending in
      defer { pending = [] }
      return pending
    }
    for (device, notice, number) in pending { registry.notify(device, notice, except: number) }
  }

  func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {
    if fault == .notifiesLate { return pending.withLock { $0.append((device, notice, number)) } }
    registry.notify(device, notice, except: fault == .leavesNobodyOut ? nil : number)
  }

  func resync() {
    if fault != .neverResyncs { registry.resync() }
  }
}
