import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// Answers requests of other gateways about this gateway's delivery log, and notifies them of new rows while one of
/// them waits.
final class LogAnswers: Sendable {
  private let log: DeliveryLog
  private let registrations: any Registrations
  /// The time until which another gateway waits for new rows.
  private let waitedFor = Mutex(ContinuousClock.now)

  /// The maximum size of one message in bytes: brokers accept 1 MB by default.
  private static let maximumSize = 700 << 10
  static let (name, writtenName) = ("log", "log-written")

  init(_ log: DeliveryLog, _ registrations: any Registrations) {
    (self.log, self.registrations) = (log, registrations)
  }

  /// Registers the handlers for requests and notifications of other gateways.
  func join(_ cluster: any Cluster) throws {
    try cluster.subscribe(LogAnswers.writtenName) { [log] in log.noteRemote($0) }
    log.onWritten(
      while: { [weak self] in self?.isWaitedFor == true }, publish: { cluster.publish(LogAnswers.writtenName, $0) })
    try cluster.answer(LogAnswers.name) { [self] in await answer($0) }
    try cluster.answer(LogErasure.name) { [log] body in
      guard let request = try? decodeJSON(LogErasure.self, from: body) else { return [] }
      do {
        try await request.apply(to: log)
        return [1]
      } catch {
        return []
      }
    }
  }

  private var isWaitedFor: Bool { waitedFor.withLock { $0 } > .now }

  private func answer(_ body: [UInt8]) async -> [UInt8] {
    guard let question = try? decodeJSON(LogQuestion.self, from: body) else { return [] }
    // This precedes the read of the log, so that no row is missed between the two.
    if let waits = question.waits {
      let end = ContinuousClock.now + .seconds(max(0, min(waits, Double(Limits.maximumLogWaitTime))))
      waitedFor.withLock { $0 = max($0, end) }
    }
    let textAccess = registrations.textAccess(question.reader.map { DeviceID(row: $0) })
    guard let query = question.query(textAccess),
      let found = try? await LogAnswers.answer(question.kind, query, of: log)
    else { return [] }
    return found.encoded(question.kind == .newest ? .oldest : .newest, maximumSize: LogAnswers.maximumSize)
  }

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
  /// Returns a function that gives, for each device, the access to texts in the delivery log.
  ///
  /// - Parameter reader: the device that makes the request; nil: a reader of the whole log, such as a sender.
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
