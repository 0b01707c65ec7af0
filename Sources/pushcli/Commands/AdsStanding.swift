import ArgumentParser
import Foundation
import GatewayProtocol
import PushCore
import PushPolicy

extension Ads {
  /// `pushcli ads standing`: the use of the apps' alerts by their recipients.
  struct AppStanding: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "standing", abstract: "Show how recipients use the alerts of each app, and how many they reported.",
      discussion: """
        Counts the last \(Standing.Bound.days) days. If the reports of at least \(Standing.Bound.reporters) users \
        are at least 0.\(Standing.Bound.reportsInThousand) % of at least \(Standing.Bound.alerts) alerts, the alerts of \
        the app go to the summary of each recipient for \(Standing.Bound.days) days (rule N11). Until the end of this time the sender \
        can appeal to an administrator.

        Examples:
          pushcli ads standing
          pushcli ads standing --app com.example.shop --json
        """)
    @Option(help: "The app's topic. (all apps)", completion: CompletionCandidates.apps) var app: String?
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let context = try options.state.context
      var records: [StandingRecord]
      if Admin.isPossible(at: context) {
        let admin = try await options.admin
        records = try await admin.get(AdminPath.standings() + (app.map { "?app=\(pathPart($0))" } ?? ""))
      } else {
        let admin = try await DeviceAccess(nil, options.state).admin
        records = try await admin.get("/v1/device/ads/standing")
        if let app { records = records.filter { $0.topic == app } }
      }
      options.print(
        lines: records, ["APP", "ALERTS", "VIEWED", "CLOSED", "REPORTED", "USERS", "UNSUBSCRIBED", "SUMMARY UNTIL"]
      ) { row in
        [row.topic]
          + [row.presented, row.viewed, row.closed, row.reported, row.reporters, row.unsubscribed].map { String($0) }
          + [row.summaryUntil.map { Timestamp.local($0) } ?? ""]
      }
    }
  }

  /// `pushcli ads appeal`: the end of the measure after an appeal.
  struct Appeal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "appeal", abstract: "Show the alerts of an app again, after its sender has appealed.",
      discussion: """
        Ends the time in which the alerts of the app go to the summary (rule N11). Earlier reports do not count any \
        longer. With --until, the rule does not apply to the app before that time. The audit trail has the request.

        Examples:
          pushcli ads appeal com.example.shop
          pushcli ads appeal com.example.shop --until 2026-12-31T18:00
        """)
    @Argument(help: "The app's topic.", completion: CompletionCandidates.apps) var topic: String
    @Option(help: "The end of the exemption: 18:00 or 2026-12-31T18:00, at most 366 days from now. (none)")
    var until: String?
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let end = try until.map { try DeliveryTime(at: $0, now: Date(), option: "--until").seconds }
      let record: StandingRecord = try await options.admin.post(
        AdminPath.standing(topic), AppealRequest(until: end))
      let exemption = record.exemptUntil.map { ", and the app is exempt until \(Timestamp.local($0))" } ?? ""
      options.print(record, words: "alerts of \(topic) are shown again\(exemption)")
    }
  }
}
