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
      try Row.fetchAll(
        db, sql: "SELECT at, device, app, apns_id, text FROM ad_report ORDER BY id DESC LIMIT ?", arguments: [limit]
      ).reversed().compactMap { row in
        APNSID(stored: Array(row["apns_id"] as Data)).map { id in
          AdReport(
            at: row["at"], device: DeviceID(row: row["device"]), app: AppID(row: row["app"]), id: id,
            text: row["text"])
        }
      }
    }
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
