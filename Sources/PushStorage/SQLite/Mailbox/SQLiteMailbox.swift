import Foundation
import GRDB
package import Logging
package import PushCore
import Synchronization

/// The mailbox in SQLite: a table to which rows are appended by rowid, an index in memory, and one writer thread.
///
/// All operations that arrive during a commit join the next one, so that throughput is not limited to one push per
/// fsync. Acknowledgements and other removals join the next append, or are committed alone after ``settleTime``. No
/// caller waits for them, because a reconnecting device sends its position. They do not wake the writer within
/// ``settleTime`` of a commit either, because that costs two thread switches for each push.
package final class SQLiteMailbox: Mailbox {
  private enum WriterState {
    /// The writer waits for any operation.
    case asleep
    /// The writer waits for an awaited operation, or until ``settleTime`` has passed since the last commit or since
    /// the first queued operation.
    case waiting
    /// The writer runs, and reads the queue before it waits again.
    case awake
  }

  private struct Inbox {
    var operations: [MailboxOperation] = []
    /// The operations that the writer has taken and may not have applied yet.
    var taken: [MailboxOperation] = []
    var uncommitted = 0
    var writer = WriterState.awake
    var isClosed = false
  }

  /// The time in seconds that removals wait for an append to join.
  private static let settleTime = 0.05
  /// The time in seconds after a failure until the disk is tried again, even without new pushes.
  private static let probeTime = 1.0

  package let meter = MailboxMeter()
  private let store: SQLiteStore
  private let engine: MailboxEngine
  private let commits: CommitCount
  /// Accepted pushes that are lost, as found at the start; nil if none are.
  package let loss: HealthProblem?
  private let inbox = Mutex(Inbox())
  private let wake = MonotonicSemaphore()
  private let stopped = DispatchSemaphore(value: 0)
  private let checkpoints = DispatchQueue(label: "pushgateway.checkpoint")
  private let isCheckpointDue = Mutex(false)
  /// The reason why nothing is stored now; nil while pushes are stored.
  private let trouble = Mutex<HealthProblem?>(nil)
  /// The damage of a row that was read; it is reported until the next start.
  private let damage = Mutex<HealthProblem?>(nil)
  private let clock: @Sendable () -> Int64
  private let logger: Logger
  /// The number of rows between two checkpoints: the write-ahead log grows to about 3 MB. Commits wait while the disk
  /// writes the pages of a checkpoint, so a checkpoint must not have many. A page that changes several times between
  /// two checkpoints is written once.
  private let checkpointInterval: Int

  /// Reads the pending pushes, which takes some seconds if there are millions, and starts the writer.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - removed: called with each entry that is removed without an acknowledgement: during the start on the caller's
  ///     thread, then on the writer's.
  /// - Throws: ``StoreError`` if a row can't be read.
  package init(
    store: SQLiteStore, cap: Int, logger: Logger, now: @escaping @Sendable () -> Int64,
    removed: @escaping @Sendable ([MailboxRemoval]) -> Void, checkpointInterval: Int = 3_000
  ) throws(StoreError) {
    (self.store, self.checkpointInterval, self.logger) = (store, checkpointInterval, logger)
    clock = now
    engine = MailboxEngine(
      index: MailboxIndex(), cap: cap, now: now, isDamage: { SQLiteStore.isDamage($0) }, removed: removed)
    do {
      commits = try CommitCount(store)
      loss = SQLiteMailbox.loss(of: commits.missing, in: store, now: now())
      if let loss { logger.log(.pushesLost, "\(loss.problem)") }
      var read = try MailboxReader(store: store, now: now()).read()
      let (changes, removals) = (read.changes, read.removals)
      try engine.start(with: &read.index, changes: changes, removals: removals) {
        try Writer(store.pool, commits).commit($0)
      }
      startWriter()
    } catch {
      throw SQLiteStore.explain(error, path: store.path)
    }
  }

  private static func loss(of missing: UInt64, in store: SQLiteStore, now: Int64) -> HealthProblem? {
    guard missing > 0 else { return nil }
    return HealthProblem(
      part: "database",
      problem: "the end of \(store.path)-wal was cut off or damaged while no gateway ran: \(missing) commits are lost, "
        + "and accepted pushes may be among them; this message stays until the next start",
      since: now)
  }

  private func startWriter() {
    let thread = Thread { [self] in
      run()
      stopped.signal()
    }
    thread.name = "mailbox"
    thread.start()
  }

  /// Commits the queued operations and stops the writer. Nothing may be appended afterward.
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

  package var problem: HealthProblem? { trouble.withLock { $0 } ?? damage.withLock { $0 } }

  package func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void) {
    let isTaken = submit(.append(pushes, completion), weight: pushes.count)
    guard !isTaken else { return }
    meter.limits.add(.uncommitted)
    completion(pushes.map { _ in .unavailable })
  }

  package func acknowledge(_ device: DeviceID, through seq: UInt64) { submit(.acknowledge(device, seq)) }

  package func acknowledge(_ device: DeviceID, through seq: UInt64, replaceable: [UInt64]) -> [UInt64] {
    let left = engine.index.withLock { $0.claim(device, through: seq, replaceable) }
    submit(.acknowledge(device, seq))
    return left
  }

  package func purge(_ devices: [DeviceID], app: AppID?, completion: @escaping @Sendable (Bool) -> Void) {
    if !submit(.purge(devices, app, completion)) { completion(false) }
  }

  /// Removes the pending pushes of each device and app for which `isRegistered` returns false.
  ///
  /// A crash may occur after the end of a registration and before the removal of its pending pushes. Therefore the
  /// owner of the mailbox calls this once after opening it, before anything is read.
  package func purgeUnregistered(isRegistered: (DeviceID, AppID) -> Bool) {
    let ended = engine.index.withLock { $0.unregistered(isRegistered: isRegistered) }
    for (app, devices) in ended { submit(.purge(devices, app) { _ in }) }
  }

  package func retract(
    _ id: APNSID, app: AppID?, from devices: [DeviceID], completion: @escaping @Sendable (Bool) -> Void
  ) {
    if !submit(.retract(id, app, devices, completion)) { completion(false) }
  }

  package func discard(_ device: DeviceID, seq: UInt64) { submit(.discard(device, seq)) }

  package func expire(now: Int64) { submit(.expire(now)) }

  package func knows(_ push: StoredPush) -> Bool {
    guard push.isSenderID else { return false }
    let key = RecentIDs.Key(device: push.device, app: push.app, id: push.id)
    return engine.index.withLock { $0.recent.contains(key) }
  }

  package func waitingCount(for device: DeviceID) -> Int {
    let acknowledged = acknowledgedInLine(by: device)
    return engine.index.withLock { $0.queues[device]?.waitingCount(after: acknowledged) ?? 0 }
  }

  /// The current backlog of pending pushes.
  package var backlog: (waiting: Int, oldest: Int64?, uncommitted: Int) {
    let (waiting, oldest) = engine.index.withLock { ($0.ages.count, $0.ages.oldest) }
    return (waiting, oldest, inbox.withLock { $0.uncommitted })
  }

  package func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes {
    let lastSeq = engine.index.withLock { $0.queues[device]?.lastSeq ?? 0 }
    if seq > lastSeq { try await advance(device, past: seq) }
    let now = clock()
    let acknowledged = acknowledgedInLine(by: device)
    let (gap, rows, isComplete) = engine.index.withLock { index in
      MailboxIndex.select(index.queues[device], after: max(seq, acknowledged), limit: limit, now: now)
    }
    guard !rows.isEmpty else { return PendingPushes(gap: gap, entries: [], isComplete: isComplete) }
    let entries = try await store.pool.read { try SQLiteMailbox.read(rows, of: device, from: $0) }
    if entries.contains(where: { $0.push.payload.isEmpty }) { noteDamage() }
    return PendingPushes(gap: gap, entries: entries, isComplete: isComplete)
  }

  private var isTroubled: Bool { trouble.withLock { $0 != nil } }

  private func noteDamage() {
    damage.withLock { damage in
      guard damage == nil else { return }
      let problem = HealthProblem(
        part: "database",
        problem:
          "\(store.path) is damaged: a pending push failed its checksum and was not delivered; stop the "
          + "gateway and run `pushcli doctor --thorough`",
        since: clock())
      logger.log(.pushDamaged, "\(problem.problem)")
      damage = problem
    }
  }

  /// Returns the highest number that the device has acknowledged in operations that the index may not contain yet.
  private func acknowledgedInLine(by device: DeviceID) -> UInt64 {
    // The acknowledgement of a number that was never given out is ignored.
    let durable = engine.index.withLock { $0.queues[device]?.durableSeq ?? 0 }
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
      let mustWake = inbox.writer == .asleep || (inbox.writer == .waiting && operation.isAwaited)
      if mustWake { inbox.writer = .awake }
      return (true, mustWake)
    }
    if mustWake { wake.signal() }
    return isTaken
  }

  private func run() {
    var pendingWrites = MailboxEngine.PendingWrites()
    // The time at which the pending writes are committed even without an append.
    var due = DispatchTime.distantFuture
    var writer: Writer?
    var rows = 0
    while let operations = next(until: &due) {
      for operations in SQLiteMailbox.batches(of: operations) {
        var weight = 0
        for case .append(let pushes, _) in operations { weight += pushes.count }
        let isDue = due <= .now()
        var hasCommitted = false
        var failure = engine.process(operations, &pendingWrites, isDue: isDue) { transaction in
          let began = ContinuousClock.now
          defer { meter.commitTimes.record(ContinuousClock.now - began) }
          do {
            // A failed commit may leave statements of its transaction behind: after a failure, the next commit gets a
            // new writer.
            let current = try writer ?? Writer(store.pool, commits)
            writer = nil
            try current.commit(transaction)
            writer = current
          } catch {
            // The reason is recorded before any completion is called, so that a caller with a failure finds it.
            note(error, pushes: weight)
            throw error
          }
          meter.commitSizes.record(Int64(transaction.appended.count))
          rows += transaction.rowCount
          hasCommitted = true
        }
        inbox.withLock { $0.uncommitted -= weight }
        if failure == nil, isTroubled {
          if !hasCommitted, isDue, let refusal = probe() {
            note(refusal, pushes: 0)
            failure = refusal
          }
          if failure == nil, hasCommitted || isDue { trouble.withLock { $0 = nil } }
        }
        if failure != nil {
          due = .now() + SQLiteMailbox.probeTime
        } else if hasCommitted, weight > 0 {
          // The acknowledgements of these pushes follow soon.
          due = .now() + SQLiteMailbox.settleTime
        } else if pendingWrites.isEmpty, !isTroubled {
          due = .distantFuture
        } else if due <= .now() || due == .distantFuture {
          due = .now() + SQLiteMailbox.settleTime
        }
      }
      inbox.withLock { $0.taken = [] }
      checkpoint(&rows)
    }
    _ = engine.process([], &pendingWrites, isDue: true) { try Writer(store.pool, commits).commit($0) }
    // The database is one file again and can be copied.
    try? store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
  }

  /// Logs and keeps the reason why nothing was stored.
  private func note(_ failure: any Error, pushes: Int) {
    let explanation = SQLiteStore.explain(failure, path: store.path)
    meter.failures.add()
    logger.log(.notStored, "not stored: \(explanation)", metadata: ["pushes": "\(pushes)"])
    let beginning = HealthProblem(part: HealthProblem.storing, problem: explanation.description, since: clock())
    trouble.withLock { $0 = $0 ?? beginning }
  }

  /// Writes a page without changing its content, to check if the disk accepts writes again.
  private func probe() -> (any Error)? {
    do {
      try store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 0") }
      return nil
    } catch {
      return error
    }
  }

  /// Splits operations before a purge or a retraction that follows an append: the pushes that it removes must be in
  /// the mailbox first.
  private static func batches(of operations: [MailboxOperation]) -> [[MailboxOperation]] {
    var batches: [[MailboxOperation]] = []
    var (start, hasAppend) = (0, false)
    for (position, operation) in operations.enumerated() {
      switch operation {
      case .append: hasAppend = true
      case .purge where hasAppend, .retract where hasAppend:
        batches.append(Array(operations[start..<position]))
        (start, hasAppend) = (position, false)
      default: break
      }
    }
    return batches + [start == 0 ? operations : Array(operations[start...])]
  }

  /// Waits for an awaited operation, or until `due`, which is set if other operations are queued or expected. Returns
  /// nil if the mailbox is closed.
  private func next(until due: inout DispatchTime) -> [MailboxOperation]? {
    while true {
      let isDue = due <= .now()
      let (operations, isClosed, hasMore) = inbox.withLock { inbox -> ([MailboxOperation], Bool, Bool) in
        guard isDue || inbox.isClosed || inbox.operations.contains(where: \.isAwaited) else {
          let hasMore = !inbox.operations.isEmpty
          inbox.writer = hasMore || due != .distantFuture ? .waiting : .asleep
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

  /// Moves the write-ahead log into the database. A separate connection moves most of it while commits continue. The
  /// writer then moves the few pages that were added since, so that the log can restart instead of growing without
  /// limit.
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
        logger.log(.walNotMoved, "the log of \(store.path) can't be moved: \(error)")
      }
    }
  }
}
