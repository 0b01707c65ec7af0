import Foundation
import GatewayClient
import GatewayProtocol
import PushCore

/// The delivery events of pushes, as they happen. The gateway answers when there is an event. If it is stopped or
/// killed, it can restart between two requests, or another gateway of the cluster answers.
struct PushEvents {
  private let access: ClusterAccess
  private let query: [String]
  private let start = Date()
  /// The position from which to read on, as given by the gateway, and the number of the connection. For another
  /// connection one look back is needed, since the gateway may have begun a new log.
  private var position: (after: String, connection: Int)?
  /// The rows returned so far, which a look back finds again.
  private var seen: Set<String> = []
  private var unanswered = UnansweredGateways()
  /// The reason for the gateways' latest refusal; nil after an answer, and while they are away.
  private(set) var failure: CommandFailure?
  private var backoff = Backoff(first: .milliseconds(200), last: .seconds(1))

  /// The seconds before the start that a look back covers, because clocks can be changed.
  private static let slack = 86_400.0
  /// The time beyond its wait in which a gateway has to answer.
  private static let answerTime = Duration.seconds(10)

  /// - Parameter query: the search parameters, as `name=value`.
  init(_ query: [String], by access: ClusterAccess) { (self.query, self.access) = (query, access) }

  /// Returns the next rows, oldest first; nil if there are none until `end`.
  ///
  /// - Throws: ``CommandFailure`` for a refusal. A gateway that is away can come back in time: see ``Absence``.
  mutating func next(until end: ContinuousClock.Instant) async throws -> [LogRecord]? {
    while ContinuousClock.now < end {
      let answer = try await access.attempt(until: end) {
        [query, start, position] connection -> (page: LogPage, isRefused: Bool, connection: Int) in
        let place = PushEvents.place(position, start, connection)
        let found = try await LogPath.next { waits in
          try await PushEvents.page(query + [place], connection, until: end, waits: waits)
        }
        return (page: found.page, isRefused: found.isRefused, connection: connection.number)
      }
      guard let answer else {
        failure = await access.failure.flatMap { $0.status == nil ? nil : $0 }
        return nil
      }
      failure = nil
      let page = answer.page
      position = (page.after, answer.connection)
      unanswered.report(page.unanswered)
      let rows = page.rows.filter { seen.insert("\($0.number) \($0.at) \($0.event) \($0.gateway ?? "")").inserted }
      if !answer.isRefused { backoff.reset() }
      if !rows.isEmpty { return rows }
      // A gateway that is cut off from the others shows only its own rows.
      if page.unanswered?.isEmpty == false { await access.moveOn() }
      if answer.isRefused { try await Task.sleep(for: min(backoff.next(), max(.zero, end - .now))) }
    }
    return nil
  }

  /// Returns the parameter with the position from which to read.
  private static func place(
    _ position: (after: String, connection: Int)?, _ start: Date, _ connection: ClusterAccess.Connection
  ) -> String {
    if let position, position.connection == connection.number { return "after=\(pathPart(position.after))" }
    return "since=\(Int64((start.timeIntervalSince1970 - PushEvents.slack) * 1000))"
  }

  /// - Parameter waits: true if the gateway is to answer when there are rows, false if at once.
  private static func page(
    _ query: [String], _ connection: ClusterAccess.Connection, until end: ContinuousClock.Instant, waits: Bool
  ) async throws -> LogPage {
    let left = max(.zero, end - .now)
    let seconds = waits ? min(Double(Limits.maximumLogWaitTime) / 2, left / .seconds(1)) : 0
    // A gateway that is halted does not answer; closing the connection ends the request in time.
    let time = min(left + .seconds(1), .seconds(seconds) + answerTime)
    let watch = Task {
      try await Task.sleep(for: time)
      connection.admin.close()
    }
    defer { watch.cancel() }
    let values = query + ["seconds=\(seconds)"]
    return try await connection.admin.get(connection.path.path + "/next?" + values.joined(separator: "&"))
  }
}
