import GatewayProtocol
import HTTP2Transport
import Logging
import PushCore

/// The route `/admin/v1/log-level`: the log level of the running gateway.
struct LogLevelAPI: Sendable {
  let threshold: LogThreshold
  let clock: WallClock
  let logger: Logger

  /// The longest duration of a requested level, in seconds: a week.
  private static let maximumSeconds = 7 * 86_400

  var routes: [Router.Route] {
    [
      .init("GET", .logLevel, .reader) { _ in Response(record) },
      .init("POST", .logLevel, .operator, change),
    ]
  }

  /// Restores the level in the settings once a requested level has expired.
  func settle() {
    if threshold.settle(at: clock.seconds) { logChange() }
  }

  private func change(_ request: ControlRequest) throws -> Response {
    let body: LogLevelRequest = try request.decoded()
    let level = try body.level.map { name in
      guard let level = Logger.Level(rawValue: name) else {
        let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        throw Problem.badRequest("invalid log level \"\(name)\": expected one of \(names)")
      }
      return level
    }
    try Problem.check(
      body.seconds, 1...LogLevelAPI.maximumSeconds, "duration of a log level", of: "seconds (a week)")
    let now = clock.seconds
    threshold.ask(for: level, until: body.seconds.map { now + Int64($0) }, at: now)
    logChange()
    return Response(record)
  }

  private func logChange() { logger.log(.logLevelChanged, "the log level is \(threshold.level)") }

  private var record: LogLevelRecord {
    LogLevelRecord(
      level: threshold.level.rawValue, configured: threshold.configured.rawValue,
      until: threshold.end.map { Timestamp.text(seconds: $0) })
  }
}
