import NIOCore

@testable import PushCluster
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Counts over all devices.
final class ScaleTallies: Sendable {
  let caughtUp = Tally()
  let delivered = Tally()
  let broadcasts = Tally()
}

/// A connected device: the state machine of its stream, without a socket. It receives at once.
///
/// All calls happen on its event loop, so its state has no lock.
final class ScaleDevice: LiveSubscription, BroadcastReceiver, @unchecked Sendable {
  let id: DeviceID
  private let loop: any EventLoop
  private let tallies: ScaleTallies
  private var gateway: ScaleGateway?
  private var state = DeviceStreamState()
  private var number: UInt64 = 0

  init(_ id: DeviceID, loop: any EventLoop, _ tallies: ScaleTallies) {
    (self.id, self.loop, self.tallies) = (id, loop, tallies)
  }

  /// Connects to a gateway and continues after the last push that it has received.
  func connect(to gateway: ScaleGateway) {
    let cursor = state.cursor
    state = DeviceStreamState()
    self.gateway = gateway
    number = gateway.router.attach(id, self, loop: loop)
    for action in state.hello(cursor: cursor) { perform(action) }
  }

  private func perform(_ action: DeviceStreamState.Action) {
    switch action {
    case .read(let seq): read(after: seq)
    case .send(let entry):
      tallies.delivered.add()
      if entry.seq > 0 { perform(state.acknowledged(entry.seq)) }
    case .announceCaughtUp: tallies.caughtUp.add()
    case .acknowledge(let seq): gateway?.mailbox.acknowledge(id, through: seq)
    case .drop, .announceGap: break
    }
  }

  private func read(after seq: UInt64) {
    guard let gateway else { return }
    Task { [self, id, loop] in
      let found = try? await gateway.mailbox.pending(for: id, after: seq, limit: Limits.pendingBatch)
      loop.execute { self.take(found, from: gateway) }
    }
  }

  private func take(_ found: PendingPushes?, from gateway: ScaleGateway) {
    guard let found, gateway === self.gateway else { return }
    for action in state.found(found) { perform(action) }
    if let action = state.performed(found, hasCapacity: true) { perform(action) }
  }

  // MARK: Called by the router

  func deliver(_ entry: MailboxEntry) {
    if let action = state.stored(entry, hasCapacity: true) { perform(action) }
  }

  func resync() { if let action = state.resync() { perform(action) } }
  func notify(_ notice: DeviceNotice) {}
  func deliver(_ message: BroadcastMessage) { tallies.broadcasts.add() }
  func pack() {}
  func flush() {}
}
