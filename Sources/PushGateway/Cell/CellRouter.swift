import GatewayProtocol
import NATSClient
import NIOCore
import PushCluster
import PushCore
import PushStorage
import Synchronization

/// Brings what was accepted, at whichever gateway of a cell, to the streams that are open at this one.
///
/// What is stored comes from the engine, which publishes each message of a mailbox again on the subject that this gateway
/// listens to while the device has a stream here. That is a signal which may be lost: a stream that misses one reads its
/// mailbox when the next comes. Since nobody notices the last, the engine is asked from time to time (``lookInterval``)
/// who has a push, and those read their mailboxes.
final class CellRouter: PushRouter {
  private struct Listening {
    /// By their numbers: a stream that goes twice takes no other with it.
    var streams: Set<UInt64> = []
    /// In rounds; see ``run()``.
    var since: Int
    /// Of its mailbox.
    let partition: Int
    var subscription: (any EngineSubscription)?
  }

  private struct State {
    var devices: [DeviceID: Listening] = [:]
    var round = 0
    var work: Task<Void, Never>?
  }

  private let local = DeviceStreamRegistry()
  private let transport: any NATSTransport
  private let mailbox: JetStreamMailbox
  private let partitions: Int
  /// Of this gateway, so that what it tells others does not come back.
  private let origin: String
  /// Hears of what was handed to other gateways.
  private let beyond = Mutex<(@Sendable (StoredPush) -> Void)?>(nil)
  private let state = Mutex(State())

  /// A read may be answered by a broker that lags behind what was told before the stream attached: what it may have missed
  /// is looked for after so many rounds, of a second each.
  private static let firstLook = 2
  /// Between two looks at a device's mailbox are so many rounds. Those of a partition are looked at together.
  private static let lookInterval = 45

  /// - Parameter partitions: of the mailbox.
  init(_ transport: any NATSTransport, mailbox: JetStreamMailbox, partitions: Int, origin: String) {
    (self.transport, self.mailbox, self.partitions, self.origin) = (transport, mailbox, partitions, origin)
    transport.onLink { [weak self] link in
      switch link {
      case .reconnected, .slowConsumer: self?.resync()
      case .connected, .disconnected: break
      }
    }
  }

  /// Begins to look for what nobody told of.
  func start() {
    let work = Task { [weak self] in
      while !Task.isCancelled, let self {
        await look()
        try? await Task.sleep(for: .seconds(1))
      }
    }
    state.withLock { $0.work = work }
  }

  func stop() {
    let (work, devices) = state.withLock { ($0.work, $0.devices) }
    work?.cancel()
    for listening in devices.values { listening.subscription?.cancel() }
  }

  /// One round of looking for what nobody told of; a second is between two.
  func look() async {
    let devices = state.withLock { state in
      state.round += 1
      return state.devices.compactMap { device, listening -> DeviceID? in
        let age = state.round - listening.since
        let turn = listening.partition * CellRouter.lookInterval / partitions
        let isTurn = state.round % CellRouter.lookInterval == turn
        return age == CellRouter.firstLook || (age > CellRouter.firstLook && isTurn) ? device : nil
      }
    }
    guard !devices.isEmpty else { return }
    local.resync(await mailbox.havingPushes(devices))
  }

  // MARK: Streams

  func attach(_ device: DeviceID, _ subscription: any LiveSubscription, loop: any EventLoop) -> UInt64 {
    let number = local.attach(device, subscription, loop: loop)
    state.withLock { state in
      var listening = state.devices[device] ?? Listening(since: state.round, partition: mailbox.partition(of: device))
      listening.since = state.round
      listening.streams.insert(number)
      // What the stream reads is asked for behind this, so that nothing comes between.
      if listening.subscription == nil {
        listening.subscription = try? transport.subscribe(
          JetStreamMailbox.liveSubject(device, partitions: partitions), queue: nil
        ) { [weak self] in
          self?.take($0, for: device)
        }
      }
      state.devices[device] = listening
    }
    return number
  }

  func detach(_ device: DeviceID, _ number: UInt64) {
    local.detach(device, number)
    let ended = state.withLock { state -> (any EngineSubscription)? in
      guard var listening = state.devices[device] else { return nil }
      listening.streams.remove(number)
      state.devices[device] = listening.streams.isEmpty ? nil : listening
      return listening.streams.isEmpty ? listening.subscription : nil
    }
    ended?.cancel()
  }

  func count(of device: DeviceID) -> Int { local.count(of: device) }

  /// Whether a device has a stream elsewhere is not known, so that nobody says that it has none.
  func areConnected(_ entries: [MailboxEntry]) -> [Bool] { entries.map { _ in true } }

  func resync() { local.resync() }

  /// Tells all streams of this gateway.
  func notifyAll(_ notice: DeviceNotice) { local.notifyAll(notice) }

  // MARK: From here

  /// The engine brings what was stored, also to the streams of this gateway.
  func deliver(_ entries: [MailboxEntry]) {}

  func deliverNow(_ push: StoredPush) -> Handover {
    let handover = local.deliverNow(push)
    let message = EphemeralMessages.message(of: push)
    transport.publish(
      JetStreamMailbox.liveSubject(push.device, partitions: partitions),
      headers: message.headers + [(name: CellRouter.originHeader, value: origin)],
      message.body)
    if handover == .delivered { return .delivered }
    beyond.withLock { $0 }?(push)
    return .beyond
  }

  func onForwarded(_ body: @escaping @Sendable (StoredPush) -> Void) { beyond.withLock { $0 = body } }

  func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {
    local.notify(device, notice, except: number)
    // Choices, channels and secrets are shared: each gateway tells its own streams when it knows of a change.
    guard let notice = CellNotice(notice) else { return }
    transport.publish(
      JetStreamMailbox.liveSubject(device, partitions: partitions),
      headers: [
        (name: CellRouter.originHeader, value: origin), (name: CellRouter.noticeHeader, value: notice.header),
      ] + (notice.answerHeader.map { [(name: CellRouter.answerHeader, value: $0)] } ?? []), [])
  }

  // MARK: From others

  private static let originHeader = "Gateway"
  private static let noticeHeader = "Notice"
  private static let answerHeader = "Answer"

  private func take(_ message: NATSMessage, for device: DeviceID) {
    if let entry = mailbox.entry(live: message, of: device) { return local.deliver([entry]) }
    guard let sender = message.header(CellRouter.originHeader), sender != origin else { return }
    if let text = message.header(CellRouter.noticeHeader) {
      if let notice = CellNotice(header: text, answerHeader: message.header(CellRouter.answerHeader)) {
        local.notify(device, notice.notice)
      }
    } else if let push = EphemeralMessages.push(of: message, to: device) {
      _ = local.deliverNow(push)
    }
  }
}
