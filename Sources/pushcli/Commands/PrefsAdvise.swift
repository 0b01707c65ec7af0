import ArgumentParser
import Foundation
import GatewayProtocol
import PushCore
import PushPolicy

/// `pushcli prefs advise`: quieter preferences for alerts that the user never opens.
extension Prefs {
  struct Advise: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "advise", abstract: "Propose quieter preferences for alerts that are never opened.",
      discussion: """
        Reads the delivery log of the user's devices. An app or a category gets a proposal if at least \
        \(AlertUse.minimumAlerts) of its alerts were shown and none was opened, with the command that applies it and \
        the command that undoes it. No preference is changed. On a device of the user at a remote gateway, the command \
        reads the log of this device only.

        Examples:
          pushcli prefs advise --device me
          pushcli prefs advise --device me --since 7d --json
        """)
    @Option(help: "The device's name. (the only one here)", completion: CompletionCandidates.devices) var device:
      String?
    @Option(help: "How far back: 30s, 10m, 2h or 7d.") var since = "28d"
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let start = try TimeSpan(since, option: "--since", requiresUnit: true).before(Date())
      let access = try await DeviceAccess(device, options.state)
      let advice = try await use(since: start, access).advice(for: try await access.preferences())
      let proposals = advice.map { Proposal($0, device: access.name, since: start) }
      if options.json { return Output.json(lines: proposals) }
      if proposals.isEmpty {
        return Output.words("no proposals: some alerts of each app were opened, or it shows few or quiet alerts")
      }
      for proposal in proposals {
        let place = [proposal.topic, proposal.category].compactMap(\.self).joined(separator: " ")
        Output.data(
          "\(place): \(proposal.presented) alerts since \(proposal.since.prefix(10)), none opened, \(proposal.closed) closed"
        )
        Output.data("  apply: \(proposal.apply)")
        Output.data("  undo:  \(proposal.undo)")
      }
    }

    /// Returns the use of the alerts on all devices of the user, as far as their rows can be read.
    private func use(since start: Int64, _ access: DeviceAccess) async throws -> AlertUse {
      var logs = [access.log]
      if access.log.isAdministered {
        let person: PersonRecord = try await access.admin.get(AdminPath.person(try await access.record().person))
        logs = person.devices.map { LogPath(path: LogPath.all.path, query: ["device=\(pathPart($0))"]) }
      }
      var use = AlertUse()
      var unanswered = UnansweredGateways()
      let search = ["since=\(start)", "event=transmitted,presented,viewed,closed,action"]
      for log in logs {
        for row in try await log.newest(search, atMost: .max, access.admin, &unanswered).rows {
          use.note(row.event, id: row.id, topic: row.topic, row.facts)
        }
      }
      return use
    }

    /// A proposal as it is printed.
    private struct Proposal: Encodable {
      var topic: String
      var category: String?
      var since: String
      var presented: Int
      var viewed: Int
      var closed: Int
      var apply: String
      var undo: String

      init(_ advice: Advice, device: String, since start: Int64) {
        (topic, category, since) = (advice.topic, advice.category, Timestamp.text(start, .seconds))
        (presented, viewed, closed) = (advice.use.presented, advice.use.viewed, advice.use.closed)
        (apply, undo) = (advice.command(device: device), advice.undo(device: device))
      }
    }
  }
}
