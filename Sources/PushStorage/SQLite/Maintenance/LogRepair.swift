package import Foundation
import GRDB
package import PushCore

/// The result of a repair of the delivery log.
package struct LogRepairReport: Codable, Sendable, Equatable {
  /// The number of records in the new log, and of the events in them.
  package var records = 0
  package var events = 0
  /// The number of parts that could not be read.
  package var damages = 0
  /// The paths under which the damaged files are kept.
  package var aside: [String] = []
}

/// Copies the valid records of damaged delivery logs into the current one: from the file that the gateway would
/// write, and from the files that it has moved aside.
enum LogRepair {
  /// Repairs the delivery log.
  ///
  /// - Returns: nil if nothing is damaged.
  static func repair(path: String, stamp: String) throws(StoreError) -> LogRepairReport? {
    let stem = path.hasSuffix(".sqlite") ? String(path.dropLast(7)) : path
    do {
      var sources = copies(of: stem)
      if isDamaged(path) {
        let aside = "\(stem).damaged-\(stamp).sqlite"
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        sources.append(aside)
      }
      if sources.isEmpty { return nil }
      var report = LogRepairReport()
      let draft = path + ".repaired"
      for suffix in ["", "-journal"] { try? FileManager.default.removeItem(atPath: draft + suffix) }
      try fill(draft, from: sources + [path], &report)
      for suffix in ["", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
      try FileManager.default.moveItem(atPath: draft, toPath: path)
      try? FileManager.default.removeItem(atPath: draft + "-journal")
      // Renamed, so that a second repair does not copy them again.
      for source in sources {
        let kept = source.replacing(".damaged-", with: ".salvaged-")
        try FileManager.default.moveItem(atPath: source, toPath: kept)
        report.aside.append(kept)
      }
      return report
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Returns the logs that were moved aside, the oldest first.
  static func copies(of stem: String) -> [String] {
    let (folder, name) = ((stem as NSString).deletingLastPathComponent, (stem as NSString).lastPathComponent)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix(name + ".damaged-") && $0.hasSuffix(".sqlite") }.sorted().map {
      folder + "/" + $0
    }
  }

  private static func isDamaged(_ path: String) -> Bool {
    guard FileManager.default.fileExists(atPath: path) else { return false }
    // Opening the file rolls back a transaction that a killed gateway left unfinished.
    if let queue = try? DatabaseQueue(path: path) {
      _ = try? queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 0") }
      try? queue.close()
    }
    do {
      try SQLiteStore.check(path: path)
      return false
    } catch {
      return true
    }
  }

  private static func fill(_ draft: String, from sources: [String], _ report: inout LogRepairReport) throws {
    let file = LogFile(path: draft) { _ in }
    let queue = try file.database()
    var group = LogGroup()
    for source in sources where FileManager.default.fileExists(atPath: source) {
      try records(of: source, &report) { first, last, rows in
        try unsafe rows.withUnsafeBytes {
          try unsafe LogFile.append($0, first: first, last: last, to: queue, &group)
        }
      }
    }
    try LogFile.complete(&group, in: queue)
    try file.close()
  }

  /// The maximum number of consecutive attempts without a result. Each skips twice as many numbers as the one before,
  /// so that together they cover all numbers.
  private static let maximumAttempts = 44

  /// Reads the readable records of a log, in the order of their numbers.
  private static func records(
    of path: String, _ report: inout LogRepairReport, _ take: (Int64, Int64, [UInt8]) throws -> Void
  ) throws {
    var configuration = GRDB.Configuration()
    configuration.readonly = true
    guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else {
      report.damages += 1
      return
    }
    var (next, step, attempts) = (Int64(0), Int64(1), 0)
    while attempts < maximumAttempts {
      do {
        try queue.read { db in
          let rows = try PreparedStatement(
            db, "SELECT number, first, last, rows FROM batch WHERE number >= ? ORDER BY number")
          rows.bind(next)
          defer { rows.reset() }
          while try rows.next() {
            let number = try rows.integer(0, in: 0...Int64.max - 1)
            next = max(next, number)
            let bytes = rows.blob(3)
            let events = LogBatch.rows(bytes).count
            if events > 0 {
              try take(rows.integer(1, in: .min ... .max), rows.integer(2, in: .min ... .max), bytes)
              report.records += 1
              report.events += events
            }
            (next, step, attempts) = (number + 1, 1, 0)
          }
        }
        return
      } catch let error as DatabaseError where SQLiteStore.isDamage(error) {
        if attempts == 0 { report.damages += 1 }
        next += step
        step *= 2
        attempts += 1
      }
    }
  }
}

extension StateFolder {
  /// The damaged delivery logs that were moved aside, from which a repair copies the readable records.
  package var damagedLogs: [String] { LogRepair.copies(of: String(logPath.dropLast(7))) }

  /// Copies the readable records of damaged delivery logs into the current one.
  ///
  /// - Returns: nil if there is nothing to repair.
  /// - Throws: ``Failure`` if a gateway runs on the folder, or the folder can't be written.
  package func repairLog(now: Date = Date()) throws -> LogRepairReport? {
    let claim = try claim()
    return try withExtendedLifetime(claim) {
      let stamp = Timestamp.text(now, .compact)
      return try LogRepair.repair(path: logPath, stamp: stamp)
    }
  }
}
