import Foundation
import GRDB
package import PushCore
import Synchronization

extension DeliveryLog {
  /// Removes the rows of devices from the log, because nothing about their pushes may remain.
  ///
  /// This reads the whole log, some batches at a time, so that new rows can be written between them. Rows after the
  /// removed ones get lower numbers.
  package func erase(_ devices: Set<DeviceID>) async throws { try await erase(devices, onlyTexts: false) }

  /// Removes the texts of devices from the log; their rows stay.
  ///
  /// This reads the whole log. Only one erasure runs at a time; requests that arrive during it share the next one.
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

  /// Erases the rows or the texts of devices from the next batches.
  ///
  /// - Returns: the number of the last batch that was read; nil if there is none after `number`.
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
        let bytes = batches.blob(1)
        if let rows = LogBatch.bytes(bytes, without: devices, onlyTexts: onlyTexts) {
          changed.append((number, rows))
          if !onlyTexts { try EventCursor.renumber(number, bytes, without: devices, in: db) }
        }
      }
      for (number, rows) in changed {
        try db.execute(sql: "UPDATE batch SET rows = ? WHERE number = ?", arguments: [Data(rows), number])
      }
      return last
    }
  }
}
