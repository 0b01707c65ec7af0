package import PushCore
package import Synchronization

/// A request to the writer of a mailbox.
package enum MailboxOperation: Sendable {
  case append([StoredPush], @Sendable ([AppendOutcome]) -> Void)
  case acknowledge(DeviceID, UInt64)
  /// Removes pushes of devices; calls back with true when the removal is on disk, with false if it is not.
  case purge([DeviceID], AppID?, @Sendable (Bool) -> Void)
  /// Removes the pushes with an id; calls back with true when the removal is on disk, with false if it is not.
  case retract(APNSID, AppID?, [DeviceID], @Sendable (Bool) -> Void)
  case discard(DeviceID, UInt64)
  /// Calls ``MailboxIndex/advance(_:past:)``; calls back with true when the change is on disk, with false if it is not.
  case advance(DeviceID, past: UInt64, @Sendable (Bool) -> Void)
  case expire(Int64)

  /// True if a caller depends on the effect. An acknowledgement may be applied later, before the next append
  /// at the latest.
  package var isAwaited: Bool {
    switch self {
    case .append, .advance, .purge, .retract, .discard, .expire: true
    case .acknowledge: false
    }
  }
}

/// Everything that one commit writes to disk: all of it, or nothing.
package struct MailboxTransaction {
  /// The stored state of a device, in addition to its rows.
  package struct State: Sendable, Equatable {
    package var device: DeviceID
    package var acknowledged: UInt64
    package var lastSeq: UInt64
    package var gap: MailboxGap?
  }

  package var appended: [(push: StoredPush, entry: MailboxIndex.Entry)] = []
  package var changes: [MailboxIndex.RowChange] = []
  package var states: [State] = []

  /// The number of rows that the commit changes.
  package var rowCount: Int { appended.count + changes.count + states.count }
}

