import Foundation
import GRDB
package import PushCore

/// The pushes that users reported as ads. They are kept until the state folder is deleted; a device can report a push
/// once.
extension SQLiteRegistrations {
  package func add(_ report: AdReport) async throws {
    try await store.write { db in
      try db.execute(
        sql: "INSERT OR IGNORE INTO ad_report (at, device, app, apns_id, text) VALUES (?, ?, ?, ?, ?)",
        arguments: [report.at, report.device.row, report.app.row, Data(report.id.stored), report.text])
    }
  }

  @inline(never)
  package func review(adReport number: Int64, as review: AdReport.Review?) async throws {
    try await store.write { db in
      try db.execute(
        sql: "UPDATE ad_report SET review = ? WHERE id = ?", arguments: [review?.rawValue, number])
      guard db.changesCount > 0 else {
        throw RegistrationRefusal(
          kind: .unknown, description: "there is no report \(number): `pushcli ads reports --json` lists them")
      }
    }
  }

  package func adReports(of device: DeviceID?, limit: Int, before number: Int64?) async throws -> [AdReport] {
    try await store.write { db in
      let rows = try PreparedStatement(
        db,
        """
        SELECT at, device, app, apns_id, text, id, review FROM ad_report
        WHERE id < ?\(device == nil ? "" : " AND device = ?") ORDER BY id DESC LIMIT ?
        """)
      rows.bind(number ?? .max)
      if let device { rows.bind(device.row) }
      rows.bind(Int64(limit))
      // A damaged report is skipped: nothing else depends on it.
      let newestFirst = try rows.map { try? SQLiteRegistrations.report($0) }.compactMap(\.self)
      return newestFirst.reversed()
    }
  }

  private static func report(_ row: PreparedStatement) throws -> AdReport {
    guard let id = row.id(3) else { throw row.damage(3, "expected 20 bytes") }
    let review: AdReport.Review? = try row.isNull(6) ? nil : row.word(6)
    guard review != nil || row.isNull(6) else { throw row.damage(6, "expected right or wrong") }
    return AdReport(
      number: try row.integer(5), at: try row.integer(0, in: ColumnBounds.milliseconds),
      device: DeviceID(row: try row.integer(1)),
      app: AppID(row: try row.integer(2)), id: id, text: try row.text(4), review: review)
  }
}
