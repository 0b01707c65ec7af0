import Foundation
import GatewayClient
import GatewayProtocol
import PushCore

/// What happens to pushes, as it happens: the gateway says so when there is something, also one that was stopped or
/// killed meanwhile and runs again.
struct PushEvents {
  private let state: StateOptions
  private let query: [String]
  private let start = Date()
  private var admin: Admin?
  private var path = LogPath.all
  /// What the gateway said to read on from; nil when it has to look back once, since it may have begun its log anew.
  private var after: String?
  /// What has been handed out, which a look back finds again.
  private var seen: Set<String> = []
  private var unanswered = UnansweredGateways()
  /// Why the gateway said nothing lately; nil when it did, and when it is away.
  private(set) var failure: CommandFailure?
  private var backoff = Backoff(first: .milliseconds(200), last: .seconds(1))
  private var absence: Absence

  /// How far before the start a look back goes: clocks are set.
  private static let slack = 86_400.0

  /// - Parameters:
  ///   - query: what to look for, as `name=value`.
  ///   - admin: a connection that is there; nil: one is made, as soon as there is a gateway.
  init(_ query: [String], of state: StateOptions, _ admin: Admin? = nil) {
    (self.state, self.query, self.admin, absence) = (state, query, admin, Absence(of: state))
  }

  /// The next rows, the oldest first; nil when there are none until `end`.
  ///
  /// - Throws: ``CommandFailure`` for a refusal. A gateway that is away may come back in time: see ``Absence``.
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

  /// - Parameter waits: whether the gateway answers when there are rows, or at once.
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
    // A gateway that stands still answers nobody, and the time is up all the same.
    let watch = Task {
      try await Task.sleep(for: left + .seconds(1))
      admin.close()
    }
    defer { watch.cancel() }
    return try await admin.get(path.path + "/next?" + values.joined(separator: "&"))
  }
}