/// The logic of a mailbox without its thread and its disk: numbers pushes, produces the transactions to commit, and
/// makes committed changes visible.
///
/// One writer calls it, one iteration after another; readers look at ``index`` at any time. A simulation drives it as
/// the SQLite mailbox does, with injected faults of the disk.
package final class MailboxEngine: Sendable {
  /// The changes that are not on disk yet. No caller depends on them: a device reports its position when it reconnects.
  package struct PendingWrites {
    package fileprivate(set) var changes: [MailboxIndex.RowChange] = []
    package fileprivate(set) var devices: Set<DeviceID> = []

    package var isEmpty: Bool { changes.isEmpty && devices.isEmpty }
  }

  package let index: Mutex<MailboxIndex>
  private let cap: Int
  /// Returns the time in seconds since 1970.
  private let clock: @Sendable () -> Int64
  /// Returns true if a failure of a commit means that the store is damaged, so that a retry does not help.
  private let isDamage: @Sendable (any Error) -> Bool
  /// Receives every entry that leaves without an acknowledgement.
  private let removed: @Sendable ([MailboxRemoval]) -> Void

  package init(
    index: consuming sending MailboxIndex, cap: Int, now: @escaping @Sendable () -> Int64,
    isDamage: @escaping @Sendable (any Error) -> Bool = { _ in false },
    removed: @escaping @Sendable ([MailboxRemoval]) -> Void
  ) {
    self.isDamage = isDamage
    self.index = Mutex(index)
    self.cap = cap
    clock = now
    self.removed = removed
  }

  /// Runs one iteration of the writer: applies the operations and, if an operation appends or `isDue` is true, commits
  /// them with all `pendingWrites`.
  ///
  /// - Parameter commit: returns when the transaction is on disk; throws when nothing of it is.
  /// - Returns: the error of a failed commit, or nil; after a failure `pendingWrites` still contains its changes.
  package func process(
    _ operations: [MailboxOperation], _ pendingWrites: inout PendingWrites, isDue: Bool,
    commit: (MailboxTransaction) throws -> Void
  ) -> (any Error)? {
    apply(operations, to: &pendingWrites)
    var appends: [(pushes: [StoredPush], completion: @Sendable ([AppendOutcome]) -> Void)] = []
    var awaited: [@Sendable (Bool) -> Void] = []
    for operation in operations {
      switch operation {
      case .append(let pushes, let completion): appends.append((pushes, completion))
      case .advance(_, _, let completion), .purge(_, _, let completion), .retract(_, _, _, let completion):
        awaited.append(completion)
      case .acknowledge, .discard, .expire: break
      }
    }
    guard !appends.isEmpty || !awaited.isEmpty || (isDue && !pendingWrites.isEmpty) else { return nil }
    let pushes = appends.flatMap(\.pushes)
    let (staged, transaction) = stage(pushes, pendingWrites)
    let outcomes: [AppendOutcome]
    var failure: (any Error)?
    do {
      try commit(transaction)
      pendingWrites = PendingWrites()
      outcomes = confirm(pushes, staged, &pendingWrites)
    } catch {
      failure = error
      index.withLock { index in
        for (push, entry) in zip(pushes, staged) where entry != nil { index.abandon(push) }
      }
      // A duplicate of a push that failed in the same commit is not stored either.
      let outcome = isDamage(error) ? AppendOutcome.failed : .unavailable
      outcomes = pushes.map { _ in outcome }
    }
    var start = 0
    for (pushes, completion) in appends {
      completion(Array(outcomes[start..<start + pushes.count]))
      start += pushes.count
    }
    for completion in awaited { completion(failure == nil) }
    return failure
  }

  /// Applies all operations except appends to the index at once; their rows are written later.
  private func apply(_ operations: [MailboxOperation], to pendingWrites: inout PendingWrites) {
    let now = clock()
    var removals: [MailboxRemoval] = []
    index.withLock { index in
      for operation in operations {
        MailboxEngine.apply(operation, to: &index, &pendingWrites, now: now, removals: &removals)
      }
      pendingWrites.changes += index.forgetRecent(now: now)
    }
    if !removals.isEmpty { removed(removals) }
  }

  /// Applies one operation other than an append to an index.
  private static func apply(
    _ operation: MailboxOperation, to index: inout MailboxIndex, _ pendingWrites: inout PendingWrites, now: Int64,
    removals: inout [MailboxRemoval]
  ) {
    switch operation {
    case .append: break
    case .acknowledge(let device, let seq):
      pendingWrites.changes += index.acknowledge(device, through: seq, now: now)
      pendingWrites.devices.insert(device)
    case .purge(let devices, let app, _):
      for device in devices {
        index.purge(device, app: app, now: now, changes: &pendingWrites.changes, removals: &removals)
        pendingWrites.devices.insert(device)
      }
    case .retract(let id, let app, let devices, _):
      for device in devices {
        index.retract(id, app: app, from: device, now: now, changes: &pendingWrites.changes, removals: &removals)
        pendingWrites.devices.insert(device)
      }
    case .discard(let device, let seq):
      index.discard(device, seq: seq, now: now, changes: &pendingWrites.changes, removals: &removals)
      pendingWrites.devices.insert(device)
    case .advance(let device, let seq, _):
      pendingWrites.changes += index.advance(device, past: seq)
      pendingWrites.devices.insert(device)
    case .expire(let now):
      let touched = index.expire(now: now, changes: &pendingWrites.changes, removals: &removals)
      pendingWrites.devices.formUnion(touched)
    }
  }

  private func stage(
    _ pushes: [StoredPush], _ pendingWrites: PendingWrites
  ) -> (staged: [MailboxIndex.Entry?], transaction: MailboxTransaction) {
    var transaction = MailboxTransaction()
    transaction.changes = pendingWrites.changes
    let staged = index.withLock { index in
      let staged = pushes.map { index.stage($0) }
      transaction.states = MailboxEngine.states(of: pendingWrites.devices, index)
      return staged
    }
    for (push, entry) in zip(pushes, staged) {
      if let entry { transaction.appended.append((push, entry)) }
    }
    return (staged, transaction)
  }

  /// Makes the committed pushes visible in the index.
  private func confirm(
    _ pushes: [StoredPush], _ staged: [MailboxIndex.Entry?], _ pendingWrites: inout PendingWrites
  ) -> [AppendOutcome] {
    let now = clock()
    var removals: [MailboxRemoval] = []
    let outcomes = index.withLock { index in
      zip(pushes, staged).map { push, entry -> AppendOutcome in
        guard let entry else { return .duplicate }
        let before = removals.count
        let replaced = index.confirm(
          entry, of: push.device, cap: cap, now: now, changes: &pendingWrites.changes, removals: &removals)
        if removals.count > before { pendingWrites.devices.insert(push.device) }
        return .queued(seq: entry.seq, replaced: replaced)
      }
    }
    if !removals.isEmpty { removed(removals) }
    return outcomes
  }
}

// MARK: Starting

extension MailboxEngine {
  /// Takes the index that a start has read, and commits the changes that it needs on disk.
  ///
  /// - Parameters:
  ///   - read: the index; empty on return.
  ///   - changes: the changes of rows that reading found to be obsolete.
  ///   - removals: the entries that reading found replaced.
  ///   - commit: returns when the transaction is on disk; throws when nothing of it is.
  /// - Throws: the error of a failed commit. The engine must not be used then.
  package func start(
    with read: inout MailboxIndex, changes: [MailboxIndex.RowChange], removals: [MailboxRemoval],
    commit: (MailboxTransaction) throws -> Void
  ) throws {
    let transaction = MailboxTransaction(changes: changes + read.forgetRecent(now: clock()))
    // Reports removals before the commit: a crash may follow the commit, and reporting twice is better than not at all.
    if !removals.isEmpty { removed(removals) }
    if transaction.rowCount > 0 { try commit(transaction) }
    // A swap, because a second reference to the index would make the next change copy it.
    index.withLock { swap(&$0, &read) }
  }

  private static func states(of devices: Set<DeviceID>, _ index: MailboxIndex) -> [MailboxTransaction.State] {
    devices.map { device in
      let queue = index.queues[device] ?? MailboxIndex.DeviceQueue()
      return MailboxTransaction.State(
        device: device, acknowledged: queue.acknowledged, lastSeq: queue.lastSeq, gap: queue.gap)
    }
  }
}
