import Foundation
import GRDB
import Logging
import Synchronization

/// What happened to a push (design §1).
enum DeliveryEvent: String, Sendable, Codable, CaseIterable {
  case accepted, refused, stored, collapsed, transmitted, acknowledged, presented, suppressed
  case viewed, closed, action, expired, dropped
}

/// The delivery log: one row per change of state, in a file of its own, written behind.
///
/// It never delays a push: rows are handed over and written by a thread of its own, and what the last moments before
/// a crash would have added is lost. Rows are kept for ``retention``.
final class DeliveryLog: Sendable {
  /// One change of state.
  struct Row: Sendable {
    /// Milliseconds since 1970.
    var at: Int64
    var event: DeliveryEvent
    var id: APNSID
    var device: DeviceID?
    var app: AppID?
    /// The rule, the parts, the action: whatever the event is about.
    var detail = ""
  }

  /// What a reader asks for.
  struct Query: Sendable {
    var id: APNSID?
    var device: DeviceID?
    var app: AppID?
    /// Milliseconds since 1970.
    var since: Int64?
    /// Rows after this one, for following.
    var after: Int64?
    var limit = 1000
  }

  /// A row as a reader gets it.
  struct Record: Sendable {
    var number: Int64
    var row: Row
  }

  private struct Inbox {
    var rows: [Row] = []
    var dropped = 0
    /// Readers who want to see everything handed over so far.
    var readers: [CheckedContinuation<Void, Never>] = []
    var isWriterAwake = false
    var isClosed = false
  }

  private let queue: DatabaseQueue
  private let inbox = Mutex(Inbox())
  private let wake = DispatchSemaphore(value: 0)
  /// Cuts the writer's pause short.
  private let hurry = DispatchSemaphore(value: 0)
  private let stopped = DispatchSemaphore(value: 0)
  private let logger: Logger
  private let trouble = Mutex<HealthProblem?>(nil)

  /// Why events are not logged now; nil when they are.
  var problem: HealthProblem? { trouble.withLock { $0 } }

  /// How long a row is kept, in seconds.
  private let retention: Int64
  /// How long the writer collects rows: waking it for each costs more than writing it.
  private static let pause = 0.05

  init(path: String, retention: Int64, logger: Logger) throws(StoreError) {
    self.logger = logger
    self.retention = retention
    do {
      queue = try DatabaseQueue(path: path)
      try queue.writeWithoutTransaction { db in
        try db.execute(
          sql: """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
            CREATE TABLE IF NOT EXISTS event (
              number INTEGER PRIMARY KEY, at INTEGER NOT NULL, event TEXT NOT NULL, id BLOB NOT NULL,
              device INTEGER, app INTEGER, detail TEXT NOT NULL)
            """)
        try db.execute(
          sql: "DELETE FROM event WHERE at < ?",
          arguments: [Int64(Date().timeIntervalSince1970 - Double(retention)) * 1000])
      }
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
    let thread = Thread { [self] in run() }
    thread.name = "delivery-log"
    thread.start()
  }

  /// Takes rows to be written soon; beyond ``Limits/maximumLogBacklog`` the newest are dropped and counted.
  func append(_ rows: [Row]) {
    guard !rows.isEmpty else { return }
    let mustWake = inbox.withLock { inbox in
      if inbox.rows.count + rows.count > Limits.maximumLogBacklog {
        inbox.dropped += rows.count
        return false
      }
      inbox.rows += rows
      defer { inbox.isWriterAwake = true }
      return !inbox.isWriterAwake
    }
    if mustWake { wake.signal() }
  }

  /// Writes what is in line and stops.
  func close() {
    let isFirst = inbox.withLock { inbox in
      defer { inbox.isClosed = true }
      return !inbox.isClosed
    }
    guard isFirst else { return }
    wake.signal()
    hurry.signal()
    stopped.wait()
  }

  /// Returns when everything handed over so far has been written.
  private func settle() async {
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

  /// The newest rows that match, oldest first.
  func rows(_ query: Query) async throws -> [Record] {
    await settle()
    var conditions: [String] = []
    var arguments: [any DatabaseValueConvertible] = []
    if let id = query.id {
      // The last four bytes only remember the case of the letters.
      conditions.append("substr(id, 1, 16) = ?")
      arguments.append(Data(id.stored.prefix(16)))
    }
    if let device = query.device {
      conditions.append("device = ?")
      arguments.append(device.row)
    }
    if let app = query.app {
      conditions.append("app = ?")
      arguments.append(app.row)
    }
    if let since = query.since {
      conditions.append("at >= ?")
      arguments.append(since)
    }
    if let after = query.after {
      conditions.append("number > ?")
      arguments.append(after)
    }
    let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
    let sql = "SELECT * FROM (SELECT * FROM event \(filter) ORDER BY number DESC LIMIT \(query.limit)) ORDER BY number"
    let values = StatementArguments(arguments) ?? StatementArguments()
    return try await queue.read { db in
      try GRDB.Row.fetchAll(db, sql: sql, arguments: values).compactMap { row in
        guard let id = APNSID(stored: Array(row["id"] as Data)), let event = DeliveryEvent(rawValue: row["event"])
        else {
          return nil
        }
        return Record(
          number: row["number"],
          row: Row(
            at: row["at"], event: event, id: id, device: (row["device"] as Int64?).map(DeviceID.init),
            app: (row["app"] as Int64?).map(AppID.init), detail: row["detail"]))
      }
    }
  }

  private func run() {
    while true {
      let taken = inbox.withLock { inbox -> Inbox in
        let taken = inbox
        inbox.rows = []
        inbox.dropped = 0
        inbox.readers = []
        if taken.rows.isEmpty { inbox.isWriterAwake = false }
        return taken
      }
      if taken.dropped > 0 {
        logger.warning("the delivery log could not keep up", metadata: ["dropped": "\(taken.dropped)"])
      }
      do {
        if !taken.rows.isEmpty {
          try write(taken.rows)
          trouble.withLock { $0 = nil }
        }
      } catch {
        let explanation = SQLiteStore.explain(error, path: queue.path)
        logger.error("not logged: \(explanation)", metadata: ["dropped": "\(taken.rows.count)"])
        let now = Int64(Date().timeIntervalSince1970)
        trouble.withLock {
          $0 = $0 ?? HealthProblem(part: "delivery-log", problem: explanation.description, since: now)
        }
      }
      for reader in taken.readers { reader.resume() }
      if taken.rows.isEmpty {
        if taken.isClosed { break }
        wake.wait()
      }
      if !taken.isClosed { _ = hurry.wait(timeout: .now() + DeliveryLog.pause) }
    }
    stopped.signal()
  }

  private func write(_ rows: [Row]) throws {
    try queue.writeWithoutTransaction { db in
      try db.inTransaction {
        let insert = try PreparedStatement(
          db, "INSERT INTO event (at, event, id, device, app, detail) VALUES (?, ?, ?, ?, ?, ?)")
        for row in rows {
          insert.bind(row.at)
          insert.bind(text: row.event.rawValue)
          insert.bind(blob: row.id.stored)
          insert.bind(row.device?.row)
          insert.bind(row.app?.row)
          insert.bind(text: row.detail)
          try insert.run()
        }
        return .commit
      }
    }
  }
}
