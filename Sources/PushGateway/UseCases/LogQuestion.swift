import PushCore
import PushPolicy
import PushStorage

/// What a gateway asks of another one's delivery log.
struct LogQuestion: Codable, Sendable {
  enum Kind: String, Codable, Sendable {
    /// The newest rows.
    case newest
    /// The oldest rows after a number.
    case next
    /// Which push an id names, as a row that has its `apns-id` and its device.
    case named
  }

  var kind: Kind
  var id: String?
  /// Numbers of rows of what all gateways share.
  var device: Int64?
  var app: Int64?
  var events: [String]?
  var since: Int64?
  var after: Int64?
  var before: Int64?
  var text: String?
  /// The device that asks for its own rows; nil: whoever may read all of the log.
  var reader: Int64?
  var limit: Int
  var maximumReadSize: Int?
  /// How many seconds the gateway that asks goes on waiting for rows, of which it wants to be told.
  var waits: Double?

  /// So many rows are asked for at once.
  static let maximumLimit = 1_000

  init(_ kind: Kind, _ query: DeliveryLog.Query, reader: DeviceID?, limit: Int) {
    (self.kind, self.limit, self.reader) = (kind, min(limit, LogQuestion.maximumLimit), reader?.row)
    (id, device, app) = (query.id?.description, query.device?.row, query.app?.row)
    events = query.events?.map(\.rawValue).sorted()
    (since, after, before, text) = (query.since, query.after, query.before, query.text)
    maximumReadSize = query.maximumReadSize == .max ? nil : query.maximumReadSize
  }

  /// The query at the gateway that was asked, which believes none of it; nil when it is none.
  func query(_ readsTexts: @escaping @Sendable (DeviceID) -> Bool) -> DeliveryLog.Query? {
    let id = id.map { APNSID($0) }
    if case .some(.none) = id { return nil }
    var query = DeliveryLog.Query(
      id: id ?? nil, device: device.map { DeviceID(row: $0) }, app: app.map { AppID(row: $0) },
      // An event that this version does not know is in none of its rows.
      events: events.map { Set($0.compactMap(DeliveryEvent.init)) }, since: since, after: after, before: before,
      limit: max(1, min(limit, LogQuestion.maximumLimit)), maximumReadSize: max(0, maximumReadSize ?? .max))
    query.text = text
    query.readsTexts = readsTexts
    return query
  }
}

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
    let readsTexts = LogSearch.readsTexts(registrations, question.reader.map { DeviceID(row: $0) })
    guard let query = question.query(readsTexts),
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
