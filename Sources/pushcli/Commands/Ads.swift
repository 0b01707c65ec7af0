import ArgumentParser
import Foundation
import GatewayProtocol
import PushCore

/// `pushcli ads`: users' reports of advertising, and the standing of apps.
struct Ads: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ads", abstract: "Advertising that recipients reported.",
    discussion: """
      Examples:
        pushcli ads
        pushcli ads reports --json
        pushcli ads standing
        pushcli ads appeal com.example.shop
      """, subcommands: [Reports.self, AppStanding.self, Appeal.self], defaultSubcommand: Reports.self)

  struct Reports: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reports", abstract: "List the pushes that recipients reported as ads.",
      discussion: """
        Example:
          pushcli ads reports --json
        """)
    @Option(help: "At most this many of the newest.") var limit = 1000
    @OptionGroup var options: AdminOptions

    func validate() throws { try OptionValue.check(limit, "--limit", 1...1_000_000_000) }

    func run() async throws {
      let context = try options.state.context
      let isAdministered = Admin.isPossible(at: context)
      let admin = isAdministered ? try await options.admin : try await DeviceAccess(nil, options.state).admin
      let path = isAdministered ? AdminPath.adReports() : "/v1/device/ads/reports"
      var pages: [[AdReportRecord]] = []
      var (left, before) = (limit, "")
      while left > 0 {
        let size = min(left, Limits.maximumListPage)
        let page: [AdReportRecord] = try await admin.get(path + "?limit=\(size)" + before)
        pages.append(page)
        left -= page.count
        guard page.count == size, let number = page.first?.number else { break }
        before = "&before=\(number)"
      }
      options.print(lines: Array(pages.reversed().joined()), ["AT", "DEVICE", "APP", "ID", "NOW", "TEXT"]) {
        [$0.at, $0.device ?? "", $0.topic ?? "", $0.id, $0.outcome ?? "", $0.text ?? ""]
      }
    }
  }
}
