import ArgumentParser
import GatewayProtocol

/// `pushcli metrics`: the counters of a gateway.
struct Metrics: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Print a running gateway's metrics.",
    discussion: """
      The text is OpenMetrics; docs/reference/metrics.md describes each metric.

      Example:
        pushcli metrics limits_reached
      """)
  @Argument(help: "Show only metrics whose name contains this.") var name: String?
  @OptionGroup var state: StateOptions

  func run() async throws {
    let text = try await Admin(state).text(AdminPath.metrics(), accept: "application/openmetrics-text")
    let lines = text.split(separator: "\n").filter { line in name.map { Metrics.names(line, $0) } ?? true }
    for line in lines { Output.data(String(line)) }
    if let name, lines.isEmpty {
      throw CommandFailure(.suppressed, "no metric's name contains \"\(name)\": `pushcli metrics` lists all")
    }
  }

  /// Returns true if a line belongs to a metric whose name contains `part`.
  static func names(_ line: Substring, _ part: String) -> Bool {
    let words = line.split(separator: " ", maxSplits: 3)
    let name = words.first == "#" ? words.dropFirst(2).first : words.first?.prefix { $0 != "{" }
    return name?.contains(part) ?? false
  }
}
