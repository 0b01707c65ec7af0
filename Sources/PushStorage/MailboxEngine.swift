package import PushCore
package import Synchronization

/// What the writer of a mailbox is asked to do.
package enum MailboxOperation: Sendable {
  case append([StoredPush], @Sendable ([AppendOutcome]) -> Void)
  case acknowledge(DeviceID, UInt64)
  /// Calls back when that is on disk, or with false when it is not.
  case purge([DeviceID], AppID?, @Sendable (Bool) -> Void)
  case discard(DeviceID, UInt64)
  /// See ``MailboxIndex/advance(_:past:)``; calls back when that is on disk, or with false when it is not.
  case advance(DeviceID, past: UInt64, @Sendable (Bool) -> Void)
  case expire(Int64)

  /// Whether somebody looks for its effect; an acknowledgement may be applied later, before the next append at the latest.
  package var isAwaited: Bool {
    switch self {
    case .append, .advance, .purge, .discard, .expire: true
    case .acknowledge: false
    }
  }
}

/// Everything that goes to disk in one commit: all of it, or nothing.
package struct MailboxTransaction {
  /// What is stored of a device beside its rows.
  package struct State: Sendable, Equatable {
    package var device: DeviceID
    package var acknowledged: UInt64
    package var lastSeq: UInt64
    package var gap: MailboxGap?
  }

  package var appended: [(push: StoredPush, entry: MailboxIndex.Entry)] = []
  package var changes: [MailboxIndex.RowChange] = []
  package var states: [State] = []

  /// How many rows it touches.
  package var rowCount: Int { appended.count + changes.count + states.count }
}

/// The mailbox without its thread and its disk: numbers what comes, says what to commit, and makes visible what was.
///
/// One writer calls it, turn by turn; readers look at ``index`` at any time. A simulation drives it as the SQLite
/// mailbox does, with a disk that fails on purpose.
package final class MailboxEngine: Sendable {
  /// What is not on disk yet, and need not be for anybody to go on: a device that reconnects says where it is.
  package struct Unsettled {
    package fileprivate(set) var changes: [MailboxIndex.RowChange] = []
    package fileprivate(set) var devices: Set<DeviceID> = []

    package var isEmpty: Bool { changes.isEmpty && devices.isEmpty }
  }

  package let index: Mutex<MailboxIndex>
  private let cap: Int
  /// Seconds since 1970.
  private let clock: @Sendable () -> Int64
  /// Whether a failure of a commit means that the store is broken, so that trying again does not help.
  private let isDamage: @Sendable (any Error) -> Bool
  /// Hears of every entry that leaves without an acknowledgement.
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

  /// Says that a device has what was sent to it up to a number, before the acknowledgement itself is applied.
  ///
  /// - Returns: those of `replaceable` that have left otherwise.
  package func claim(_ device: DeviceID, through seq: UInt64, _ replaceable: [UInt64]) -> [UInt64] {
    index.withLock { $0.claim(device, through: seq, replaceable) }
  }

  /// One turn: applies the operations and, when they append or `isDue`, commits them with all that is unsettled.
  ///
  /// - Parameter commit: returns when the transaction is on disk; throws when nothing of it is.
  /// - Returns: the failure of the commit, if it failed; `unsettled` then still holds what it held.
  package func turn(
    _ operations: [MailboxOperation], _ unsettled: inout Unsettled, isDue: Bool,
    commit: (MailboxTransaction) throws -> Void
  ) -> (any Error)? {
    apply(operations, to: &unsettled)
    var appends: [(pushes: [StoredPush], completion: @Sendable ([AppendOutcome]) -> Void)] = []
    var awaited: [@Sendable (Bool) -> Void] = []
    for operation in operations {
      switch operation {
      case .append(let pushes, let completion): appends.append((pushes, completion))
      case .advance(_, _, let completion), .purge(_, _, let completion): awaited.append(completion)
      case .acknowledge, .discard, .expire: break
      }
    }
    guard !appends.isEmpty || !awaited.isEmpty || (isDue && !unsettled.isEmpty) else { return nil }
    let pushes = appends.flatMap(\.pushes)
    let (staged, transaction) = stage(pushes, unsettled)
    let outcomes: [AppendOutcome]
    var failure: (any Error)?
    do {
      try commit(transaction)
      unsettled = Unsettled()
      outcomes = confirm(pushes, staged, &unsettled)
    } catch {
      failure = error
      index.withLock { index in
        for (push, entry) in zip(pushes, staged) where entry != nil { index.abandon(push) }
      }
      // What duplicates a push that failed with it is not stored either.
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

  /// Applies everything that is not an append to the index at once; its rows follow.
  private func apply(_ operations: [MailboxOperation], to unsettled: inout Unsettled) {
    let now = clock()
    var removals: [MailboxRemoval] = []
    index.withLock { index in
      for operation in operations {
        switch operation {
        case .append: break
        case .acknowledge(let device, let seq):
          unsettled.changes += index.acknowledge(device, through: seq, now: now)
          unsettled.devices.insert(device)
        case .purge(let devices, let app, _):
          for device in devices {
            index.purge(device, app: app, now: now, changes: &unsettled.changes, removals: &removals)
            unsettled.devices.insert(device)
          }
        case .discard(let device, let seq):
          index.discard(device, seq: seq, now: now, changes: &unsettled.changes, removals: &removals)
          unsettled.devices.insert(device)
        case .advance(let device, let seq, _):
          unsettled.changes += index.advance(device, past: seq)
          unsettled.devices.insert(device)
        case .expire(let now):
          let touched = index.expire(now: now, changes: &unsettled.changes, removals: &removals)
          unsettled.devices.formUnion(touched)
        }
      }
      unsettled.changes += index.forgetRecent(now: now)
    }
    if !removals.isEmpty { removed(removals) }
  }

  private func stage(
    _ pushes: [StoredPush], _ unsettled: Unsettled
  ) -> (staged: [MailboxIndex.Entry?], transaction: MailboxTransaction) {
    var transaction = MailboxTransaction()
    transaction.changes = unsettled.changes
    let staged = index.withLock { index in
      let staged = pushes.map { index.stage($0) }
      transaction.states = unsettled.devices.map { device in
        let box = index.boxes[device] ?? MailboxIndex.Box()
        return MailboxTransaction.State(
          device: device, acknowledged: box.acknowledged, lastSeq: box.lastSeq, gap: box.gap)
      }
      return staged
    }
    for (push, entry) in zip(pushes, staged) {
      if let entry { transaction.appended.append((push, entry)) }
    }
    return (staged, transaction)
  }

  /// Makes what was committed visible.
  private func confirm(
    _ pushes: [StoredPush], _ staged: [MailboxIndex.Entry?], _ unsettled: inout Unsettled
  ) -> [AppendOutcome] {
    let now = clock()
    var removals: [MailboxRemoval] = []
    let outcomes = index.withLock { index in
      zip(pushes, staged).map { push, entry -> AppendOutcome in
        guard let entry else { return .duplicate }
        let before = removals.count
        let replaced = index.confirm(
          entry, of: push.device, cap: cap, now: now, changes: &unsettled.changes, removals: &removals)
        if removals.count > before { unsettled.devices.insert(push.device) }
        return .queued(seq: entry.seq, replaced: replaced)
      }
    }
    if !removals.isEmpty { removed(removals) }
    return outcomes
  }
}
