import Foundation
import GRDB
package import PushCore
package import PushPolicy
import Synchronization

/// The removal of apps and teams.
extension SQLiteRegistrations {
  package func removeTeam(_ id: String) async throws {
    try await store.write { [self] db in
      guard teams.contains(id) else {
        throw Refusal(kind: .unknown, description: "there is no team \(id): `pushcli teams list` shows them")
      }
      let owned =
        keys.filter { $0.team == id }.map { "key \($0.id)" } + apps.filter { $0.team == id }.map { "app \($0.topic)" }
      guard owned.isEmpty else {
        let named = owned.prefix(SQLiteRegistrations.namedAtOnce).joined(separator: ", ")
        let more = owned.count - SQLiteRegistrations.namedAtOnce
        throw Refusal(
          kind: .conflict,
          description: "team \(id) has \(named)\(more > 0 ? " and \(more) more" : ""): remove these first")
      }
      try db.execute(sql: "DELETE FROM team WHERE id = ?", arguments: [id])
      afterCommit(db) { $0.teams.remove(id) }
    }
  }

  /// The maximum number of keys and apps that a refusal names.
  private static let namedAtOnce = 5

  @inline(never)
  package func noteMarketing(of app: AppID) async throws {
    try await store.write { [self] db in
      try db.execute(sql: "UPDATE app SET marketing = 1 WHERE id = ? AND marketing = 0", arguments: [app.row])
      guard db.changesCount > 0 else { return }
      db.afterNextTransaction { [self] _ in
        state.withLock { $0.apps[app] = $0.apps[app]?.withMarketing }
        changeGeneration()
      }
    }
  }

  @inline(never)
  package func setKnownCategories(_ known: Set<String>?, of app: AppID) async throws {
    let text = try known.map { String(decoding: try JSONEncoder().encode($0.sorted()), as: UTF8.self) }
    try await store.write { [self] db in
      try db.execute(sql: "UPDATE app SET known_categories = ? WHERE id = ?", arguments: [text, app.row])
      db.afterNextTransaction { [self] _ in
        state.withLock { $0.apps[app] = $0.apps[app]?.with(knownCategories: known) }
        changeGeneration()
      }
    }
  }

  @inline(never)
  package func setMeasure(
    _ measure: SummaryMeasure, of app: AppID, replacing former: SummaryMeasure
  ) async throws -> Bool {
    try await store.write { [self] db in
      try db.execute(
        sql: """
          UPDATE app SET summary_from = ?, counted_from = ? WHERE id = ? AND summary_from IS ? AND counted_from = ?
          """,
        arguments: [measure.summaryFrom, measure.countedFrom, app.row, former.summaryFrom, former.countedFrom])
      guard db.changesCount > 0 else { return false }
      db.afterNextTransaction { [self] _ in
        state.withLock { $0.apps[app] = $0.apps[app]?.with(measure: measure) }
        changeGeneration()
      }
      return true
    }
  }

  package func registrationCount(of app: AppID, now: Int64) async throws -> Int {
    try await store.read { db in
      try Int.fetchOne(
        db,
        sql: """
          SELECT count(*) FROM token WHERE app = ? AND unregistered IS NULL AND (expires IS NULL OR expires > ?)
          """, arguments: [app.row, now]) ?? 0
    }
  }

  package func endRegistrations(for app: AppID, now: Int64) async throws -> [DeviceID] {
    var devices: Set<DeviceID> = []
    try await forEachSlice(of: "token", app) { [self] rows in
      devices.formUnion(rows.map(\.device))
      let tokens = rows.filter { !$0.isEnded }.map(\.token)
      try await store.write { [self] db in
        let update = try db.cachedStatement(
          sql: "UPDATE token SET unregistered = ? WHERE token = ? AND unregistered IS NULL")
        for token in tokens { try update.execute(arguments: [now, Data(token.bytes)]) }
        afterCommit(db) { state in
          for token in tokens where state.tables.registration(token)?.unregistered == nil {
            state.tables.set(unregistered: now, of: token)
          }
        }
      }
    }
    return devices.sorted { $0.row < $1.row }
  }

  package func remove(_ app: AppID) async throws {
    for table in ["token", "former_token"] {
      try await forEachSlice(of: table, app) { [self] rows in
        let tokens = rows.map(\.token)
        try await store.write { [self] db in
          let delete = try db.cachedStatement(sql: "DELETE FROM \(table) WHERE token = ?")
          for token in tokens { try delete.execute(arguments: [Data(token.bytes)]) }
          afterCommit(db) { state in for token in tokens { state.tables.remove(token) } }
        }
      }
    }
    try await store.write { [self] db in
      // Tokens that were registered during the loop.
      let tokens = try ["token", "former_token"].flatMap { table in
        try Data.fetchAll(db, sql: "DELETE FROM \(table) WHERE app = ? RETURNING token", arguments: [app.row])
      }.compactMap { DeviceToken(bytes: $0) }
      try removeCategories(of: app, db)
      for table in ["ad_report", "app_day"] {
        try db.execute(sql: "DELETE FROM \(table) WHERE app = ?", arguments: [app.row])
      }
      try db.execute(sql: "DELETE FROM app WHERE id = ?", arguments: [app.row])
      try db.execute(sql: "INSERT OR IGNORE INTO former_app (id) VALUES (?)", arguments: [app.row])
      try db.execute(sql: "DELETE FROM former_app WHERE id < (SELECT max(id) FROM former_app)")
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          for token in tokens { state.tables.remove(token) }
          if let topic = state.apps.removeValue(forKey: app)?.topic { state.appsByTopic[topic] = nil }
        }
        changeGeneration()
      }
    }
  }

  /// Calls `body` with the tokens of an app in slices, since pushes wait for a transaction.
  private func forEachSlice(
    of table: String, _ app: AppID,
    _ body: ([(number: Int64, token: DeviceToken, device: DeviceID, isEnded: Bool)]) async throws -> Void
  ) async throws {
    var last: Int64 = -1
    while true {
      let rows = try await tokens(in: table, of: app, after: last)
      guard let next = rows.last?.number else { return }
      try await body(rows)
      last = next
    }
  }

  private func tokens(
    in table: String, of app: AppID, after number: Int64
  ) async throws -> [(number: Int64, token: DeviceToken, device: DeviceID, isEnded: Bool)] {
    try await store.read { db in
      let rows = try PreparedStatement(
        db,
        """
        SELECT rowid, token, device, unregistered FROM \(table) WHERE app = ? AND rowid > ? ORDER BY rowid
          LIMIT \(Limits.subscriptionSlice)
        """)
      rows.bind(app.row)
      rows.bind(number)
      var found: [(number: Int64, token: DeviceToken, device: DeviceID, isEnded: Bool)] = []
      while try rows.next() {
        guard let token = DeviceToken(bytes: rows.blob(1)) else { throw rows.damage(1, "32 bytes are expected") }
        found.append((try rows.integer(0), token, DeviceID(row: try rows.integer(2)), !rows.isNull(3)))
      }
      return found
    }
  }
}
