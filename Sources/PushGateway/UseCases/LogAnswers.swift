import PushCore
import PushPolicy
import PushStorage

/// Answers what other gateways ask of this one's delivery log, and tells them of new rows while one of them waits.
final class LogAnswers: Sendable {
  private let log: DeliveryLog
  private let registrations: any Registrations
  private let waitedFor: Deadline

  /// What one message carries at most: brokers take 1 MB by default.
  private static let maximumSize = 700 << 10
  static let (name, writtenName) = ("log", "log-written")

  init(_ log: DeliveryLog, _ registrations: any Registrations) {
    (self.log, self.registrations, waitedFor) = (log, registrations, Deadline())
  }

  /// Begins to answer the gateways of a cell.
  func join(_ cell: any GatewayCell) throws {
    try cell.hear(LogAnswers.writtenName) { [log] in log.noteElsewhere($0) }
    log.onWritten(
      while: { [waitedFor] in waitedFor.isAhead }, tell: { cell.tell(LogAnswers.writtenName, $0) })
    try cell.answer(LogAnswers.name) { [self] in await answer($0) }
  }

  private func answer(_ body: [UInt8]) async -> [UInt8] {
    guard let question = try? decodeJSON(LogQuestion.self, from: body) else { return [] }
    // Before the log is read, so that nothing comes between.
    if let waits = question.waits { waitedFor.extend(.seconds(max(0, min(waits, Double(Limits.maximumLogWaitTime))))) }
    let textAccess = registrations.textAccess(question.reader.map { DeviceID(row: $0) })
    guard let query = question.query(textAccess),
      let found = try? await LogAnswers.answer(question.kind, query, of: log)
    else { return [] }
    return found.encoded(question.kind == .newest ? .oldest : .newest, maximumSize: LogAnswers.maximumSize)
  }

  /// What a log has to say.
  static func answer(
    _ kind: LogQuestion.Kind, _ query: DeliveryLog.Query, of log: DeliveryLog
  ) async throws -> LogPassage {
    switch kind {
    case .newest:
      let records = try await log.rows(query)
      return LogPassage(records: records, isComplete: records.count < query.limit)
    case .next:
      let page = try await log.page(query)
      return LogPassage(records: page.records, next: page.next, isComplete: page.records.count < query.limit)
    case .named:
      guard let id = query.id, let push = try await log.push(named: id, atMost: query.maximumReadSize) else {
        return LogPassage(records: [], isComplete: true)
      }
      let row = DeliveryLog.Row(at: 0, event: .accepted, id: push.id, device: push.device)
      return LogPassage(records: [.init(number: 0, row: row)], isComplete: true)
    }
  }
}

extension Registrations {
  /// The texts of the delivery log that a reader may find, by device.
  ///
  /// - Parameter reader: the device that asks; nil: whoever may read all of the log, as senders do.
  func textAccess(_ reader: DeviceID?) -> @Sendable (DeviceID) -> TextAccess {
    { device in
      switch self.preferences(of: device).logText {
      case .off: .none
      case .devices: device == reader ? .all : .none
      case .senders: device == reader ? .all : reader == nil ? .forSenders : .none
      }
    }
  }
}
