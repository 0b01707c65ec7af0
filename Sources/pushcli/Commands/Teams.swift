import ArgumentParser
import GatewayProtocol

/// `pushcli teams`: the organizations that hold keys.
struct Teams: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "teams", abstract: "Teams: the senders' organizations, which hold keys.",
    discussion: """
      Examples:
        pushcli teams
        pushcli teams add A1B2C3D4E5
        pushcli teams remove A1B2C3D4E5
      """,
    subcommands: [List.self, Add.self, Remove.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List teams.",
      discussion: "Example:\n  pushcli teams list --json")
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let teams: [TeamRecord] = try await options.admin.get(AdminPath.teams())
      options.print(lines: teams, ["TEAM"]) { [$0.id] }
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add a team.", discussion: "Example:\n  pushcli teams add A1B2C3D4E5")
    @Argument(help: "10 characters, A to Z and 0 to 9.") var team: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let added: TeamRecord = try await options.admin.post(AdminPath.teams(), TeamRecord(id: team))
      options.print(added, words: "added team \(added.id)")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a team that has no keys and no apps.",
      discussion: "Example:\n  pushcli teams remove A1B2C3D4E5")
    @Argument(help: "The team, 10 characters.", completion: CompletionCandidates.teams) var team: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.team(team))
      options.print(["removed": team], words: "removed team \(team)")
    }
  }
}
