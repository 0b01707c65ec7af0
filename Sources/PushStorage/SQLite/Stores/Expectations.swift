import GRDB
import PushCore

/// The expectation of regular heartbeats of a sender.
package struct Expectation: Sendable, Equatable {
  /// The name of the sender.
  package var sender: String
  /// The expected interval in seconds.
  package var every: Int64
  /// The additional time in seconds before a heartbeat is late.
  package var grace: Int64
  /// The time of the last heartbeat in milliseconds since 1970; nil: none yet.
  package var beat: Int64?
  /// The time in milliseconds since 1970 from which the next heartbeat is late.
  package var due: Int64
  /// The number of pushes that reported the heartbeat as late; nil while it is not late.
  package var late: Int?

  /// Makes an expectation that begins at a time, in milliseconds since 1970.
  package init(sender: String, every: Int64, grace: Int64, from now: Int64) {
    (self.sender, self.every, self.grace) = (sender, every, grace)
    due = now + (every + grace) * 1000
  }

  /// Returns the expectation after a heartbeat.
  func after(beat now: Int64) -> Expectation {
    var next = Expectation(sender: sender, every: every, grace: grace, from: now)
    next.beat = now
    return next
  }
}

/// The expected heartbeats of senders, on disk only.
///
/// The transaction that records a late heartbeat also schedules the pushes about it, as does the transaction of the
/// heartbeat that ends this state. So one gateway of a cluster schedules each push, and a crash repeats none.
package struct Expectations: Sendable {
  /// A recorded heartbeat.
  package struct Beat: Sendable {
    /// The expectation before the heartbeat.
    package var before: Expectation
    package var after: Expectation
    package var pushes: [ScheduledPush]
  }

  private let scheduled: ScheduledPushes

  /// The maximum difference in milliseconds between the clocks of the gateways of a cluster.
  private static let clockTolerance: Int64 = 60_000

  package init(_ scheduled: ScheduledPushes) { self.scheduled = scheduled }

  /// Sets the expectation of a sender; a previous one ends.
  ///
  /// - Throws: ``RegistrationRefusal`` if there is no sender of this name, or if it is a webhook, and ``StoreError``.
  @inline(never)
  package func set(_ expectation: Expectation) async throws {
    try await scheduled.change { db -> (Void, [ScheduledPush]) in
      let sender = expectation.sender
      let row = try Bool.fetchOne(db, sql: "SELECT hook IS NOT NULL FROM sender WHERE name = ?", arguments: [sender])
      guard let isHook = row else {
        throw RegistrationRefusal(
          kind: .unknown, description: "there is no sender \(sender): `pushcli senders add` makes one")
      }
      guard !isHook else {
        throw RegistrationRefusal(
          kind: .conflict,
          description: "\(sender) is a webhook, which sends no heartbeats: `pushcli senders add` makes a sender")
      }
      try Expectations.put(expectation, db)
      return ((), [])
    }
  }

  /// Ends the expectation of a sender.
  ///
  /// - Throws: ``RegistrationRefusal`` if there is none, and ``StoreError``.
  @inline(never)
  package func remove(_ sender: String) async throws {
    try await scheduled.change { db -> (Void, [ScheduledPush]) in
      try db.execute(sql: "DELETE FROM expectation WHERE sender = ?", arguments: [sender])
      guard db.changesCount > 0 else {
        throw RegistrationRefusal(
          kind: .unknown, description: "no heartbeat of \(sender) is expected: `pushcli expect list` shows all")
      }
      return ((), [])
    }
  }

  /// Returns all expectations, sorted by the names of their senders.
  @inline(never)
  package func list() async throws -> [Expectation] {
    try await scheduled.store.read { try Expectations.rows($0, "ORDER BY sender") }
  }

  /// Records a heartbeat. If pushes reported that it was late, schedules the pushes about its end.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - pushes: returns the pushes for the expectation before this heartbeat.
  /// - Returns: nil if no heartbeat is expected.
  @inline(never)
  package func beat(
    _ sender: String, at now: Int64, pushes: @escaping @Sendable (Expectation) -> [ScheduledPush]
  ) async throws -> Beat? {
    try await scheduled.change { db -> (Beat?, [ScheduledPush]) in
      guard let before = try Expectations.rows(db, "WHERE sender = ?", { $0.bind(text: sender) }).first else {
        return (nil, [])
      }
      let after = before.after(beat: now)
      try Expectations.put(after, db)
      let all = before.late ?? 0 > 0 ? pushes(before) : []
      return (Beat(before: before, after: after, pushes: all), all)
    }
  }

  /// Records some of the heartbeats that are late, the first due ones, and schedules the pushes that report them. The
  /// other pushes of the gateway are stored between two calls.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - limit: the maximum number of heartbeats.
  ///   - pushes: returns the pushes for one late heartbeat.
  /// - Returns: the scheduled pushes; nil if no heartbeat is late.
  @inline(never)
  package func findLate(
    at now: Int64, limit: Int = Limits.lateHeartbeatsAtOnce,
    pushes: @escaping @Sendable (Expectation) -> [ScheduledPush]
  ) async throws -> [ScheduledPush]? {
    let condition = "WHERE late IS NULL AND due <= ? ORDER BY due, sender LIMIT \(limit)"
    // A read costs no entry in the log of a cluster, in which another gateway may have recorded the heartbeat.
    let found = try await scheduled.store.read { try Expectations.rows($0, condition) { $0.bind(now) } }
    guard !found.isEmpty else { return nil }
    return try await scheduled.change { db -> ([ScheduledPush], [ScheduledPush]) in
      var all: [ScheduledPush] = []
      for var expectation in try Expectations.rows(db, condition, { $0.bind(now) }) {
        let own = pushes(expectation)
        expectation.late = own.count
        try Expectations.put(expectation, db)
        all += own
      }
      return (all, all)
    }
  }

  /// Repairs the times that a clock in the future has written: a heartbeat is late at most one interval, with its
  /// grace, from now.
  ///
  /// - Parameter now: milliseconds since 1970.
  @inline(never)
  package func correct(now: Int64) async throws {
    let condition = "WHERE late IS NULL AND due - (every + grace) * 1000 > ?"
    let latest = now + Expectations.clockTolerance
    let found = try await scheduled.store.read { try Expectations.rows($0, condition) { $0.bind(latest) } }
    guard !found.isEmpty else { return }
    try await scheduled.change { db -> (Void, [ScheduledPush]) in
      for before in try Expectations.rows(db, condition, { $0.bind(latest) }) {
        var expectation = Expectation(sender: before.sender, every: before.every, grace: before.grace, from: now)
        expectation.beat = before.beat.map { min($0, now) }
        try Expectations.put(expectation, db)
      }
      return ((), [])
    }
  }

  // MARK: Rows

  /// Returns the time of the first heartbeat that becomes late; nil if there is none.
  static func next(_ db: Database) throws -> Int64? {
    let row = try PreparedStatement(db, "SELECT min(due) FROM expectation WHERE late IS NULL")
    defer { row.reset() }
    return try row.next() ? row.optionalInteger(0, in: ColumnBounds.milliseconds) : nil
  }

  private static func put(_ expectation: Expectation, _ db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO expectation (sender, every, grace, beat, due, late) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (sender) DO UPDATE SET every = excluded.every, grace = excluded.grace, beat = excluded.beat,
          due = excluded.due, late = excluded.late
        """,
      arguments: [
        expectation.sender, expectation.every, expectation.grace, expectation.beat, expectation.due, expectation.late,
      ])
  }

  /// Reads the rows of a condition. `bind` sets its parameters.
  static func rows(
    _ db: Database, _ condition: String = "", _ bind: (PreparedStatement) -> Void = { _ in }
  ) throws -> [Expectation] {
    let rows = try PreparedStatement(
      db, "SELECT sender, every, grace, beat, due, late FROM expectation " + condition)
    bind(rows)
    return try rows.map { row in
      var expectation = Expectation(
        sender: try row.text(0), every: try row.integer(1, in: ColumnBounds.heartbeatTime),
        grace: try row.integer(2, in: ColumnBounds.heartbeatTime), from: 0)
      expectation.beat = try row.optionalInteger(3, in: ColumnBounds.milliseconds)
      expectation.due = try row.integer(4, in: ColumnBounds.milliseconds)
      expectation.late = try row.optionalInteger(5, in: ColumnBounds.progress).map { Int($0) }
      return expectation
    }
  }
}
