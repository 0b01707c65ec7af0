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
    /// What was read at the start, until the writer takes it.
    var read: Result<MailboxReader.Result, any Error>?
    /// See ``purgeUnregistered(isRegistered:)``.
    var isRegistered: (@Sendable (DeviceID, AppID) -> Bool)?
  }

  /// How long removals wait for an append to join.
  private static let settleTime = 0.05
  /// How long after a failure the disk is tried again, also when nobody sends.
  private static let probeTime = 1.0

  package let meter = MailboxMeter()
  private let store: SQLiteStore
  private let engine: MailboxEngine
  private let commits: CommitCount
  /// What was promised and is lost, as the start has found it; nil when nothing is.
  package let loss: HealthProblem?
  private let inbox = Mutex(Inbox())
  private let wake = EventDescriptor()
  private let stopped = DispatchSemaphore(value: 0)
  private let checkpoints = DispatchQueue(label: "pushgateway.checkpoint")
  private let isCheckpointDue = Mutex(false)
  /// Why nothing is stored now; nil while it is.
  private let trouble = Mutex<HealthProblem?>(nil)
  /// What was read and is not as it was written; it is said until the next start.
  private let damage = Mutex<HealthProblem?>(nil)
  /// Whether what waits has been read.
  private let readiness = Readiness()
  private let clock: @Sendable () -> Int64
  private let logger: Logger
  /// Rows between two checkpoints: the log grows to some 3 MB. Commits wait while the disk takes what a checkpoint moved,
  /// which is so long as there is much of it; a page that changes again meanwhile is moved once.
  private let checkpointInterval: Int

  /// Starts the writer, and reads what waits: when there is much, pushes are accepted before all of it is there.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - removed: hears of every entry that leaves without an acknowledgement, on the writer's thread.
  ///   - rowsReadAtOnce: up to so many rows are read before this returns.
  ///   - willRead: called on another thread before more rows are read.
  ///   - didRead: called there when they are read, before ``purgeUnregistered(isRegistered:)`` asks.
  package init(
    store: SQLiteStore, cap: Int, logger: Logger, now: @escaping @Sendable () -> Int64,
    removed: @escaping @Sendable ([MailboxRemoval]) -> Void, checkpointInterval: Int = 3_000,
    rowsReadAtOnce: Int = Limits.rowsReadAtOnce, willRead: @escaping @Sendable () -> Void = {},
    didRead: @escaping @Sendable () -> Void = {}
  ) throws(StoreError) {
    self.store = store
    self.checkpointInterval = checkpointInterval
    self.logger = logger
    clock = now
    engine = MailboxEngine(
      index: MailboxIndex(), cap: cap, now: now, isDamage: { SQLiteStore.isDamage($0) }, removed: removed)
    do {
      commits = try CommitCount(store)
      loss = SQLiteMailbox.loss(of: commits.missing, in: store, now: now())
      if let loss { logger.log(.pushesLost, "\(loss.problem)") }
      let rows = try store.pool.read(MailboxReader.rows)
      // No gateway gives such a number, and reading it fails.
      let isBeyond = rows.map { $0.upperBound > ColumnBounds.number.upperBound } ?? false
      var backlog = MailboxEngine.Backlog(nextRow: isBeyond ? 1 : max(rows?.upperBound ?? 0, 0) + 1)
      let reader = MailboxReader(store: store, rows: rows, now: now())
      if SQLiteMailbox.count(rows) <= UInt64(rowsReadAtOnce) || isBeyond {
        let read = try reader.read()
        backlog.take(read.index, changes: read.changes, removals: read.removals)
        if let failure = engine.adopt(&backlog, commit: { try Writer(store.pool, commits).commit($0) }) {
          throw failure
        }
        readiness.end(.success(()))
      } else {
        Thread.detachNewThread { [self] in
          willRead()
          let result = Result { try reader.read() }
          didRead()
          inbox.withLock { inbox in (inbox.read, inbox.writer) = (result, .awake) }
          wake.signal()
        }
      }
      startWriter(backlog)
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

  /// How many rows there may be.
  private static func count(_ rows: ClosedRange<Int64>?) -> UInt64 {
    guard let rows else { return 0 }
    return min(UInt64(bitPattern: rows.upperBound &- rows.lowerBound), .max - 1) + 1
  }

  private func startWriter(_ backlog: MailboxEngine.Backlog) {
    let thread = Thread { [self] in
      if readiness.isReady || runWhileReading(backlog) { run() }
      stopped.signal()
    }
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

  package var problem: HealthProblem? { trouble.withLock { $0 } ?? damage.withLock { $0 } }

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
  package func purgeUnregistered(isRegistered: @escaping @Sendable (DeviceID, AppID) -> Bool) {
    // The writer looks at it between two turns, so that it either finds this or is ready already.
    let isReading = inbox.withLock { inbox in
      guard !readiness.isReady else { return false }
      inbox.isRegistered = isRegistered
      return true
    }
    guard !isReading else { return }
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
    return engine.index.withLock { $0.boxes[device]?.waitingCount(after: acknowledged) ?? 0 }
  }

  /// What waits now.
  package var backlog: MailboxBacklog {
    let (waiting, oldest) = engine.index.withLock { ($0.ages.count, $0.ages.oldest) }
    return MailboxBacklog(waiting: waiting, oldest: oldest, uncommitted: inbox.withLock { $0.uncommitted })
  }

  package func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes {
    if !readiness.isReady { try await ready() }
    let lastSeq = engine.index.withLock { $0.boxes[device]?.lastSeq ?? 0 }
    if seq > lastSeq { try await advance(device, past: seq) }
    let now = clock()
    let acknowledged = acknowledgedInLine(by: device)
    let (gap, rows, isComplete) = engine.index.withLock { index in
      MailboxIndex.select(index.boxes[device], after: max(seq, acknowledged), limit: limit, now: now)
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

  // MARK: While what waits is read

  /// Returns when all that waits has been read.
  ///
  /// - Throws: ``StoreError`` when it can't be.
  package func ready() async throws { try await readiness.ready() }

  /// Stores what comes until the index has been read and what came meanwhile is in it.
  ///
  /// - Returns: false when it can't be read, and the mailbox is closed.
  private func runWhileReading(_ first: MailboxEngine.Backlog) -> Bool {
    var (backlog, isPurged) = (first, false)
    var retry = DispatchTime.distantFuture
    while true {
      let (operations, read, isRegistered) = nextWhileReading(backlog, until: retry)
      var weight = 0
      for case .append(let pushes, _) in operations { weight += pushes.count }
      let failure = engine.store(operations, in: &backlog) { try commitAnew($0, pushes: weight) }
      inbox.withLock { $0.uncommitted -= weight }
      if failure == nil, weight > 0 { trouble.withLock { $0 = nil } }
      switch read {
      case .success(let read)?:
        backlog.take(read.index, changes: read.changes, removals: read.removals)
        if let isRegistered {
          backlog.purgeUnregistered(isRegistered: isRegistered)
          isPurged = true
        }
      case .failure(let error)?:
        refuse(error)
        return false
      case nil: break
      }
      guard backlog.hasIndex, retry == .distantFuture || retry <= .now() || isClosed else { continue }
      if engine.adopt(&backlog, commit: { try commitAnew($0, pushes: 0) }) == nil {
        trouble.withLock { $0 = nil }
        // What is in line is from here on for the writer with its index.
        let late = inbox.withLock { inbox in
          readiness.end(.success(()))
          return isPurged ? nil : inbox.isRegistered
        }
        if let late { purgeUnregistered(isRegistered: late) }
        return true
      }
      if isClosed { return false }
      retry = .now() + SQLiteMailbox.probeTime
    }
  }

  private var isClosed: Bool { inbox.withLock { $0.isClosed } }

  private func commitAnew(_ transaction: MailboxTransaction, pushes: Int) throws {
    let began = ContinuousClock.now
    defer { meter.commitTimes.record(ContinuousClock.now - began) }
    do {
      try Writer(store.pool, commits).commit(transaction)
      meter.commitSizes.record(Int64(transaction.appended.count))
    } catch {
      note(error, pushes: pushes)
      throw error
    }
  }

  /// What is to be done: operations, or what was read, once; or nothing, when it is time to try again.
  private func nextWhileReading(
    _ backlog: MailboxEngine.Backlog, until retry: DispatchTime
  ) -> ([MailboxOperation], Result<MailboxReader.Result, any Error>?, (@Sendable (DeviceID, AppID) -> Bool)?) {
    while true {
      let (operations, read, isRegistered, mayWait) = inbox.withLock { inbox in
        let operations = inbox.operations
        inbox.operations = []
        let read = inbox.read
        inbox.read = nil
        let mayWait = operations.isEmpty && read == nil && !(inbox.isClosed && backlog.hasIndex)
        inbox.writer = mayWait ? .asleep : .awake
        return (operations, read, inbox.isRegistered, mayWait)
      }
      if !mayWait || retry <= .now() { return (operations, read, isRegistered) }
      _ = wake.wait(until: retry)
    }
  }

  /// What waits can't be read: nothing can be done until the mailbox is closed.
  private func refuse(_ error: any Error) {
    let explanation = SQLiteStore.explain(error, path: store.path)
    note(explanation, pushes: 0)
    readiness.end(.failure(explanation))
    let outcome = explanation.isDamage ? AppendOutcome.failed : .unavailable
    while true {
      let (operations, isClosed) = inbox.withLock { inbox in
        defer { inbox.operations = [] }
        inbox.writer = inbox.operations.isEmpty ? .asleep : .awake
        return (inbox.operations, inbox.isClosed)
      }
      for operation in operations {
        switch operation {
        case .append(let pushes, let completion):
          inbox.withLock { $0.uncommitted -= pushes.count }
          completion(pushes.map { _ in outcome })
        case .advance(_, _, let completion), .purge(_, _, let completion), .retract(_, _, _, let completion):
          completion(false)
        case .acknowledge, .discard, .expire: break
        }
      }
      if operations.isEmpty {
        if isClosed { return }
        wake.wait()
      }
    }
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
    var unsettled = MailboxEngine.PendingWrites()
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
            let current = try writer ?? Writer(store.pool, commits)
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
        if failure == nil, isTroubled {
          if !hasCommitted, isDue, let refusal = probe() {
            note(refusal, pushes: 0)
            failure = refusal
          }
          if failure == nil, hasCommitted || isDue { trouble.withLock { $0 = nil } }
        }
        if failure != nil {
          due = .now() + SQLiteMailbox.probeTime
        } else if unsettled.isEmpty, !isTroubled {
          due = .distantFuture
        } else if due <= .now() || due == .distantFuture {
          due = .now() + SQLiteMailbox.settleTime
        }
      }
      inbox.withLock { $0.taken = [] }
      checkpoint(&rows)
    }
    _ = engine.turn([], &unsettled, isDue: true) { try Writer(store.pool, commits).commit($0) }
    // The database is one file again, for whoever copies it now.
    try? store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
  }

  /// Logs and keeps why nothing was stored.
  private func note(_ failure: any Error, pushes: Int) {
    let explanation = SQLiteStore.explain(failure, path: store.path)
    meter.failures.add()
    logger.log(.notStored, "not stored: \(explanation)", metadata: ["pushes": "\(pushes)"])
    let beginning = HealthProblem(part: HealthProblem.storing, problem: explanation.description, since: clock())
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

  /// Cuts operations where a purge or a retraction follows an append: what it takes out has to be in the mailbox first.
  private static func turns(of operations: [MailboxOperation]) -> [[MailboxOperation]] {
    var turns: [[MailboxOperation]] = []
    var (start, hasAppend) = (0, false)
    for (place, operation) in operations.enumerated() {
      switch operation {
      case .append: hasAppend = true
      case .purge where hasAppend, .retract where hasAppend:
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
        logger.log(.walNotMoved, "the log of \(store.path) can't be moved: \(error)")
      }
    }
  }
}
