import GatewayProtocol
import PushCore
import PushPolicy
import PushStorage

extension LogRecord {
  init(_ found: LogQueries.Found) {
    let row = found.record.row
    self.init(
      number: found.record.number, at: Timestamp.text(row.at), event: row.event.rawValue,
      id: row.event == .lost ? "" : row.id.description,
      uniqueID: row.uniqueID?.description, status: DeliveryStatus(row)?.rawValue, device: found.device,
      topic: found.app?.topic ?? row.detail.namedTopic, row.detail, text: found.record.text, gateway: found.gateway)
  }
}

extension LogQueries {
  /// Returns rows of this gateway's log as commands print them.
  func described(_ records: [DeliveryLog.Record]) -> [LogRecord] {
    records.map { LogRecord(found($0, at: cluster?.gateway.name)) }
  }
}

extension DeliveryDetail {
  /// The topic of a refused or forwarded push; an app with that topic need not exist.
  fileprivate var namedTopic: String? {
    switch self {
    case .refusal(let refusal): refusal.topic
    case .forwarding(let forwarding): forwarding.topic
    default: nil
    }
  }
}

extension LogRows {
  init(_ rows: LogQueries.Rows) {
    self.init(
      rows: rows.found.map(LogRecord.init),
      cluster: rows.cluster.map { .init(before: $0.position.text, after: $0.end.text, unanswered: $0.unanswered) })
  }
}

extension LogPage {
  init(_ rows: LogQueries.Rows) {
    self.init(
      rows: rows.found.map(LogRecord.init), next: rows.next, position: rows.cluster?.position.text,
      unanswered: rows.cluster?.unanswered)
  }
}

extension LogStart {
  init(_ rows: LogQueries.Rows) {
    self.init(after: rows.next, position: rows.cluster?.position.text, unanswered: rows.cluster?.unanswered)
  }
}

extension AdReportRecord {
  init(_ found: Pushes.FoundAdReport) {
    let report = found.report
    self.init(
      number: report.number, at: Timestamp.text(report.at), device: found.device?.name, topic: found.app?.topic,
      id: report.id.description,
      text: report.text.isEmpty ? nil : report.text, outcome: found.outcome?.rawValue)
  }
}
