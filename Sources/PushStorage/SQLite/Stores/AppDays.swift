import GRDB
package import PushCore
package import PushPolicy

/// The use of the apps' alerts by day, and the reports of advertising: the facts behind the standing of an app (N11).
///
/// The delivery log counts the use in memory (``AppUse``); each gateway of a cluster adds its counts to the shared rows.
/// A crash loses the counts since the last ``settle(isComplete:)``.
package struct AppDays: Sendable {
  private let store: SQLiteStore
  private let log: DeliveryLog

  private static let secondsInDay: Int64 = 86_400

  package init(store: SQLiteStore, log: DeliveryLog) { (self.store, self.log) = (store, log) }

  /// Stores the counts of this gateway.
  ///
  /// - Parameter isComplete: true to count also the rows that the delivery log has not written yet.
  @inline(never)
  package func settle(isComplete: Bool = false) async throws(StoreError) {
    if isComplete { await log.settle() }
    let counts = log.use.take()
    guard !counts.isEmpty else { return }
    do {
      try await store.change { db in
        let add = try db.cachedStatement(
          sql: """
            INSERT INTO app_day (app, day, presented, viewed, closed, unsubscribed)
              SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM app WHERE id = ?1)
            ON CONFLICT (app, day) DO UPDATE SET presented = presented + excluded.presented,
              viewed = viewed + excluded.viewed, closed = closed + excluded.closed,
              unsubscribed = unsubscribed + excluded.unsubscribed
            """)
        for (key, use) in counts {
          try add.execute(
            arguments: [key.app.row, key.day, use.presented, use.viewed, use.closed, use.unsubscribed])
        }
      }
    } catch {
      log.use.add(counts)
      throw error
    }
  }

  /// Returns the facts since `start`, in seconds since 1970; the use of alerts since the beginning of that day.
  ///
  /// - Parameter only: the app whose facts are returned; nil: all apps.
  @inline(never)
  package func standings(since start: Int64, of only: AppID? = nil) async throws(StoreError) -> [AppID: Standing] {
    try await store.read { db in
      var standings: [AppID: Standing] = [:]
      let days = try PreparedStatement(
        db,
        """
        SELECT app, presented, viewed, closed, unsubscribed FROM app_day
        WHERE day >= ?\(only == nil ? "" : " AND app = ?")
        """)
      days.bind(start / AppDays.secondsInDay)
      if let only { days.bind(only.row) }
      while try days.next() { try AppDays.add(days, to: &standings) }
      let reports = try PreparedStatement(
        db,
        """
        SELECT a.id, (SELECT count(*) FROM ad_report AS r WHERE r.app = a.id AND r.at >= ?1),
          (SELECT count(DISTINCT d.person) FROM ad_report AS r JOIN device AS d ON d.id = r.device
            WHERE r.app = a.id AND r.at >= ?1)
        FROM app AS a\(only == nil ? "" : " WHERE a.id = ?2")
        """)
      reports.bind(start * 1_000)
      if let only { reports.bind(only.row) }
      while try reports.next() {
        let reported = Int(try reports.integer(1))
        guard reported > 0 else { continue }
        let app = AppID(row: try reports.integer(0, in: ColumnBounds.app))
        standings[app, default: Standing()].reported = reported
        standings[app, default: Standing()].reporters = Int(try reports.integer(2))
      }
      return standings
    }
  }

  /// Removes the rows of days before `start`, in seconds since 1970.
  @inline(never)
  package func trim(before start: Int64) async throws(StoreError) {
    try await store.change { db in
      try db.execute(sql: "DELETE FROM app_day WHERE day < ?", arguments: [start / AppDays.secondsInDay])
    }
  }

  /// Reads every row to check it, and discards the result.
  static func checkRows(_ db: Database) throws {
    var standings: [AppID: Standing] = [:]
    let days = try PreparedStatement(db, "SELECT app, presented, viewed, closed, unsubscribed, day FROM app_day")
    while try days.next() {
      _ = try days.integer(5, in: ColumnBounds.progress)
      try add(days, to: &standings)
    }
  }

  /// Adds the counts of a row.
  private static func add(_ row: PreparedStatement, to standings: inout [AppID: Standing]) throws {
    let app = AppID(row: try row.integer(0, in: ColumnBounds.app))
    var use = Standing()
    use.presented = Int(try row.integer(1, in: ColumnBounds.progress))
    use.viewed = Int(try row.integer(2, in: ColumnBounds.progress))
    use.closed = Int(try row.integer(3, in: ColumnBounds.progress))
    use.unsubscribed = Int(try row.integer(4, in: ColumnBounds.progress))
    standings[app, default: Standing()].addUse(use)
  }
}
