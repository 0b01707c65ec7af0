import GRDB

extension DeliveryLog {
  /// The rows of the next request to an event target.
  package struct Unsent: Sendable {
    package var cursor: EventCursor
    package var records: [Record]
    /// The number up to which ``records`` are complete.
    package var end: Int64
  }

  /// Returns the rows after the cursor of a target: those of the request that was begun, or the next ones.
  ///
  /// - Parameters:
  ///   - since: the time in milliseconds since 1970 of the first row.
  ///   - query: the rows to return, and their number.
  @inline(never)
  package func unsent(for target: String, since: Int64, _ query: Query) async throws -> Unsent {
    let cursor = try await cursor(of: target, since: since)
    var query = query
    (query.since, query.after) = (since, cursor.position)
    query.before = cursor.pending.map { min($0, .max - 1) + 1 }
    let page = try await writtenPage(query)
    return Unsent(cursor: cursor, records: page.records, end: min(page.next, cursor.pending ?? .max))
  }

  @inline(never)
  private func cursor(of target: String, since: Int64) async throws -> EventCursor {
    if let known = try await file.read({ try EventCursor.find(target, $0) }) { return known }
    return try await file.write { try EventCursor.make(target, since: since, $0) }
  }

  /// Stores the last row of a request that is begun.
  ///
  /// - Returns: false if the rows or the cursor have changed since they were read.
  @inline(never)
  package func begin(_ cursor: EventCursor, through end: Int64) async throws -> Bool {
    try await file.write { db in
      try db.execute(
        sql: """
          UPDATE event_cursor SET pending = ?
            WHERE target = ? AND series = ? AND position = ? AND changes = ?
          """,
        arguments: [end, cursor.target, cursor.series, cursor.position, cursor.changes])
      return db.changesCount > 0
    }
  }

  /// Moves a cursor behind the request that was begun, because the target has accepted it.
  @inline(never)
  package func finish(_ cursor: EventCursor) async throws {
    try await file.write { db in
      try db.execute(
        sql: """
          UPDATE event_cursor SET position = pending, pending = NULL
            WHERE target = ? AND series = ? AND pending IS NOT NULL
          """,
        arguments: [cursor.target, cursor.series])
    }
  }

  /// Moves a cursor behind rows that the target does not get.
  @inline(never)
  package func pass(_ cursor: EventCursor, to end: Int64) async throws {
    try await file.write { db in
      try db.execute(
        sql: """
          UPDATE event_cursor SET position = ?, pending = NULL
            WHERE target = ? AND series = ? AND position = ? AND changes = ?
          """,
        arguments: [end, cursor.target, cursor.series, cursor.position, cursor.changes])
    }
  }

  /// Removes the cursors of all targets but these.
  @inline(never)
  package func keepCursors(of targets: Set<String>) async throws {
    try await file.write { db in
      for target in try String.fetchAll(db, sql: "SELECT target FROM event_cursor") where !targets.contains(target) {
        try db.execute(sql: "DELETE FROM event_cursor WHERE target = ?", arguments: [target])
      }
    }
  }

  /// Returns a follower, which reports that rows were written.
  package func follow() -> LogFollower { LogFollower(waits) }
}

/// A wait of a part of the gateway for rows of the delivery log. Its only cost is a notification for each record that is
/// written.
package final class LogFollower: Sendable {
  private let waits: LogWaits
  private let wait: LogWaits.Wait

  init(_ waits: LogWaits) { (self.waits, wait) = (waits, waits.follow()) }

  deinit { waits.end(wait) }

  /// Returns when rows were written since the last call, or at once after ``end()``.
  @inline(never)
  package func next() async { await wait.next() }

  package func end() { wait.end() }
}
