import GatewayProtocol
import NATSClient
import NIOCore
import PushCluster
import PushCore
import PushStorage
import Synchronization

/// Delivers pushes that any gateway of a cluster accepted to the streams that are open on this one.
///
/// JetStream republishes each stored message of a mailbox on a subject, to which this gateway subscribes while the
/// device has a stream here. Such a signal may be lost: a stream that misses one reads its mailbox when the next
/// arrives. The loss of the last signal goes unnoticed, so JetStream is periodically (``lookInterval``) asked which
/// devices have pushes, and their streams read their mailboxes.
final class ClusterRouter: PushRouter {
  private struct Listening {
    /// The numbers of the streams: a stream that is detached twice does not remove another one.
    var streams: Set<UInt64> = []
    /// The round of the latest attachment; see ``look()``.
    var since: Int
    /// The partition of the device's mailbox.
    let partition: Int
    var cancel: (@Sendable () -> Void)?
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
  /// The id of this gateway in its messages, so that it ignores its own.
  private let origin: String
  /// Called with pushes that were forwarded to other gateways.
  private let forwarded = Mutex<(@Sendable (StoredPush) -> Void)?>(nil)
  private let state = Mutex(State())

  /// The number of rounds after an attachment until the first look. A broker that lags behind the signals sent before
  /// the attachment may answer the stream's read, and the look finds the pushes that it missed.
  private static let firstLook = 2
  /// The number of rounds between two looks at a device's mailbox. The mailboxes of a partition are looked at
  /// together.
  private static let lookInterval = 45

  /// - Parameter partitions: the number of partitions of the mailbox.
  init(_ transport: any NATSTransport, mailbox: JetStreamMailbox, partitions: Int, origin: String) {
    (self.transport, self.mailbox, self.partitions, self.origin) = (transport, mailbox, partitions, origin)
    transport.onLink { [weak self] link in
      switch link {
      case .reconnected, .slowConsumer: self?.resync()
      case .connected, .disconnected: break
      }
    }
  }

  /// Starts the rounds that find pushes whose signal was lost, one second apart.
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
    for listening in devices.values { listening.cancel?() }
  }

  /// Runs one round of the search for pushes whose signal was lost.
  func look() async {
    let devices = state.withLock { state in
      state.round += 1
      return state.devices.compactMap { device, listening -> DeviceID? in
        let age = state.round - listening.since
        let turn = listening.partition * ClusterRouter.lookInterval / partitions
        let isTurn = state.round % ClusterRouter.lookInterval == turn
        return age == ClusterRouter.firstLook || (age > ClusterRouter.firstLook && isTurn) ? device : nil
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
      // The subscription precedes the stream's read, so that no push is missed between the two.
      if listening.cancel == nil {
        listening.cancel = try? transport.subscribe(
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
    let ended = state.withLock { state -> (@Sendable () -> Void)? in
      guard var listening = state.devices[device] else { return nil }
      listening.streams.remove(number)
      state.devices[device] = listening.streams.isEmpty ? nil : listening
      return listening.streams.isEmpty ? listening.cancel : nil
    }
    ended?()
  }

  func count(of device: DeviceID) -> Int { local.count(of: device) }

  /// Returns true for each push: streams on other gateways are unknown, so no push is logged as having no connected
  /// device.
  func areConnected(_ entries: [MailboxEntry]) -> [Bool] { entries.map { _ in true } }

  func resync() { local.resync() }

  /// Sends a notice to all streams of this gateway.
  func notifyAll(_ notice: DeviceNotice) { local.notifyAll(notice) }

  // MARK: To other gateways

  /// Does nothing: JetStream delivers stored pushes, also to the streams of this gateway.
  func deliver(_ entries: [MailboxEntry]) {}

  func deliverNow(_ push: StoredPush) -> Handover {
    let handover = local.deliverNow(push)
    let message = EphemeralMessages.message(of: push)
    transport.publish(
      JetStreamMailbox.liveSubject(push.device, partitions: partitions),
      headers: message.headers + [(name: ClusterRouter.originHeader, value: origin)],
      message.body)
    if handover == .delivered { return .delivered }
    forwarded.withLock { $0 }?(push)
    return .forwarded
  }

  func onForwarded(_ body: @escaping @Sendable (StoredPush) -> Void) { forwarded.withLock { $0 = body } }

  func notify(_ device: DeviceID, _ notice: DeviceNotice, except number: UInt64?) {
    local.notify(device, notice, except: number)
    // Preferences, channels and secrets are shared: each gateway notifies its own streams when it learns of a change.
    guard let notice = ClusterNotice(notice) else { return }
    transport.publish(
      JetStreamMailbox.liveSubject(device, partitions: partitions),
      headers: [
        (name: ClusterRouter.originHeader, value: origin), (name: ClusterRouter.noticeHeader, value: notice.header),
      ] + (notice.answerHeader.map { [(name: ClusterRouter.answerHeader, value: $0)] } ?? []), [])
  }

  // MARK: From other gateways

  private static let originHeader = "Gateway"
  private static let noticeHeader = "Notice"
  private static let answerHeader = "Answer"

  private func take(_ message: NATSMessage, for device: DeviceID) {
    if let entry = mailbox.entry(live: message, of: device) { return local.deliver([entry]) }
    guard let sender = message.header(ClusterRouter.originHeader), sender != origin else { return }
    if let text = message.header(ClusterRouter.noticeHeader) {
      if let notice = ClusterNotice(header: text, answerHeader: message.header(ClusterRouter.answerHeader)) {
        local.notify(device, notice.notice)
      }
    } else if let push = EphemeralMessages.push(of: message, to: device) {
      _ = local.deliverNow(push)
    }
  }
}
