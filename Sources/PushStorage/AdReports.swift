import Foundation
import GRDB
import PushPolicy

/// A person's word that a push advertised.
struct AdReport: Sendable {
  /// Milliseconds since 1970.
  var at: Int64
  var device: DeviceID
  var app: AppID
  var id: APNSID
  /// What the device showed; empty when it did not say.
  var text: String
}

/// What persons said was an ad. Kept until the state folder goes; a person says it of a push once.
extension SQLiteRegistrations {
  func add(_ report: AdReport) async throws {
    try await write { db in
      try db.execute(
        sql: "INSERT OR IGNORE INTO ad_report (at, device, app, apns_id, text) VALUES (?, ?, ?, ?, ?)",
        arguments: [report.at, report.device.row, report.app.row, Data(report.id.stored), report.text])
    }
  }

  func adReports(limit: Int) async throws -> [AdReport] {
    try await write { db in
      let rows = try PreparedStatement(
        db, "SELECT at, device, app, apns_id, text FROM ad_report ORDER BY id DESC LIMIT ?")
      defer { rows.reset() }
      rows.bind(Int64(limit))
      var newestFirst: [AdReport] = []
      while try rows.next() {
        // One that is damaged is left out: nothing else depends on it.
        if let report = try? SQLiteRegistrations.report(rows) { newestFirst.append(report) }
      }
      return newestFirst.reversed()
    }
  }

  private static func report(_ row: PreparedStatement) throws -> AdReport {
    guard let id = row.id(3) else { throw row.damage(3, "20 bytes are expected") }
    return AdReport(
      at: try row.integer(0, in: StoredRange.milliseconds), device: DeviceID(row: try row.integer(1)),
      app: AppID(row: try row.integer(2)), id: id, text: try row.text(4))
  }
}

/// A person's report as a device sends it.
public struct AdReportRequest: Codable, Sendable {
  /// The `apns-id`.
  public var id: String
  /// The app's topic.
  public var topic: String
  /// What the device showed.
  public var text: String?

  public init(id: String, topic: String, text: String?) {
    self.id = id
    self.topic = topic
    self.text = text
  }
}

/// A person's report as commands print it.
public struct AdReportRecord: Codable, Sendable {
  /// RFC 3339, UTC.
  public var at: String
  public var device: String?
  public var topic: String?
  /// The `apns-id`.
  public var id: String
  /// What the device showed.
  public var text: String?
  /// What the detector makes of the text now: `pass`, `hold` or `refuse`.
  public var outcome: String?
}

extension Services {
  /// Reports in words.
  func adReportRecords(limit: Int) async throws -> [AdReportRecord] {
    let reports = try await registrations.adReports(limit: limit)
    let detector = AdDetector()
    return reports.map { report in
      var at: [UInt8] = []
      appendTimestamp(report.at, to: &at)
      return AdReportRecord(
        at: String(decoding: at, as: UTF8.self), device: registrations.device(report.device)?.name,
        topic: registrations.app(report.app)?.topic, id: report.id.description,
        text: report.text.isEmpty ? nil : report.text,
        outcome: report.text.isEmpty ? nil : detector.assess([report.text]).outcome.rawValue)
    }
  }
}
