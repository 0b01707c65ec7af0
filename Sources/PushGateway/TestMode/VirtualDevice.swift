import GatewayProtocol
import NIOCore
import PushCore
import PushPolicy
import PushStorage

/// The device of a test: always connected, it presents each push as its user's preferences allow, and acknowledges it.
///
/// It decides like the stream of a real device (``DeviceStream``), and writes the same rows of the delivery log. Each broadcast
/// to one of its channels is recorded as a push to its token. Belongs to the event loop of its parts.
final class VirtualDevice: LiveSubscription, BroadcastReceiver {
  private let device: DeviceID
  private let shared: LoopParts
  private let recorder: PushRecorder
  private let alerts: ShownAlerts
  private let channels: ChannelReceiver
  private var number: UInt64?

  private init(_ device: DeviceID, _ shared: LoopParts, _ recorder: PushRecorder, on loop: any EventLoop) {
    (self.device, self.shared, self.recorder) = (device, shared, recorder)
    alerts = shared.parts.conditions.alerts(on: device, at: shared.parts.clock.milliseconds())
    channels = ChannelReceiver(device: device, shared, loop: loop)
  }

  /// Connects a device, which the router retains until it is removed. Call it on the event loop of `shared`.
  ///
  /// - Parameter recorder: gets the broadcasts to the device.
  static func connect(_ device: DeviceID, _ shared: LoopParts, _ recorder: PushRecorder, on loop: any EventLoop) {
    let virtual = VirtualDevice(device, shared, recorder, on: loop)
    let number = shared.parts.router.attach(device, virtual, loop: loop)
    virtual.number = number
    virtual.channels.begin(virtual, number: number)
    virtual.receiveDueBroadcasts()
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
    let parts = decision.presentation.parts
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
    guard let number else { return }
    switch notice {
    case .channels:
      channels.refresh()
      receiveDueBroadcasts()
    case .revoked:
      self.number = nil
      channels.end()
      shared.parts.router.detach(device, number)
    default: break
    }
  }

  // MARK: Broadcasts

  func deliver(_ message: BroadcastMessage) { receive(message, fromStorage: false) }

  /// Receives the stored messages that the device has not received.
  private func receiveDueBroadcasts() {
    for message in channels.due(now: shared.parts.clock.milliseconds()) { receive(message, fromStorage: true) }
  }

  private func receive(_ message: BroadcastMessage, fromStorage: Bool) {
    guard channels.takes(message, fromStorage: fromStorage) else { return }
    let registrations = shared.parts.registrations.registrations(of: device)
    if let (registration, _) = registrations.first(where: { $0.0.app == message.app }) {
      recorder.add(broadcast: message.id, to: registration.token.hex, of: device)
    }
    let push = message.push(to: device)
    deliver(MailboxEntry(seq: 0, push: push))
    guard message.number > 0, channels.acknowledge(message.channel, message.number) != nil else { return }
    let detail: DeliveryDetail = fromStorage ? .fact(.fromStorage) : .nothing
    shared.log.append(push.event(.acknowledged, at: shared.parts.clock.milliseconds(), detail: detail))
  }

  func pack() {}
  func flush() {}
  // Only the router of a cluster calls this.
  func resync() {}
}
