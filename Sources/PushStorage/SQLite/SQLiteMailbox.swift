import Foundation
import GRDB
package import Logging
package import PushCore
import Synchronization

/// The mailbox in SQLite: one table appended by rowid, its index in memory, one writer.
///
/// Everything that comes while a commit runs joins the next one, so that throughput does not wait for one fsync per
/// push. Acknowledgements and other removals ride along with the next append, or go by themselves a moment later:
/// nothing waits for them, because a device that reconnects says where it is. They do not wake the writer either, which
/// on a busy core costs more than storing a push.
package final class SQLiteMailbox: Mailbox {
  private enum WriterState {
    /// It waits for whatever comes.
    case asleep
    /// It waits for what can't wait, or until what is in line has waited for ``settleTime``.
    case dozing
    /// It has been woken and will look at what is in line before it waits again.
    case awake
  }

  private struct Inbox {
    var operations: [MailboxOperation] = []
    /// What the writer has taken and may not have applied yet.
    var taken: [MailboxOperation] = []
    var uncommitted = 0
    var writer = WriterState.awake
    var isClosed = false
  }

  /// How long removals wait for an append to join.
  private static let settleTime = 0.05
  /// How long after a failure the disk is tried again, also when nobody sends.
  private static let probeTime = 1.0

  package let meter = MailboxMeter()
  private let store: SQLiteStore
  private let engine: MailboxEngine
  private let inbox = Mutex(Inbox())
  private let wake = Wakeup()
  private let stopped = DispatchSemaphore(value: 0)
  private let checkpoints = DispatchQueue(label: "pushgateway.checkpoint")
  private let isCheckpointDue = Mutex(false)
  private let trouble = Mutex<HealthProblem?>(nil)
  private let clock: @Sendable () -> Int64
  private let logger: Logger
  /// Rows between two checkpoints. A page that changes again meanwhile is moved once, and each checkpoint syncs twice;
  /// the log grows to some 10 MB.
  private let checkpointInterval: Int

  /// Rebuilds the index and starts the writer.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - removed: hears of every entry that leaves without an acknowledgement, on the writer's thread.
  package init(
    store: SQLiteStore, cap: Int, logger: Logger, now: @escaping @Sendable () -> Int64,
    removed: @escaping @Sendable ([MailboxRemoval]) -> Void, checkpointInterval: Int = 12_000
  ) throws(StoreError) {
    self.store = store
    self.checkpointInterval = checkpointInterval
    self.logger = logger
    clock = now
    do {
      var changes: [MailboxIndex.RowChange] = []
      var removals: [MailboxRemoval] = []
      let rebuilt = try store.pool.read {
        try SQLiteMailbox.rebuild($0, now: now(), changes: &changes, removals: &removals)
      }
      engine = MailboxEngine(
        index: rebuilt, cap: cap, now: now, isDamage: { SQLiteStore.isDamage($0) }, removed: removed)
      if !changes.isEmpty { try Writer(store.pool).commit(MailboxTransaction(changes: changes)) }
      removed(removals)
    } catch {
      throw SQLiteStore.explain(error, path: store.path)
    }
    let thread = Thread { [self] in run() }
    thread.name = "mailbox"
    thread.start()
  }

  /// Commits what is in line and stops the writer. Nothing may be appended afterwards.
  package func close() {
    let isFirst = inbox.withLock { inbox in
      defer { inbox.isClosed = true }
      return !inbox.isClosed
    }
    guard isFirst else { return }
    wake.signal()
    stopped.wait()
  }

  // MARK: Mailbox

  package var problem: HealthProblem? { trouble.withLock { $0 } }

  package func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void) {
    let isTaken = submit(.append(pushes, completion), weight: pushes.count)
    guard !isTaken else { return }
    meter.limits.add(.uncommitted)
    completion(pushes.map { _ in .unavailable })
  }

  package func acknowledge(_ device: DeviceID, through seq: UInt64) { submit(.acknowledge(device, seq)) }

  package func acknowledge(_ device: DeviceID, through seq: UInt64, replaceable: [UInt64]) -> [UInt64] {
    let left = engine.claim(device, through: seq, replaceable)
    submit(.acknowledge(device, seq))
    return left
  }

  package func purge(_ devices: [DeviceID], app: AppID?, completion: @escaping @Sendable (Bool) -> Void) {
    if !submit(.purge(devices, app, completion)) { completion(false) }
  }

  /// Removes what waits for a device and an app of which `isRegistered` says no.
  ///
  /// A crash may come between the end of a registration and that of what waited for it: whoever opens the mailbox calls
  /// this once, before anything is read.
  package func purgeUnregistered(isRegistered: (DeviceID, AppID) -> Bool) {
    var ended: [AppID: [DeviceID]] = [:]
    engine.index.withLock { index in
      for (device, box) in index.boxes {
        for app in box.apps where !isRegistered(device, app) { ended[app, default: []].append(device) }
      }
    }
    for (app, devices) in ended { submit(.purge(devices, app) { _ in }) }
  }

  package func discard(_ device: DeviceID, seq: UInt64) { submit(.discard(device, seq)) }

  package func expire(now: Int64) { submit(.expire(now)) }

  package func waitingCount(for device: DeviceID) -> Int {
    let acknowledged = acknowledgedInLine(by: device)
    return engine.index.withLock { $0.boxes[device]?.waitingCount(after: acknowledged) ?? 0 }
  }

  package func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes {
    let lastSeq = engine.index.withLock { $0.boxes[device]?.lastSeq ?? 0 }
    if seq > lastSeq { try await advance(device, past: seq) }
    let now = clock()
    let acknowledged = acknowledgedInLine(by: device)
    let (gap, rows, isComplete) = engine.index.withLock { index in
      MailboxIndex.select(index.boxes[device], after: max(seq, acknowledged), limit: limit, now: now)
    }
    guard !rows.isEmpty else { return PendingPushes(gap: gap, entries: [], isComplete: isComplete) }
    let entries = try await store.pool.read { try SQLiteMailbox.read(rows, of: device, from: $0) }
    return PendingPushes(gap: gap, entries: entries, isComplete: isComplete)
  }

  /// The highest number that the device has acknowledged and the index may not know yet.
  private func acknowledgedInLine(by device: DeviceID) -> UInt64 {
    // One that was never given out says nothing.
    let durable = engine.index.withLock { $0.boxes[device]?.durableSeq ?? 0 }
    return inbox.withLock { inbox in
      var highest: UInt64 = 0
      for operations in [inbox.taken, inbox.operations] {
        for case .acknowledge(device, let seq) in operations where seq <= durable { highest = max(highest, seq) }
      }
      return highest
    }
  }

  private func advance(_ device: DeviceID, past seq: UInt64) async throws {
    let isStored = await withCheckedContinuation { continuation in
      let isTaken = submit(.advance(device, past: seq) { continuation.resume(returning: $0) })
      if !isTaken { continuation.resume(returning: false) }
    }
    guard isStored else { throw StoreError("the mailbox can't be written") }
  }

  // MARK: The writer

  @discardableResult
  private func submit(_ operation: MailboxOperation, weight: Int = 0) -> Bool {
    let (isTaken, mustWake) = inbox.withLock { inbox in
      guard !inbox.isClosed, weight == 0 || inbox.uncommitted + weight <= Limits.maximumUncommitted else {
        return (false, false)
      }
      inbox.operations.append(operation)
      inbox.uncommitted += weight
      let mustWake = inbox.writer == .asleep || (inbox.writer == .dozing && operation.isAwaited)
      if mustWake { inbox.writer = .awake }
      return (true, mustWake)
    }
    if mustWake { wake.signal() }
    return isTaken
  }

  private func run() {
    var unsettled = MailboxEngine.Unsettled()
    // When what is unsettled goes by itself.
    var due = DispatchTime.distantFuture
    var writer: Writer?
    var rows = 0
    while let operations = next(until: &due) {
      for operations in SQLiteMailbox.turns(of: operations) {
        var weight = 0
        for case .append(let pushes, _) in operations { weight += pushes.count }
        let isDue = due <= .now()
        var hasCommitted = false
        var failure = engine.turn(operations, &unsettled, isDue: isDue) { transaction in
          let began = ContinuousClock.now
          defer { meter.commitTimes.record(ContinuousClock.now - began) }
          do {
            // A failed commit may leave statements of a dead transaction behind, so each failure starts anew.
            let current = try writer ?? Writer(store.pool)
            writer = nil
            try current.commit(transaction)
            writer = current
          } catch {
            // Before anybody is answered: who hears of the failure finds its reason.
            note(error, pushes: weight)
            throw error
          }
          meter.commitSizes.record(Int64(transaction.appended.count))
          rows += transaction.rowCount
          hasCommitted = true
        }
        inbox.withLock { $0.uncommitted -= weight }
        if failure == nil, problem != nil {
          if !hasCommitted, isDue, let refusal = probe() {
            note(refusal, pushes: 0)
            failure = refusal
          }
          if failure == nil, hasCommitted || isDue { trouble.withLock { $0 = nil } }
        }
        if failure != nil {
          due = .now() + SQLiteMailbox.probeTime
        } else if unsettled.isEmpty, problem == nil {
          due = .distantFuture
        } else if due <= .now() || due == .distantFuture {
          due = .now() + SQLiteMailbox.settleTime
        }
      }
      inbox.withLock { $0.taken = [] }
      checkpoint(&rows)
    }
    _ = engine.turn([], &unsettled, isDue: true) { try Writer(store.pool).commit($0) }
    // The database is one file again, for whoever copies it now.
    try? store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    stopped.signal()
  }

  /// Logs and keeps why nothing was stored.
  private func note(_ failure: any Error, pushes: Int) {
    let explanation = SQLiteStore.explain(failure, path: store.path)
    meter.failures.add()
    logger.error("not stored: \(explanation)", metadata: ["pushes": "\(pushes)"])
    let beginning = HealthProblem(part: "mailbox", problem: explanation.description, since: clock())
    trouble.withLock { $0 = $0 ?? beginning }
  }

  /// Writes a page that says nothing new, to see whether the disk takes it again.
  private func probe() -> (any Error)? {
    do {
      try store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 0") }
      return nil
    } catch {
      return error
    }
  }

  /// Cuts operations where a purge follows an append: what it takes out has to be in the mailbox first.
  private static func turns(of operations: [MailboxOperation]) -> [[MailboxOperation]] {
    var turns: [[MailboxOperation]] = []
    var (start, hasAppend) = (0, false)
    for (place, operation) in operations.enumerated() {
      switch operation {
      case .append: hasAppend = true
      case .purge where hasAppend:
        turns.append(Array(operations[start..<place]))
        (start, hasAppend) = (place, false)
      default: break
      }
    }
    return turns + [start == 0 ? operations : Array(operations[start...])]
  }

  /// Waits for something that is awaited, or until `due`, which is set when something else is in line; nil when the
  /// mailbox is closed.
  private func next(until due: inout DispatchTime) -> [MailboxOperation]? {
    while true {
      let isDue = due <= .now()
      let (operations, isClosed, hasMore) = inbox.withLock { inbox -> ([MailboxOperation], Bool, Bool) in
        guard isDue || inbox.isClosed || inbox.operations.contains(where: \.isAwaited) else {
          let hasMore = !inbox.operations.isEmpty
          inbox.writer = hasMore || due != .distantFuture ? .dozing : .asleep
          return ([], false, hasMore)
        }
        inbox.writer = .awake
        (inbox.taken, inbox.operations) = (inbox.operations, [])
        return (inbox.taken, inbox.isClosed, false)
      }
      if isDue || !operations.isEmpty { return operations }
      if isClosed { return nil }
      if hasMore, due == .distantFuture { due = .now() + SQLiteMailbox.settleTime }
      _ = wake.wait(until: due)
    }
  }

  // MARK: Checkpoints

  /// Most of the log is moved by a connection of its own while commits go on; the writer moves the few pages that
  /// came meanwhile, so that the log can begin again instead of growing for ever.
  private func checkpoint(_ rows: inout Int) {
    let isPrepared = isCheckpointDue.withLock { due in
      defer { due = false }
      return due
    }
    if isPrepared {
      try? store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    }
    guard rows >= checkpointInterval else { return }
    rows = 0
    checkpoints.async { [self] in
      do {
        try store.moveLog()
        isCheckpointDue.withLock { $0 = true }
      } catch {
        logger.warning("the log of \(store.path) can't be moved: \(error)")
      }
    }
  }
}
