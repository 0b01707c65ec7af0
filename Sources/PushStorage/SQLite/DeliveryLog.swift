import Foundation
import GRDB
package import Logging
package import PushCore
package import PushPolicy
import Synchronization

/// What happened to a push (design §1).
package enum DeliveryEvent: String, Sendable, Codable, CaseIterable {
  case accepted, refused, stored, collapsed, transmitted, acknowledged, presented, suppressed
  case viewed, closed, action, expired, dropped
  /// A part of an accepted payload that devices ignore, because its type is wrong.
  case ignored
  /// A fault that was set on purpose struck.
  case fault
  /// It was stored, and its device can't read it: it left the mailbox.
  case undeliverable
  /// Its sender said to which trace it belongs.
  case traced
  /// Its sender took it back.
  case retracted
  /// A rule was broken, and its app has such a breach logged instead of refused.
  case reported
}

/// The delivery log: one row per change of state, in a file of its own, written behind.
///
/// It never delays a push: rows become bytes where they arise (``LogBatch``), a thread of its own writes those of some
/// moments as one record, and what the last moments before a crash would have added is lost. A row for each event cost
/// a fifth of what accepting a push costs; a reader looks through the records instead. They are kept for so long, and as
/// far as the file may be so large.
package final class DeliveryLog: Sendable {
  /// One change of state.
  package struct Row: Sendable {
    /// Milliseconds since 1970.
    package var at: Int64
    package var event: DeliveryEvent
    package var id: APNSID
    /// The `apns-unique-id`, by which a sender may look the push up; only of what was accepted.
    package var uniqueID: APNSID?
    package var device: DeviceID?
    package var app: AppID?
    /// Whatever else the event is about.
    package var detail = DeliveryDetail.nothing

    package init(
      at: Int64, event: DeliveryEvent, id: APNSID, uniqueID: APNSID? = nil, device: DeviceID? = nil, app: AppID? = nil,
      detail: DeliveryDetail = .nothing
    ) {
      (self.at, self.event, self.id, self.uniqueID) = (at, event, id, uniqueID)
      (self.device, self.app, self.detail) = (device, app, detail)
    }
  }

  /// What a reader asks for.
  package struct Query: Sendable {
    package var id: APNSID?
    package var device: DeviceID?
    package var app: AppID?
    /// nil for all.
    package var events: Set<DeliveryEvent>?
    /// Milliseconds since 1970.
    package var since: Int64?
    /// Rows after this one, for following.
    package var after: Int64?
    /// Rows before this one, for reading back.
    package var before: Int64?
    /// Rows whose text holds this, in whatever case.
    package var text: String?
    /// The texts about a device that the reader may find; records have no other text.
    package var textAccess: @Sendable (DeviceID) -> TextAccess = { _ in .none }
    package var limit = 1000
    /// How many bytes of the log are looked through, from the newest on.
    package var maximumReadSize = Int.max

    package init(
      id: APNSID? = nil, device: DeviceID? = nil, app: AppID? = nil, events: Set<DeliveryEvent>? = nil,
      since: Int64? = nil, after: Int64? = nil, before: Int64? = nil, limit: Int = 1000,
      maximumReadSize: Int = .max
    ) {
      self.maximumReadSize = maximumReadSize
      self.id = id
      self.device = device
      self.app = app
      self.events = events
      self.since = since
      self.after = after
      self.before = before
      self.limit = limit
    }
  }

  /// A row as a reader gets it.
  package struct Record: Sendable {
    package var number: Int64
    package var row: Row
    /// The title and texts of the push, a line each, where they are kept and for whoever asks.
    package var text: String?

    package init(number: Int64, row: Row, text: String? = nil) {
      (self.number, self.row, self.text) = (number, row, text)
    }
  }

  private struct Inbox {
    var batch = LogBatch()
    var dropped = 0
    /// Readers who want to see everything handed over so far.
    var readers: [CheckedContinuation<Void, Never>] = []
    var isWriterAwake = false
    var isClosed = false
  }

  /// What is kept.
  private struct Bounds {
    /// How long a row is kept, in seconds.
    var retention: Int64
    /// How large the file may be, in bytes.
    var maximumSize: Int64?
    /// Whether the writer has not looked at these yet.
    var isNew = false
  }

  /// Texts that are to be taken out of the log.
  private struct Erasures {
    var waiting: [(devices: Set<DeviceID>, continuation: CheckedContinuation<Void, any Error>)] = []
    var isUnderWay = false
  }

  /// How often each of ``countedEvents`` has happened, in their order.
  package let events = Counters(count: LogBatch.events.count)
  package let limits = LimitCounters()
  /// The events in the order in which they are counted.
  package static var countedEvents: [DeliveryEvent] { LogBatch.events }
  let file: LogFile
  let waits = LogWaits()
  /// Hears of rows that were written, on the writer's thread.
  private let listener = Mutex<(@Sendable (_ rows: [UInt8]) -> Void)?>(nil)
  private let inbox = Mutex(Inbox())
  private let erasures = Mutex(Erasures())
  private let wake = EventDescriptor()
  /// Cuts the writer's pause short.
  private let hurry = EventDescriptor()
  private let stopped = DispatchSemaphore(value: 0)
  private let logger: Logger
  private let trouble = Mutex<HealthProblem?>(nil)
  /// Events that were not logged since the trouble began; the writer's.
  private let missing = Atomic<Int>(0)

  /// Why events are not logged now; nil when they are.
  package var problem: HealthProblem? { trouble.withLock { $0 } }

  /// What is kept.
  private let bounds: Mutex<Bounds>
  /// How long the writer collects rows: waking it for each costs more than writing it.
  private static let pause = 0.05
  /// How long after a failure the disk is tried again, also when nothing happens that could be logged.
  private static let probeTime = 1.0
  /// How much is written until the file's size is looked at, in bytes: so much it may be too large.
  private static let looseSize = 1 << 20
  /// How often old rows are removed, in seconds.
  private static let trimInterval = 3600.0

  /// - Parameters:
  ///   - path: of its file; one that can't be written now is tried again, and events are not logged meanwhile.
  ///   - retention: how long a row is kept, in seconds.
  ///   - maximumSize: how large the file may be, in bytes; nil: any size.
  package init(path: String, retention: Int64, maximumSize: Int64? = nil, logger: Logger) {
    self.logger = logger
    bounds = Mutex(Bounds(retention: retention, maximumSize: maximumSize))
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
    // What goes wrong is in health at once, and in the log when an event is lost by it.
    do { _ = try file.database() } catch { begin(trouble: error) }
    let thread = Thread { [self] in run() }
    thread.name = "delivery-log"
    thread.start()
  }

  /// Takes rows to be written soon; beyond ``Limits/maximumLogBacklog`` and ``Limits/maximumLogBacklogSize`` the newest
  /// are dropped and counted.
  package func append(_ rows: [Row]) {
    var batch = LogBatch()
    for row in rows { batch.append(row) }
    append(&batch)
  }

  /// Takes the rows of a batch, which is empty then and can be filled again.
  package func append(_ batch: inout LogBatch) {
    guard batch.count > 0 else { return }
    for index in batch.counts.indices where batch.counts[index] > 0 {
      events.add(UInt64(batch.counts[index]), at: index)
    }
    if logger.logLevel <= LoggedEvent.push.level { tell(batch) }
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

  /// Logs the stages that pushes have reached: every one of them passes here.
  private func tell(_ batch: LogBatch) {
    for (_, row, _) in LogBatch.rows(batch.bytes) {
      var metadata: Logger.Metadata = ["id": "\(row.id)", "stage": "\(row.event.rawValue)"]
      // Not what may quote the payload.
      if row.detail.code != nil { metadata["detail"] = "\(row.detail.words)" }
      if case .trace(let parent) = row.detail { metadata["trace_id"] = "\(parent.dropFirst(3).prefix(32))" }
      logger.log(.push, "push \(row.event.rawValue)", metadata: metadata)
    }
  }

  /// Has `listener` called with the rows of each batch that was written, on the writer's thread.
  func listen(_ listener: @escaping @Sendable (_ rows: [UInt8]) -> Void) { self.listener.withLock { $0 = listener } }

  /// Writes what is in line and stops.
  package func close() {
    let isFirst = inbox.withLock { inbox in
      defer { inbox.isClosed = true }
      return !inbox.isClosed
    }
    guard isFirst else { return }
    wake.signal()
    hurry.signal()
    stopped.wait()
  }

  /// How many rows wait to be written.
  package var waitingCount: Int { inbox.withLock { $0.batch.count } }

  /// Returns when everything handed over so far has been written.
  func settle() async {
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

  /// Takes the rows of devices out of the log: what they were pushed is nobody's business any longer.
  ///
  /// It goes through all of the log, some batches at a time, so that what happens meanwhile is written. Rows behind those
  /// that go get lower numbers.
  package func erase(_ devices: Set<DeviceID>) async throws { try await erase(devices, onlyTexts: false) }

  /// Takes the texts of devices out of the log; their rows stay.
  ///
  /// It goes through all of the log: one does at a time, and whoever asks meanwhile shares the next.
  package func eraseTexts(of devices: Set<DeviceID>) async throws {
    try await withCheckedThrowingContinuation { continuation in
      let mustErase = erasures.withLock { erasures in
        erasures.waiting.append((devices, continuation))
        defer { erasures.isUnderWay = true }
        return !erasures.isUnderWay
      }
      if mustErase { Task { await eraseTexts() } }
    }
  }

  private func eraseTexts() async {
    while true {
      let taken = erasures.withLock { erasures in
        defer { erasures.waiting = [] }
        erasures.isUnderWay = !erasures.waiting.isEmpty
        return erasures.waiting
      }
      if taken.isEmpty { return }
      let devices = taken.reduce(into: Set()) { $0.formUnion($1.devices) }
      do {
        try await erase(devices, onlyTexts: true)
        for one in taken { one.continuation.resume() }
      } catch {
        for one in taken { one.continuation.resume(throwing: error) }
      }
    }
  }

  private func erase(_ devices: Set<DeviceID>, onlyTexts: Bool) async throws {
    guard !devices.isEmpty else { return }
    await settle()
    var last: Int64 = -1
    while let next = try await erase(devices, onlyTexts: onlyTexts, after: last) { last = next }
    try await file.removeJournal()
  }

  /// - Returns: the number of the last batch that was looked at; nil when there is none after `number`.
  private func erase(_ devices: Set<DeviceID>, onlyTexts: Bool, after number: Int64) async throws -> Int64? {
    try await file.database().write { db in
      let batches = try PreparedStatement(
        db, "SELECT number, rows FROM batch WHERE number > ? ORDER BY number LIMIT 16")
      defer { batches.reset() }
      batches.bind(number)
      var last: Int64?
      var changed: [(number: Int64, rows: [UInt8])] = []
      while try batches.next() {
        let number = try batches.integer(0)
        last = number
        if let rows = LogBatch.bytes(batches.blob(1), without: devices, onlyTexts: onlyTexts) {
          changed.append((number, rows))
        }
      }
      for (number, rows) in changed {
        try db.execute(sql: "UPDATE batch SET rows = ? WHERE number = ?", arguments: [Data(rows), number])
      }
      return last
    }
  }

  private func run() {
    var nextTrim = DispatchTime.now()
    // The file may be too large already.
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
      }
      if taken.batch.count > 0 {
        write(taken.batch, &group)
        waits.note(taken.batch.bytes)
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
        waitForWork()
      }
      if !taken.isClosed { _ = hurry.wait(until: .now() + DeliveryLog.pause) }
    }
    // What is not in a group is looked through row by row: that is what a crash leaves, and no stop.
    try? file.access { try LogFile.complete(&group, in: $0) }
    stopped.signal()
  }

  /// Waits until there is something to write; after a failure only for a moment, then tries the disk.
  ///
  /// Who looks at the gateway's health and sends nothing until all is well must see when it is.
  private func waitForWork() {
    guard problem != nil else { return wake.wait() }
    guard !wake.wait(until: .now() + DeliveryLog.probeTime) else { return }
    // A page that says nothing new.
    let isWell =
      (try? file.access { queue in
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 0") }
      }) != nil
    if isWell { endTrouble() }
  }

  /// Keeps other rows from now on: the writer looks with the next rows that are written.
  ///
  /// - Parameters:
  ///   - retention: how long a row is kept, in seconds.
  ///   - maximumSize: how large the file may be, in bytes; nil: any size.
  package func keep(retention: Int64, maximumSize: Int64?) {
    bounds.withLock { $0 = Bounds(retention: retention, maximumSize: maximumSize, isNew: true) }
  }

  /// Removes some of what the file is too large for.
  ///
  /// - Returns: whether there may be more.
  private func trimToSize() -> Bool {
    guard let size = bounds.withLock({ $0.maximumSize }) else { return false }
    return (try? file.trim(toSize: size)) ?? false
  }

  /// Removes some of what is older than ``Bounds/retention``.
  ///
  /// - Returns: whether there may be more.
  private func trim() -> Bool {
    let end = Int64(Date().timeIntervalSince1970) - bounds.withLock { $0.retention }
    // What can't be removed now stays for the next time.
    return (try? file.trim(before: end * 1000)) ?? false
  }

  private func write(_ batch: LogBatch, _ group: inout LogGroup) {
    do {
      do {
        try file.access { try DeliveryLog.write(batch, &group, to: $0) }
      } catch  where error.isDamage {
        // The file that was begun instead takes it.
        try file.access { try DeliveryLog.write(batch, &group, to: $0) }
      }
      endTrouble()
    } catch {
      begin(trouble: error)
      // Said once; how many there were is said when it is over.
      if missing.add(batch.count, ordering: .relaxed).oldValue == 0 {
        logger.log(.eventsNotLogged, "not logged: \(error)")
      }
    }
  }

  private func begin(trouble error: StoreError) {
    let now = Int64(Date().timeIntervalSince1970)
    trouble.withLock {
      $0 = $0 ?? HealthProblem(part: "delivery-log", problem: error.description, since: now)
    }
  }

  private func endTrouble() {
    trouble.withLock { $0 = nil }
    let count = missing.exchange(0, ordering: .relaxed)
    if count > 0 { logger.log(.eventsLoggedAgain, "events are logged again", metadata: ["missing": "\(count)"]) }
  }

  private static func write(_ batch: LogBatch, _ group: inout LogGroup, to queue: DatabaseQueue) throws {
    for piece in batch.pieces(of: Limits.maximumLogBatchSize) {
      // The times of all pieces: a reader looks into one too many, at most.
      try unsafe batch.bytes.withUnsafeBytes { bytes in
        let rows = unsafe UnsafeRawBufferPointer(rebasing: bytes[piece])
        try unsafe LogFile.append(rows, first: batch.first, last: batch.last, to: queue, &group)
      }
    }
  }
}
