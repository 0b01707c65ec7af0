import Dispatch
package import PushCore
package import PushStorage
import Synchronization

/// The contract of the mailbox as a simple model in memory. It shares no code with the real one, so that each is a
/// check on the other.
package final class MemoryMailbox: Mailbox {
  fileprivate struct DeviceQueue: Sendable {
    var lastSeq: UInt64 = 0
    var acknowledged: UInt64 = 0
    var entries: [MailboxEntry] = []
    var gap: MailboxGap?
  }

  fileprivate struct Key: Hashable, Sendable {
    var device: DeviceID
    var app: AppID
    var id: APNSID
  }

  fileprivate struct State: Sendable {
    fileprivate var deviceQueues: [DeviceID: DeviceQueue] = [:]
    /// The ids of senders, and the time in seconds since 1970 until which they are remembered after their push was
    /// removed.
    fileprivate var known: [Key: Int64] = [:]
  }

  private let state: Mutex<State>
  private let cap: Int
  private let clock: TestClock
  private let removed: @Sendable ([MailboxRemoval]) -> Void
  /// The queue for all operations, in order.
  private let queue = DispatchQueue(label: "memory mailbox")

  package convenience init(cap: Int = 10_000, clock: TestClock, removed: @escaping @Sendable ([MailboxRemoval]) -> Void)
  {
    self.init(State(), cap: cap, clock: clock, removed: removed)
  }

  private init(_ state: State, cap: Int, clock: TestClock, removed: @escaping @Sendable ([MailboxRemoval]) -> Void) {
    self.state = Mutex(state)
    self.cap = cap
    self.clock = clock
    self.removed = removed
  }

  /// Returns the mailbox that a later process would open if the memory were a disk.
  package func reopened(removed: @escaping @Sendable ([MailboxRemoval]) -> Void) -> MemoryMailbox {
    queue.sync { MemoryMailbox(state.withLock { $0 }, cap: cap, clock: clock, removed: removed) }
  }

  package func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void) {
    change { [cap, clock] state, removals in
      let now = clock.seconds
      return pushes.map { state.append($0, cap: cap, now: now, &removals) }
    } then: {
      completion($0)
    }
  }

  package func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes {
    await withCheckedContinuation { continuation in
      change { [clock] state, _ in
        state.pending(device, after: seq, limit: limit, now: clock.seconds)
      } then: {
        continuation.resume(returning: $0)
      }
    }
  }

  package func acknowledge(_ device: DeviceID, through seq: UInt64) {
    change { [clock] state, _ in state.acknowledge(device, through: seq, now: clock.seconds) }
  }

  package func purge(_ devices: [DeviceID], app: AppID?, completion: @escaping @Sendable (Bool) -> Void) {
    change { [clock] state, removals in
      for device in devices {
        state.remove(.unregistered, of: device, now: clock.seconds, &removals) { app == nil || $0.app == app }
      }
    } then: {
      completion(true)
    }
  }

  package func retract(
    _ id: APNSID, app: AppID?, from devices: [DeviceID], completion: @escaping @Sendable (Bool) -> Void
  ) {
    change { [clock] state, removals in
      for device in devices {
        state.remove(.retracted, of: device, now: clock.seconds, &removals) {
          $0.id == id && (app == nil || $0.app == app)
        }
      }
    } then: {
      completion(true)
    }
  }

  package func discard(_ device: DeviceID, seq: UInt64) {
    change { [clock] state, removals in
      guard let push = state.push(seq, of: device) else { return }
      state.remove(.undeliverable, of: device, now: clock.seconds, &removals) { $0 === push }
    }
  }

  package func expire(now: Int64) {
    change { state, removals in
      for device in state.devices { state.remove(.expired, of: device, now: now, &removals) { $0.expires <= now } }
    }
  }

  package var problem: HealthProblem? { nil }

  package func waitingCount(for device: DeviceID) -> Int { state.withLock { $0.count(device) } }

  private func change<Value: Sendable>(
    _ body: @escaping @Sendable (inout State, inout [MailboxRemoval]) -> Value,
    then: @escaping @Sendable (Value) -> Void = { _ in }
  ) {
    queue.async { [self] in
      let (value, removals) = state.withLock { state -> (Value, [MailboxRemoval]) in
        var removals: [MailboxRemoval] = []
        let value = body(&state, &removals)
        return (value, removals)
      }
      if !removals.isEmpty { removed(removals) }
      then(value)
    }
  }
}

