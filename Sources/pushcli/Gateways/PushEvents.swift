import Foundation
import GatewayClient
import GatewayProtocol
import PushCore

/// The delivery events of pushes, as they happen. The gateway answers when there is an event; a gateway that was
/// stopped or killed can restart between two requests.
struct PushEvents {
  private let state: StateOptions
  private let query: [String]
  private let start = Date()
  private var admin: Admin?
  private var path = LogPath.all
  /// The position from which to read on, as given by the gateway; nil if one look back is needed, since the gateway may
  /// have begun a new log.
  private var after: String?
  /// The rows returned so far, which a look back finds again.
  private var seen: Set<String> = []
  private var unanswered = UnansweredGateways()
  /// The reason for the gateway's latest refusal; nil after an answer, and while the gateway is away.
  private(set) var failure: CommandFailure?
  private var backoff = Backoff(first: .milliseconds(200), last: .seconds(1))
  private var absence: Absence

  /// The seconds before the start that a look back covers, because clocks can be changed.
  private static let slack = 86_400.0

  /// - Parameters:
  ///   - query: the search parameters, as `name=value`.
  ///   - admin: an existing connection; nil to make one as soon as there is a gateway.
  init(_ query: [String], of state: StateOptions, _ admin: Admin? = nil) {
    (self.state, self.query, self.admin, absence) = (state, query, admin, Absence(of: state))
  }

  /// Returns the next rows, oldest first; nil if there are none until `end`.
  ///
  /// - Throws: ``CommandFailure`` for a refusal. A gateway that is away can come back in time: see ``Absence``.
  mutating func next(until end: ContinuousClock.Instant) async throws -> [LogRecord]? {
    while ContinuousClock.now < end {
      do {
        let (page, isRefused) = try await LogPath.next { try await self.page(until: end, waits: $0) }
        failure = nil
        absence.end()
        after = page.after
        unanswered.tell(page.unanswered)
        let rows = page.rows.filter { seen.insert("\($0.number) \($0.at) \($0.event) \($0.gateway ?? "")").inserted }
        if !isRefused { backoff.reset() }
        if !rows.isEmpty { return rows }
        if isRefused { try await pause(until: end) }
      } catch let failure as CommandFailure where failure.exit == .unreachable || failure.status == 503 {
        admin?.close()
        (admin, after) = (nil, nil)
        self.failure = failure.status == nil ? nil : failure
        if failure.status == nil { try absence.note(failure) }
        try await pause(until: end)
      }
    }
    return nil
  }

  private mutating func pause(until end: ContinuousClock.Instant) async throws {
    try await Task.sleep(for: min(backoff.next(), max(.zero, end - .now)))
  }

  /// - Parameter waits: true if the gateway is to answer when there are rows, false if at once.
  private mutating func page(until end: ContinuousClock.Instant, waits: Bool) async throws -> LogPage {
    if admin == nil { (admin, path) = try await LogPath.connect(state, for: nil) }
    guard let admin else { throw CommandFailure(.unreachable) }
    let left = max(.zero, end - .now)
    let seconds = waits ? min(Double(Limits.maximumLogWaitTime) / 2, left / .seconds(1)) : 0
    var values = query + ["seconds=\(seconds)"]
    if let after {
      values.append("after=\(pathPart(after))")
    } else {
      values.append("since=\(Int64((start.timeIntervalSince1970 - PushEvents.slack) * 1000))")
    }
    // A gateway process that is halted does not answer; closing the connection ends the request in time.
    let watch = Task {
      try await Task.sleep(for: left + .seconds(1))
      admin.close()
    }
    defer { watch.cancel() }
    return try await admin.get(path.path + "/next?" + values.joined(separator: "&"))
  }
}
