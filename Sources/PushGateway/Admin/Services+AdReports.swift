import GatewayProtocol
import PushCore
import PushPolicy
import PushStorage

extension Services {
  /// Reports in words.
  package func adReportRecords(limit: Int) async throws -> [AdReportRecord] {
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