extension MemoryMailbox.State {
  package var devices: [DeviceID] { Array(deviceQueues.keys) }

  package func count(_ device: DeviceID) -> Int { deviceQueues[device]?.entries.count ?? 0 }

  package func push(_ seq: UInt64, of device: DeviceID) -> StoredPush? {
    deviceQueues[device]?.entries.first { $0.seq == seq }?.push
  }

  package mutating func append(
    _ push: StoredPush, cap: Int, now: Int64, _ removals: inout [MailboxRemoval]
  ) -> AppendOutcome {
    let waiting = deviceQueues[push.device]?.entries.map(\.push) ?? []
    if push.isSenderID {
      let key = MemoryMailbox.Key(device: push.device, app: push.app, id: push.id)
      let waits = waiting.contains { $0.isSenderID && $0.id == push.id && $0.app == push.app }
      if waits || known[key] ?? 0 > now { return .duplicate }
    }
    var replaced: APNSID?
    if !push.collapseID.isEmpty {
      replaced = waiting.first { $0.app == push.app && $0.collapseID == push.collapseID }?.id
      remove(.collapsed, of: push.device, now: now, &removals) {
        $0.app == push.app && $0.collapseID == push.collapseID
      }
    }
    var deviceQueue = deviceQueues[push.device] ?? MemoryMailbox.DeviceQueue()
    deviceQueue.lastSeq += 1
    deviceQueue.entries.append(MailboxEntry(seq: deviceQueue.lastSeq, push: push))
    deviceQueues[push.device] = deviceQueue
    if deviceQueue.entries.count > cap, let oldest = deviceQueue.entries.first {
      let gap = deviceQueue.gap ?? MailboxGap(from: oldest.seq, to: oldest.seq, dropped: 0)
      deviceQueues[push.device]?.gap = MailboxGap(from: gap.from, to: oldest.seq, dropped: gap.dropped + 1)
      remove(.overflow, of: push.device, now: now, &removals) { $0 === oldest.push }
    }
    return .queued(seq: deviceQueue.lastSeq, replaced: replaced)
  }

  package mutating func pending(_ device: DeviceID, after seq: UInt64, limit: Int, now: Int64) -> PendingPushes {
    var deviceQueue = deviceQueues[device] ?? MemoryMailbox.DeviceQueue()
    if seq > deviceQueue.lastSeq {
      let pushes = deviceQueue.entries.map(\.push)
      deviceQueue = MemoryMailbox.DeviceQueue(lastSeq: seq, acknowledged: seq)
      for push in pushes {
        deviceQueue.lastSeq += 1
        deviceQueue.entries.append(MailboxEntry(seq: deviceQueue.lastSeq, push: push))
      }
      deviceQueues[device] = deviceQueue
    }
    let due = deviceQueue.entries.filter { $0.seq > seq && $0.push.expires > now }
    return PendingPushes(
      gap: deviceQueue.gap.flatMap { $0.to > seq ? $0 : nil }, entries: Array(due.prefix(limit)),
      isComplete: due.count <= limit)
  }

  package mutating func acknowledge(_ device: DeviceID, through seq: UInt64, now: Int64) {
    guard let deviceQueue = deviceQueues[device], seq > deviceQueue.acknowledged, seq <= deviceQueue.lastSeq else {
      return
    }
    deviceQueues[device]?.acknowledged = seq
    if let gap = deviceQueue.gap, gap.to <= seq { deviceQueues[device]?.gap = nil }
    for entry in deviceQueue.entries where entry.seq <= seq { remember(entry.push, now: now) }
    deviceQueues[device]?.entries.removeAll { $0.seq <= seq }
  }

  package mutating func remove(
    _ cause: RemovalCause, of device: DeviceID, now: Int64, _ removals: inout [MailboxRemoval],
    where isGone: (StoredPush) -> Bool
  ) {
    for entry in deviceQueues[device]?.entries ?? [] where isGone(entry.push) {
      remember(entry.push, now: now)
      removals.append(MailboxRemoval(device: device, app: entry.push.app, id: entry.push.id, cause: cause))
    }
    deviceQueues[device]?.entries.removeAll { isGone($0.push) }
  }

  private mutating func remember(_ push: StoredPush, now: Int64) {
    guard push.isSenderID else { return }
    let end = push.received / 1000 + Int64(Limits.duplicateWindow)
    known[MemoryMailbox.Key(device: push.device, app: push.app, id: push.id)] = end > now ? end : nil
  }
}
