import ArgumentParser
import GatewayProtocol
import PushCore

/// `pushcli admin log-level`: the log level of a running gateway.
struct AdminLogLevel: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log-level", abstract: "Show or change a running gateway's log level.",
    discussion: """
      Without LEVEL the command prints the level in effect. The level of the settings applies again after `default`, \
      after the time of --for, and after a restart. debug logs every stage of every push, with its id.

      Examples:
        pushcli admin log-level
        pushcli admin log-level debug --for 10m
        pushcli admin log-level default
      """)
  private static let normal = "default"
  private static let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical", normal]

  @Argument(
    help: "trace, debug, info, notice, warning, error or critical; default: the level of the settings.",
    completion: .list(AdminLogLevel.levels)) var level: String?
  @Option(name: .customLong("for"), help: "How long it holds, as 10m. (until the gateway ends)") var time: String?
  @OptionGroup var options: AdminOptions

  func validate() throws {
    if let level, !Self.levels.contains(level) {
      let near = Suggestions.nearest(to: level, among: Self.levels).map { "did you mean \($0)?" }
      throw ValidationError(
        "unknown level \(level): \(near ?? "expected one of \(Self.levels.joined(separator: ", "))")")
    }
    if time != nil, level == nil || level == Self.normal {
      throw ValidationError("--for needs a level: expected LEVEL --for TIME")
    }
  }

  func run() async throws {
    let seconds = try time.map { time in max(1, Int(try TimeSpan(time, option: "--for").seconds)) }
    let admin = try await options.admin
    let path = AdminPath.logLevel()
    let record: LogLevelRecord
    if let level {
      record = try await admin.post(
        path, LogLevelRequest(level: level == Self.normal ? nil : level, seconds: seconds))
    } else {
      record = try await admin.get(path)
    }
    if options.json { return Output.json(record) }
    let until = record.until.map { " until \($0)" } ?? ""
    let normal = record.level == record.configured ? "" : ", the settings say \(record.configured)"
    Output.data("\(record.level)\(until)\(normal)")
  }
}
