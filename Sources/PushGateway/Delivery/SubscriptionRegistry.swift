import NIOCore
import Synchronization

/// A device's stream that is open now. Its methods are called on its loop.
protocol LiveSubscription: AnyObject {
  /// A push was accepted for the device: it is sent when this turn ends, or found in the mailbox later.
  func deliver(_ entry: MailboxEntry)
  /// What was delivered is all that comes for now, and leaves at once.
  func flush()
  /// Something else that the device is to be told.
  func tell(_ notice: DeviceNotice)
}

/// What a device is told besides pushes.
enum DeviceNotice: Sendable {
  /// The push is not to be shown any longer: answered elsewhere, or replaced.
  case retract(APNSID)
  /// The person's choices, as JSON.
  case preferences([UInt8])
  /// The device subscribes to other channels than before.
  case channels
}

/// Brings what was accepted to the streams of its device, wherever they are open. Within one process that is
/// ``SubscriptionRegistry``; between gateways another may do it.
///
/// It is a signal and no promise: what is stored is found in the mailbox by a stream that attached before it read, so a
/// router may lose or repeat a delivery of what is stored. What is never stored (`apns-expiration: 0`) it brings at most once.
protocol PushRouter: AnyObject, Sendable {
  /// Adds a stream; the number names it for ``detach(_:_:)``. Call it on the stream's loop, before the mailbox is read:
  /// what is appended afterwards is then either told here or found there.
  func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64
  func detach(_ device: DeviceID, _ number: UInt64)
  /// How many streams a device has open.
  func count(of device: DeviceID) -> Int
  /// Whether the device of each push has a stream open.
  func areConnected(_ entries: [MailboxEntry]) -> [Bool]
  /// Hands accepted pushes to the streams of their devices.
  func deliver(_ entries: [MailboxEntry])
  /// Tells every stream of a device something, save one.
  func tell(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?)
}

extension PushRouter {
  /// Tells every stream of a device something.
  func tell(_ device: DeviceID, _ notice: DeviceNotice) { tell(device, notice, except: nil) }
}

/// Which device is connected, and on which loop of this process.
final class SubscriptionRegistry: PushRouter {
  private struct Entry {
    var number: UInt64
    var subscription: NIOLoopBound<any LiveSubscription>
  }

  private struct State {
    var live: [DeviceID: [Entry]] = [:]
    var lastNumber: UInt64 = 0
  }

  private let state = Mutex(State())

  func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64 {
    let bound = NIOLoopBound(subscription, eventLoop: loop)
    return state.withLock { state in
      state.lastNumber += 1
      state.live[device, default: []].append(Entry(number: state.lastNumber, subscription: bound))
      return state.lastNumber
    }
  }

  func detach(_ device: DeviceID, _ number: UInt64) {
    state.withLock { state in
      state.live[device]?.removeAll { $0.number == number }
      if state.live[device]?.isEmpty == true { state.live[device] = nil }
    }
  }

  func count(of device: DeviceID) -> Int { state.withLock { $0.live[device]?.count ?? 0 } }

  func areConnected(_ entries: [MailboxEntry]) -> [Bool] {
    state.withLock { state in
      if state.live.isEmpty { return [Bool](repeating: false, count: entries.count) }
      return entries.map { state.live[$0.push.device] != nil }
    }
  }

  private struct Delivery {
    var target: Entry
    var place: Int
    var entry: MailboxEntry
  }

  /// Hands accepted pushes to the streams of their devices, with one hop per loop.
  ///
  /// Stream by stream: each is served and flushed while what belongs to it is near, and all that is for it leaves
  /// together. Going through a thousand streams twice costs far more than sorting.
  func deliver(_ entries: [MailboxEntry]) {
    var byLoop: [ObjectIdentifier: [Delivery]] = [:]
    state.withLock { state in
      guard !state.live.isEmpty else { return }
      for (place, entry) in entries.enumerated() {
        for target in state.live[entry.push.device] ?? [] {
          byLoop[ObjectIdentifier(target.subscription.eventLoop), default: []]
            .append(Delivery(target: target, place: place, entry: entry))
        }
      }
    }
    for var deliveries in byLoop.values {
      deliveries.sort { ($0.target.number, $0.place) < ($1.target.number, $1.place) }
      deliveries.first?.target.subscription.eventLoop.execute { [deliveries] in
        for (index, delivery) in deliveries.enumerated() {
          let subscription = delivery.target.subscription.value
          subscription.deliver(delivery.entry)
          let isLast = index + 1 == deliveries.count || deliveries[index + 1].target.number != delivery.target.number
          if isLast { subscription.flush() }
        }
      }
    }
  }

  func tell(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {
    let targets = state.withLock { $0.live[device]?.filter { $0.number != number } ?? [] }
    for target in targets {
      target.subscription.eventLoop.execute { target.subscription.value.tell(notice) }
    }
  }
}
