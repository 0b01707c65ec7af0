import NIOCore
import PushCore
import PushPolicy
import PushStorage

/// The device of a test: always connected, it presents each push as its user's preferences allow, and acknowledges it.
///
/// It decides like the stream of a real device (``DeviceStream``), and writes the same rows of the delivery log. Belongs to
/// the event loop of its parts.
final class VirtualDevice: LiveSubscription {
  private let device: DeviceID
  private let shared: LoopParts
  private let alerts: ShownAlerts
  private var number: UInt64?

  private init(_ device: DeviceID, _ shared: LoopParts) {
    (self.device, self.shared) = (device, shared)
    alerts = shared.parts.conditions.alerts(on: device, at: shared.parts.clock.milliseconds())
  }

  /// Connects a device, which the router retains until it is removed. Call it on the event loop of `shared`.
  static func connect(_ device: DeviceID, _ shared: LoopParts, on loop: any EventLoop) {
    let virtual = VirtualDevice(device, shared)
    virtual.number = shared.parts.router.attach(device, virtual, loop: loop)
  }

  func deliver(_ entry: MailboxEntry) {
    let (push, now) = (entry.push, shared.parts.clock.milliseconds())
    guard !entry.isExpired(at: now), let app = shared.parts.registrations.app(of: push),
      let content = shared.payloads.content(of: push)
    else { return }
    let decision = decide(push, content, of: app, now: now)
    if decision.isAlertCounted { alerts.note(push.id, of: app.id, at: now) }
    if let hold = decision.hold {
      shared.parts.held.add(entry, hold, content.notification, decision.presentation.center)
    }
    shared.log.append(decision.transmitted, keeping: decision.keptText, isForSenders: decision.textReaders == .senders)
    if let suppressed = decision.suppressed { shared.log.append(suppressed) }
    let parts = decision.presentation.presentedParts
    if !parts.isEmpty {
      shared.log.append(push.event(.presented, at: now, detail: .presented(parts.map(\.rawValue))))
    }
    guard entry.seq > 0 else { return }
    shared.parts.mailbox.acknowledge(device, through: entry.seq)
    shared.log.append(push.event(.acknowledged, at: now))
  }

  private func decide(_ push: StoredPush, _ content: PushContent, of app: App, now: Int64) -> DeliveryDecision {
    let registrations = shared.parts.registrations
    let decider = Decider(
      preferences: registrations.preferences(of: device), device: shared.parts.conditions.state(of: device),
      isCatchingUp: false, now: now)
    return decider.decide(
      push, content, of: app, ads: shared.ads,
      recentAlerts: { alerts.count(of: app.id, except: push.id, at: now) },
      actions: { registrations.actions(of: app.id, $0) }, isQuestion: { registrations.isQuestion(app.id, $0) })
  }

  func notify(_ notice: DeviceNotice) {
    guard case .revoked = notice, let number else { return }
    self.number = nil
    shared.parts.router.detach(device, number)
  }

  func flush() {}
  // Only the router of a cluster calls this.
  func resync() {}
}
