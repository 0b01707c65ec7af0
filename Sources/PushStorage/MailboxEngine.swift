package import PushCore
package import Synchronization

/// What the writer of a mailbox is asked to do.
package enum MailboxOperation: Sendable {
  case append([StoredPush], @Sendable ([AppendOutcome]) -> Void)
  case acknowledge(DeviceID, UInt64)
  /// Calls back when that is on disk, or with false when it is not.
  case purge([DeviceID], AppID?, @Sendable (Bool) -> Void)
  /// Likewise, of the pushes of an id.
  case retract(APNSID, AppID?, [DeviceID], @Sendable (Bool) -> Void)
  case discard(DeviceID, UInt64)
  /// See ``MailboxIndex/advance(_:past:)``; calls back when that is on disk, or with false when it is not.
  case advance(DeviceID, past: UInt64, @Sendable (Bool) -> Void)
  case expire(Int64)

  /// Whether somebody looks for its effect; an acknowledgement may be applied later, before the next append at the latest.
  package var isAwaited: Bool {
    switch self {
    case .append, .advance, .purge, .retract, .discard, .expire: true
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
  package struct PendingWrites {
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
    _ operations: [MailboxOperation], _ unsettled: inout PendingWrites, isDue: Bool,
    commit: (MailboxTransaction) throws -> Void
  ) -> (any Error)? {
    apply(operations, to: &unsettled)
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
    guard !appends.isEmpty || !awaited.isEmpty || (isDue && !unsettled.isEmpty) else { return nil }
    let pushes = appends.flatMap(\.pushes)
    let (staged, transaction) = stage(pushes, unsettled)
    let outcomes: [AppendOutcome]
    var failure: (any Error)?
    do {
      try commit(transaction)
      unsettled = PendingWrites()
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
  private func apply(_ operations: [MailboxOperation], to unsettled: inout PendingWrites) {
    let now = clock()
    var removals: [MailboxRemoval] = []
    index.withLock { index in
      for operation in operations {
        MailboxEngine.apply(operation, to: &index, &unsettled, now: now, removals: &removals)
      }
      unsettled.changes += index.forgetRecent(now: now)
    }
    if !removals.isEmpty { removed(removals) }
  }

  /// Applies what is not an append to an index.
  private static func apply(
    _ operation: MailboxOperation, to index: inout MailboxIndex, _ unsettled: inout PendingWrites, now: Int64,
    removals: inout [MailboxRemoval]
  ) {
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
    case .retract(let id, let app, let devices, _):
      for device in devices {
        index.retract(id, app: app, from: device, now: now, changes: &unsettled.changes, removals: &removals)
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

  private func stage(
    _ pushes: [StoredPush], _ unsettled: PendingWrites
  ) -> (staged: [MailboxIndex.Entry?], transaction: MailboxTransaction) {
    var transaction = MailboxTransaction()
    transaction.changes = unsettled.changes
    let staged = index.withLock { index in
      let staged = pushes.map { index.stage($0) }
      transaction.states = MailboxEngine.states(of: unsettled.devices, index)
      return staged
    }
    for (push, entry) in zip(pushes, staged) {
      if let entry { transaction.appended.append((push, entry)) }
    }
    return (staged, transaction)
  }

  /// Makes what was committed visible.
  private func confirm(
    _ pushes: [StoredPush], _ staged: [MailboxIndex.Entry?], _ unsettled: inout PendingWrites
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

// MARK: Before the index is there

extension MailboxEngine {
  /// What came before the index was there, in its order.
  package struct Backlog {
    fileprivate enum Element {
      case pushes([(device: DeviceID, entry: MailboxIndex.Entry)])
      case operation(MailboxOperation)
    }

    fileprivate var elements: [Element] = []
    /// The row of the next push, above all that were there.
    private var nextRow: Int64
    /// What was read, with what came of the backlog so far and is not on disk.
    fileprivate var index: MailboxIndex?
    fileprivate var unsettled = PendingWrites()
    fileprivate var removals: [MailboxRemoval] = []

    package init(nextRow: Int64) { self.nextRow = nextRow }

    /// Whether the index was read.
    package var hasIndex: Bool { index != nil }

    /// Takes the index that was read, the first of whose pushes without numbers are before all that came since.
    ///
    /// - Parameters:
    ///   - changes: what is to become of rows that reading found to be of no use.
    ///   - removals: what it found replaced.
    package mutating func take(
      _ read: MailboxIndex, changes: [MailboxIndex.RowChange], removals: [MailboxRemoval]
    ) {
      var read = read
      elements.insert(.pushes(read.takeUnnumbered()), at: 0)
      index = read
      unsettled.changes += changes
      self.removals += removals
    }

    /// Looks at the index that was read, and removes what waits for a device and an app of which `isRegistered` says no.
    package mutating func purgeUnregistered(isRegistered: (DeviceID, AppID) -> Bool) {
      guard let index else { return }
      for (app, devices) in index.unregistered(isRegistered: isRegistered) {
        elements.append(.operation(.purge(devices, app) { _ in }))
      }
    }

    /// The row of a push that has no number yet.
    fileprivate mutating func entry(of push: StoredPush) -> MailboxIndex.Entry {
      defer { nextRow += 1 }
      return MailboxIndex.Entry(
        row: nextRow, seq: 0, app: push.app, id: push.id, isSenderID: push.isSenderID, received: push.received,
        expires: push.expires, collapseID: push.collapseID)
    }
  }

  /// One turn without an index: commits what is appended, without numbers, and keeps everything else for later.
  ///
  /// - Parameter commit: returns when the transaction is on disk; throws when nothing of it is.
  /// - Returns: the failure of the commit, if it failed.
  package func store(
    _ operations: [MailboxOperation], in backlog: inout Backlog, commit: (MailboxTransaction) throws -> Void
  ) -> (any Error)? {
    var transaction = MailboxTransaction()
    var elements: [Backlog.Element] = []
    for operation in operations {
      guard case .append(let pushes, _) = operation else {
        elements.append(.operation(operation))
        continue
      }
      let entries = pushes.map { backlog.entry(of: $0) }
      transaction.appended += zip(pushes, entries).map { (push: $0, entry: $1) }
      elements.append(.pushes(zip(pushes, entries).map { (device: $0.device, entry: $1) }))
    }
    var failure: (any Error)?
    do {
      if !transaction.appended.isEmpty { try commit(transaction) }
      backlog.elements += elements
    } catch {
      failure = error
      backlog.elements += elements.filter { if case .operation = $0 { true } else { false } }
    }
    let outcome = failure.map { isDamage($0) ? AppendOutcome.failed : .unavailable } ?? .deferred
    for case .append(let pushes, let completion) in operations { completion(pushes.map { _ in outcome }) }
    return failure
  }

  /// Applies the backlog to the index that was read, commits what follows, and makes all of it visible at once.
  ///
  /// - Parameter commit: returns when the transaction is on disk; throws when nothing of it is.
  /// - Returns: the failure of the commit, if it failed: nothing is visible then, and this is to be called again.
  package func adopt(_ backlog: inout Backlog, commit: (MailboxTransaction) throws -> Void) -> (any Error)? {
    guard var read = backlog.index.take() else { preconditionFailure("the index was read") }
    let now = clock()
    var awaited: [@Sendable (Bool) -> Void] = []
    for element in backlog.elements {
      switch element {
      case .pushes(let pushes): number(pushes, in: &read, &backlog, now: now)
      case .operation(let operation):
        MailboxEngine.apply(operation, to: &read, &backlog.unsettled, now: now, removals: &backlog.removals)
        switch operation {
        case .advance(_, _, let completion), .purge(_, _, let completion), .retract(_, _, _, let completion):
          awaited.append(completion)
        case .append, .acknowledge, .discard, .expire: break
        }
      }
    }
    backlog.elements = []
    backlog.unsettled.changes += read.forgetRecent(now: now)
    // Before they are gone: a crash may come after the commit, and a second time is better than none.
    if !backlog.removals.isEmpty { removed(backlog.removals) }
    backlog.removals = []
    var transaction = MailboxTransaction(changes: backlog.unsettled.changes)
    transaction.states = MailboxEngine.states(of: backlog.unsettled.devices, read)
    var failure: (any Error)?
    do {
      if transaction.rowCount > 0 { try commit(transaction) }
      backlog = Backlog(nextRow: read.nextRow)
      index.withLock { $0 = read }
    } catch {
      failure = error
      backlog.index = read
    }
    for completion in awaited { completion(failure == nil) }
    return failure
  }

  private func number(
    _ pushes: [(device: DeviceID, entry: MailboxIndex.Entry)], in read: inout MailboxIndex, _ backlog: inout Backlog,
    now: Int64
  ) {
    for (device, entry) in pushes {
      let before = backlog.removals.count
      read.number(
        entry, of: device, cap: cap, now: now, changes: &backlog.unsettled.changes, removals: &backlog.removals)
      if backlog.removals.count > before { backlog.unsettled.devices.insert(device) }
    }
  }

  private static func states(of devices: Set<DeviceID>, _ index: MailboxIndex) -> [MailboxTransaction.State] {
    devices.map { device in
      let box = index.boxes[device] ?? MailboxIndex.Box()
      return MailboxTransaction.State(
        device: device, acknowledged: box.acknowledged, lastSeq: box.lastSeq, gap: box.gap)
    }
  }
}
