import Foundation
import GRDB
package import Logging
package import PushCore
import PushPolicy
import Synchronization

/// The delivery log: one row per change of state, in a file of its own, written asynchronously.
///
/// It never delays a push: rows become bytes where they arise (``LogBatch``), and a separate thread writes the rows
/// of a short period as one record. A crash loses the rows of the last moments. Writing a row for each event cost a
/// fifth of the time to accept a push; a reader searches the records instead. Retention and file size are limited.
package final class DeliveryLog: Sendable {
  package typealias Row = LogRow

  private struct Inbox {
    var batch = LogBatch()
    var dropped = 0
    /// The readers that are resumed when all rows handed over so far are written.
    var readers: [CheckedContinuation<Void, Never>] = []
    var isWriterAwake = false
    var isClosed = false
  }

  /// The number of occurrences of each of ``countedEvents``, in their order.
  package let events = Counters(count: LogBatch.events.count)
  package let limits = LimitCounters()
  /// The events in the order in which they are counted.
  package static var countedEvents: [DeliveryEvent] { LogBatch.events }
  let file: LogFile
  let waits = LogWaits()
  /// The use of alerts that ``AppDays`` has not stored yet.
  let use = AppUse()
  /// See ``observe(_:)``.
  private let observer = Mutex<(@Sendable (_ rows: [UInt8]) -> Void)?>(nil)
  /// Called with rows that were written, on the writer's thread.
  private let listener = Mutex<(@Sendable (_ rows: [UInt8]) -> Void)?>(nil)
  private let inbox = Mutex(Inbox())
  /// See ``beforeReading(_:)``.
  private let handOver = Mutex<@Sendable () async -> Void>({})
  /// The requests to remove texts from the log.
  let erasures = Mutex<
    (waiting: [(devices: Set<DeviceID>, continuation: CheckedContinuation<Void, any Error>)], isUnderWay: Bool)
  >(([], false))
  private let wake = MonotonicSemaphore()
  /// Ends the writer's pause early.
  private let hurry = MonotonicSemaphore()
  private let stopped = DispatchSemaphore(value: 0)
  private let logger: Logger
  private let trouble = Mutex<HealthProblem?>(nil)
  /// The events that were not logged and have no row about that yet: their number, and the time of the first loss in
  /// milliseconds since 1970. Only the writer uses it.
  private let loss = Mutex<(count: Int, since: Int64)?>(nil)
  /// See ``afterLoss(_:)``.
  private let recovery = Mutex<@Sendable (Int64) -> Void>({ _ in })

  /// The reason why events are not logged now; nil while they are.
  package var problem: HealthProblem? { trouble.withLock { $0 } }

  /// The time in seconds that a row is kept, and the maximum size of the file in bytes, or nil for no limit. `isNew` is
  /// true until the writer has applied them.
  private let bounds: Mutex<(retention: Int64, maximumSize: Int64?, isNew: Bool)>
  /// The time in seconds that the writer collects rows: waking it for each row costs more than writing the row.
  private static let pause = 0.05
  /// The time in seconds after a failure until the disk is tried again, even without new events.
  private static let probeTime = 1.0
  /// The number of bytes that are written between checks of the file size, and so the most by which the file can
  /// exceed its maximum.
  private static let looseSize = 1 << 20
  /// The interval in seconds at which old rows are removed.
  private static let trimInterval = 3600.0

  /// Opens the log and starts its writer.
  ///
  /// - Parameters:
  ///   - path: the path of the file. If it can't be written now, it is tried again later; until then events are not
  ///     logged.
  ///   - retention: the time that a row is kept, in seconds.
  ///   - maximumSize: the maximum size of the file in bytes; nil: no limit.
  package init(path: String, retention: Int64, maximumSize: Int64? = nil, logger: Logger) {
    self.logger = logger
    bounds = Mutex((retention, maximumSize, false))
    file = LogFile(path: path) { loss in
      switch loss {
      case .movedAside(let copy):
        logger.log(
          .deliveryLogDamaged, "the delivery log was damaged: it is kept, and a new one was created",
          metadata: ["kept": "\(copy)"])
      case .deleted:
        logger.log(
          .deliveryLogDeleted, "the delivery log was deleted: a new one was created", metadata: ["path": "\(path)"])
      }
    }
    // The health reports a failure at once; the log reports it when an event is lost.
    do { _ = try file.database() } catch { begin(trouble: error) }
    let thread = Thread { [self] in run() }
    thread.name = "delivery-log"
    thread.start()
  }

  /// Takes rows to be written soon. Beyond ``Limits/maximumLogBacklog`` and ``Limits/maximumLogBacklogSize`` the
  /// newest rows are dropped and counted.
  package func append(_ rows: [Row]) {
    var batch = LogBatch()
    for row in rows { batch.append(row) }
    append(&batch)
  }

  /// Takes the rows of a batch. The batch is empty afterward and can be filled again.
  package func append(_ batch: inout LogBatch) {
    guard batch.count > 0 else { return }
    for index in batch.counts.indices where batch.counts[index] > 0 {
      events.add(UInt64(batch.counts[index]), at: index)
    }
    if logger.logLevel <= LoggedEvent.push.level { report(batch) }
    let mustWake = inbox.withLock { inbox in
      if inbox.batch.count + batch.count > Limits.maximumLogBacklog
        || inbox.batch.bytes.count + batch.bytes.count > Limits.maximumLogBacklogSize
      {
        inbox.dropped += batch.count
        limits.add(.logBacklog, UInt64(batch.count))
        batch = LogBatch()
        return false
      }
      inbox.batch.take(&batch)
      defer { inbox.isWriterAwake = true }
      return !inbox.isWriterAwake
    }
    if mustWake { wake.signal() }
  }

  /// Logs the stages that pushes have reached. All rows pass through this function.
  private func report(_ batch: LogBatch) {
    observer.withLock { $0 }?(batch.bytes)
    for (_, row, _) in LogBatch.rows(batch.bytes) {
      var metadata: Logger.Metadata = ["id": "\(row.id)", "stage": "\(row.event.rawValue)"]
      // A detail that may quote the payload is omitted.
      if row.detail.code != nil { metadata["detail"] = "\(row.detail.words)" }
      if case .trace(let parent) = row.detail { metadata["trace_id"] = "\(parent.dropFirst(3).prefix(32))" }
      logger.log(.push, "push \(row.event.rawValue)", metadata: metadata)
    }
  }

  /// Sets the callback that gets the rows of each batch when they are appended, on the thread that appends them.
  ///
  /// It is called only while the logger of this log has the level `debug`, so that other logs need no check.
  package func observe(_ observer: @escaping @Sendable (_ rows: [UInt8]) -> Void) {
    self.observer.withLock { $0 = observer }
  }

  /// Sets the callback that gets the rows of each written batch, on the writer's thread.
  func listen(_ listener: @escaping @Sendable (_ rows: [UInt8]) -> Void) { self.listener.withLock { $0 = listener } }

  /// Writes all queued rows and stops.
  package func close() {
    let isFirst = inbox.withLock { inbox in
      defer { inbox.isClosed = true }
      return !inbox.isClosed
    }
    guard isFirst else { return }
    handOver.withLock { $0 = {} }
    recovery.withLock { $0 = { _ in } }
    wake.signal()
    hurry.signal()
    stopped.wait()
  }

  /// Sets the action that follows a loss, on the writer's thread: after the row about it was written, it gets the time
  /// of the first lost event in milliseconds since 1970. ``close()`` releases it.
  package func afterLoss(_ recovery: @escaping @Sendable (Int64) -> Void) {
    self.recovery.withLock { $0 = recovery }
  }

  /// The number of rows that are queued to be written.
  package var waitingCount: Int { inbox.withLock { $0.batch.count } }

  /// Sets the action that precedes each read: it appends the rows that are still in buffers, so that a reader gets the
  /// rows of every response that was sent before. ``close()`` releases it.
  package func beforeReading(_ handOver: @escaping @Sendable () async -> Void) {
    self.handOver.withLock { $0 = handOver }
  }

  /// Returns when all rows that precede this call are written, also those in buffers.
  func settle() async {
    if inbox.withLock({ $0.isClosed }) { return }
    await handOver.withLock { $0 }()
    await withCheckedContinuation { continuation in
      let isClosed = inbox.withLock { inbox in
        if !inbox.isClosed { inbox.readers.append(continuation) }
        inbox.isWriterAwake = true
        return inbox.isClosed
      }
      if isClosed { return continuation.resume() }
      wake.signal()
      hurry.signal()
    }
  }

  private func run() {
    var nextTrim = DispatchTime.now()
    // The file may already be too large.
    var written = DeliveryLog.looseSize
    var group = LogGroup()
    while true {
      let taken = inbox.withLock { inbox -> Inbox in
        let taken = inbox
        inbox.batch = LogBatch()
        inbox.dropped = 0
        inbox.readers = []
        if taken.batch.count == 0 { inbox.isWriterAwake = false }
        return taken
      }
      if taken.dropped > 0 {
        logger.log(.deliveryLogOverrun, "the delivery log could not keep up", metadata: ["dropped": "\(taken.dropped)"])
        note(lost: taken.dropped)
      }
      if taken.batch.count > 0 || taken.dropped > 0 {
        write(taken.batch, &group)
        waits.note(taken.batch.bytes)
        use.note(taken.batch)
        listener.withLock { $0 }?(taken.batch.bytes)
      }
      var isTrimming = false
      let areNew = bounds.withLock { bounds in
        defer { bounds.isNew = false }
        return bounds.isNew
      }
      if areNew { (nextTrim, written) = (.now(), DeliveryLog.looseSize) }
      if !taken.isClosed, .now() >= nextTrim {
        isTrimming = trim()
        nextTrim = .now() + (isTrimming ? 0 : DeliveryLog.trimInterval)
      }
      written += taken.batch.bytes.count
      if !taken.isClosed, !isTrimming, written >= DeliveryLog.looseSize {
        isTrimming = trimToSize()
        if !isTrimming { written = 0 }
      }
      for reader in taken.readers { reader.resume() }
      if taken.batch.count == 0, !isTrimming {
        if taken.isClosed { break }
        waitForWork(&group)
      }
      if !taken.isClosed { _ = hurry.wait(until: .now() + DeliveryLog.pause) }
    }
    // The rows of an incomplete group are searched one by one. This completes the group at a stop; only a crash
    // leaves one.
    try? file.access { try LogFile.complete(&group, in: $0) }
    stopped.signal()
  }

  /// Waits until there are rows to write; after a failure only for ``probeTime``, and then tries the disk.
  ///
  /// The health of the gateway must recover even if no push arrives, because a sender may check it before it sends.
  private func waitForWork(_ group: inout LogGroup) {
    guard problem != nil else { return wake.wait() }
    guard !wake.wait(until: .now() + DeliveryLog.probeTime) else { return }
    guard loss.withLock({ $0 }) == nil else { return write(LogBatch(), &group) }
    // This write changes nothing; it only tests the disk.
    let isWell =
      (try? file.access { queue in
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 0") }
      }) != nil
    if isWell { endTrouble() }
  }

  /// Changes the retention limits. The writer applies them with the next rows that are written.
  ///
  /// - Parameters:
  ///   - retention: the time that a row is kept, in seconds.
  ///   - maximumSize: the maximum size of the file in bytes; nil: no limit.
  package func keep(retention: Int64, maximumSize: Int64?) {
    bounds.withLock { $0 = (retention, maximumSize, true) }
  }

  /// Removes some rows if the file is too large.
  ///
  /// - Returns: true if there may be more to remove.
  private func trimToSize() -> Bool {
    guard let size = bounds.withLock({ $0.maximumSize }) else { return false }
    return (try? file.trim(toSize: size)) ?? false
  }

  /// Removes some of the rows that are older than the retention time.
  ///
  /// - Returns: true if there may be more to remove.
  private func trim() -> Bool {
    let end = Int64(Date().timeIntervalSince1970) - bounds.withLock { $0.retention }
    // Rows that can't be removed now are removed the next time.
    return (try? file.trim(before: end * 1000)) ?? false
  }

  /// Writes rows, after a row about the events that were lost before.
  private func write(_ batch: LogBatch, _ group: inout LogGroup) {
    let known = loss.withLock { $0 }
    let rows = known.map { batch.following(DeliveryLog.row(of: $0)) } ?? batch
    let pieces = rows.pieces(of: Limits.maximumLogBatchSize)
    var left = pieces[...]
    do {
      do {
        try file.access { try DeliveryLog.write(rows, &left, &group, to: $0) }
      } catch  where error.isDamage {
        // The new file that replaces the damaged one takes the whole batch.
        left = pieces[...]
        try file.access { try DeliveryLog.write(rows, &left, &group, to: $0) }
      }
      endTrouble()
      if let known { recovery.withLock { $0 }(known.since) }
    } catch {
      // Logged once; the number of lost events is logged when the problem ends.
      if problem == nil || known == nil { logger.log(.eventsNotLogged, "not logged: \(error)") }
      begin(trouble: error)
      let isNoted = left.count < pieces.count
      if isNoted { loss.withLock { $0 = nil } }
      let unwritten = left.reduce(0) { $0 + LogBatch.rows(Array(rows.bytes[$1])).count }
      note(lost: unwritten - (known != nil && !isNoted ? 1 : 0))
    }
  }

  /// Counts events that are not logged.
  private func note(lost count: Int) {
    guard count > 0 else { return }
    loss.withLock { loss in
      loss = (count: (loss?.count ?? 0) + count, since: loss?.since ?? WallClock.system.milliseconds())
    }
    LogBatch.events.firstIndex(of: .lost).map { events.add(UInt64(count), at: $0) }
  }

  /// Returns the row about lost events.
  private static func row(of loss: (count: Int, since: Int64)) -> Row {
    Row(
      at: WallClock.system.milliseconds(), event: .lost, id: noPush,
      detail: .lost(loss.count, since: Timestamp.text(loss.since)))
  }

  /// The id in a row that belongs to no push.
  private static let noPush: APNSID = {
    guard let id = APNSID("00000000-0000-0000-0000-000000000000") else { preconditionFailure("this is a UUID") }
    return id
  }()

  private func begin(trouble error: StoreError) {
    let now = Int64(Date().timeIntervalSince1970)
    trouble.withLock {
      $0 = $0 ?? HealthProblem(part: "delivery-log", problem: error.description, since: now)
    }
  }

  private func endTrouble() {
    let wasFailing = trouble.withLock { trouble in
      defer { trouble = nil }
      return trouble != nil
    }
    let count = loss.withLock { loss in
      defer { loss = nil }
      return loss?.count ?? 0
    }
    guard wasFailing, count > 0 else { return }
    logger.log(.eventsLoggedAgain, "events are logged again", metadata: ["missing": "\(count)"])
  }

  /// - Parameter left: the pieces to write; each is removed when it is written.
  private static func write(
    _ batch: LogBatch, _ left: inout ArraySlice<Range<Int>>, _ group: inout LogGroup, to queue: DatabaseQueue
  ) throws {
    while let piece = left.first {
      // Each piece has the times of the whole batch: a reader searches at most one piece in vain.
      try unsafe batch.bytes.withUnsafeBytes { bytes in
        let rows = unsafe UnsafeRawBufferPointer(rebasing: bytes[piece])
        try unsafe LogFile.append(rows, first: batch.first, last: batch.last, to: queue, &group)
      }
      left.removeFirst()
    }
  }
}
