import Synchronization

@testable import PushCore
@testable import PushStorage

/// The logic of the mailbox with rows in memory. Each call has completed when it returns.
final class FuzzMailbox: Mailbox {
  private struct State {
    var operations: [MailboxOperation] = []
    var isTurning = false
    var rows: [Int64: (push: StoredPush, seq: UInt64)] = [:]
    var pendingWrites = MailboxEngine.PendingWrites()
  }

  private let engine: MailboxEngine
  private let state = Mutex(State())
  private let clock: @Sendable () -> Int64

  init(cap: Int, now: @escaping @Sendable () -> Int64, removed: @escaping @Sendable ([MailboxRemoval]) -> Void) {
    clock = now
    engine = MailboxEngine(index: MailboxIndex(), cap: cap, now: now, removed: removed)
  }

  var problem: HealthProblem? { nil }

  func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void) {
    submit(.append(pushes, completion))
  }

  func acknowledge(_ device: DeviceID, through seq: UInt64) { submit(.acknowledge(device, seq)) }

  func purge(_ devices: [DeviceID], app: AppID?, completion: @escaping @Sendable (Bool) -> Void) {
    submit(.purge(devices, app, completion))
  }

  func retract(
    _ id: APNSID, app: AppID?, from devices: [DeviceID], completion: @escaping @Sendable (Bool) -> Void
  ) {
    submit(.retract(id, app, devices, completion))
  }

  func discard(_ device: DeviceID, seq: UInt64) { submit(.discard(device, seq)) }

  func expire(now: Int64) { submit(.expire(now)) }

  func waitingCount(for device: DeviceID) -> Int {
    engine.index.withLock { $0.queues[device]?.waitingCount(after: 0) ?? 0 }
  }

  func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes {
    let lastSeq = engine.index.withLock { $0.queues[device]?.lastSeq ?? 0 }
    if seq > lastSeq { submit(.advance(device, past: seq) { _ in }) }
    let now = clock()
    let (gap, rows, isComplete) = engine.index.withLock { index in
      MailboxIndex.select(index.queues[device], after: seq, limit: limit, now: now)
    }
    let entries = state.withLock { state in
      rows.map { row in
        guard let stored = state.rows[row] else { preconditionFailure("a row of the index is on the disk") }
        return MailboxEntry(seq: stored.seq, push: stored.push)
      }
    }
    return PendingPushes(gap: gap, entries: entries, isComplete: isComplete)
  }

  /// Runs operations in order. An operation that is submitted during another one runs after it.
  private func submit(_ operation: MailboxOperation) {
    let isFirst = state.withLock { state in
      state.operations.append(operation)
      defer { state.isTurning = true }
      return !state.isTurning
    }
    guard isFirst else { return }
    while let next = state.withLock({ $0.operations.isEmpty ? nil : $0.operations.removeFirst() }) {
      var pendingWrites = state.withLock { $0.pendingWrites }
      _ = engine.process([next], &pendingWrites, isDue: true) { commit($0) }
      state.withLock { $0.pendingWrites = pendingWrites }
    }
    state.withLock { $0.isTurning = false }
  }

  private func commit(_ transaction: MailboxTransaction) {
    state.withLock { state in
      for (push, entry) in transaction.appended { state.rows[entry.row] = (push, entry.seq) }
      for change in transaction.changes {
        switch change {
        case .delete(let row), .blank(let row): state.rows[row] = nil
        case .renumber(let row, let seq): state.rows[row]?.seq = seq
        }
      }
    }
  }
}
