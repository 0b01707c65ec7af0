import Foundation
import GRDB
import PushCore
import Synchronization

/// Reads the index of a mailbox from its tables. Two threads read ranges of rows. A range is added after the ranges
/// before it, because the index needs rows in their order.
final class MailboxReader: Sendable {
  /// The data that was read.
  struct Result: Sendable {
    var index = MailboxIndex()
    /// The changes to make to rows that are no longer needed.
    var changes: [MailboxIndex.RowChange] = []
    var removals: [MailboxRemoval] = []
  }

  private struct Progress {
    /// The next range that no thread reads yet.
    var next = 0
    /// The range whose rows may be added.
    var turn = 0
    var result = Result()
    var failure: (any Error)?
  }

  private static let threadCount = 2
  private static let rangeCount: Int64 = 256
  /// The maximum number of rows that a thread collects before it adds them.
  private static let batchSize = 16_384

  private let store: SQLiteStore
  /// The first and the last row; nil if there are none.
  private let rows: ClosedRange<Int64>?
  private let now: Int64
  private let progress = Mutex(Progress())
  /// Signaled when ``Progress/turn`` changes.
  private let turns = NSCondition()

  init(store: SQLiteStore, now: Int64) throws {
    self.store = store
    self.now = now
    rows = try store.pool.read(MailboxReader.rows)
  }

  /// Returns the first and the last row; nil if there are none.
  private static func rows(_ db: Database) throws -> ClosedRange<Int64>? {
    let (least, greatest) = (
      try PreparedStatement(db, "SELECT min(id) FROM mailbox"), try PreparedStatement(db, "SELECT max(id) FROM mailbox")
    )
    defer {
      least.reset()
      greatest.reset()
    }
    guard try least.next(), try greatest.next(),
      let first = try least.optionalInteger(0, in: Int64.min...Int64.max),
      let last = try greatest.optionalInteger(0, in: Int64.min...Int64.max)
    else { return nil }
    return first...last
  }

  /// Reads all rows, which takes a while.
  func read() throws -> Result {
    try store.pool.read { db in
      try progress.withLock { progress in try MailboxRows.readStates(db, into: &progress.result.index) }
    }
    guard rows != nil else { return progress.withLock { $0.result } }
    let ended = DispatchSemaphore(value: 0)
    for _ in 1..<MailboxReader.threadCount {
      Thread.detachNewThread { [self] in
        readRanges()
        ended.signal()
      }
    }
    readRanges()
    for _ in 1..<MailboxReader.threadCount { ended.wait() }
    return try progress.withLock { progress in
      if let failure = progress.failure { throw failure }
      defer { progress.result = Result() }
      return progress.result
    }
  }

  private func readRanges() {
    while let range = progress.withLock({ progress -> Int? in
      guard progress.next < MailboxReader.rangeCount, progress.failure == nil else { return nil }
      defer { progress.next += 1 }
      return progress.next
    }) {
      do {
        try store.pool.read { db in try read(range, from: db) }
        pass(range, nil)
      } catch {
        pass(range, error)
      }
    }
  }

  private func read(_ number: Int, from db: Database) throws {
    guard let rows, let range = MailboxReader.part(number, of: rows) else { return waitForTurn(number) }
    var batch: [(device: DeviceID, entry: MailboxIndex.Entry)] = []
    batch.reserveCapacity(MailboxReader.batchSize)
    try MailboxRows.readRows(db, in: range) { device, entry in
      batch.append((device, entry))
      guard batch.count == MailboxReader.batchSize else { return }
      try add(batch, of: number)
      batch.removeAll(keepingCapacity: true)
    }
    try add(batch, of: number)
  }

  /// Returns a part of all rows; nil if it is empty.
  private static func part(_ number: Int, of rows: ClosedRange<Int64>) -> ClosedRange<Int64>? {
    // In a damaged database, rows may have any number.
    let (first, last) = (rows.lowerBound, rows.upperBound)
    let span = UInt64(bitPattern: last &- first)
    let size = span / UInt64(rangeCount) + 1
    let (offset, isBeyond) = size.multipliedReportingOverflow(by: UInt64(number))
    guard !isBeyond, offset <= span else { return nil }
    let start = first &+ Int64(bitPattern: offset)
    return start...(span - offset < size ? last : start &+ Int64(bitPattern: size - 1))
  }

  private func add(_ batch: [(device: DeviceID, entry: MailboxIndex.Entry)], of range: Int) throws {
    waitForTurn(range)
    try progress.withLock { progress in
      if let failure = progress.failure { throw failure }
      for (device, entry) in batch {
        try MailboxRows.restore(
          entry, of: device, in: &progress.result.index, now: now, changes: &progress.result.changes,
          removals: &progress.result.removals)
      }
    }
  }

  private func waitForTurn(_ range: Int) {
    turns.lock()
    while progress.withLock({ $0.turn < range && $0.failure == nil }) { turns.wait() }
    turns.unlock()
  }

  private func pass(_ range: Int, _ failure: (any Error)?) {
    waitForTurn(range)
    turns.lock()
    progress.withLock { progress in
      progress.turn = range + 1
      if progress.failure == nil { progress.failure = failure }
    }
    turns.broadcast()
    turns.unlock()
  }
}
