import ArgumentParser
import GatewayProtocol
import PushCore
import PushPolicy

/// `pushcli admin tokens`: credentials for remote administrators.
struct AdminTokens: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tokens", abstract: "Tokens for remote administration.",
    discussion: """
      The gateway accepts tokens when its setting remote_admin is on. A token holds the fingerprint of the gateway's \
      certificate authority, so that no certificate has to be copied. It is valid for one gateway.

      Examples:
        pushcli admin tokens
        pushcli admin tokens create ci --role operator --days 30
        pushcli admin tokens remove ci
      """,
    subcommands: [List.self, Create.self, Remove.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List tokens with their owners, roles and times of last use.",
      discussion: "Example:\n  pushcli admin tokens list")
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.printList(
        AdminPath.tokens(), part, options, header: ["NAME", "ROLE", "CREATED", "EXPIRES", "LAST USED"]
      ) { row in
        (["name", "role", "created", "expires"] as [StaticString]).map { row[$0]?.string ?? "" } + [
          row["last_used"]?.string ?? "never"
        ]
      }
    }
  }

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create", abstract: "Create a token for one administrator or machine, and print it.",
      discussion: """
        A reader sees the gateway's state, an operator also changes everything except credentials, an admin may do \
        everything. The token is printed once, alone on standard output; the gateway keeps its hash. Keep it secret: \
        it grants the role to everybody who has it.

        Examples:
          pushcli admin tokens create ada --role admin
          pushcli admin tokens create dashboard --role reader --days 365
        """)
    private static let roles = Role.administrators.map(\.rawValue)

    @Argument(help: "Its owner or purpose.") var name: String
    @Option(help: "reader, operator or admin.", completion: .list(Create.roles)) var role: String
    @Option(help: "Its validity in days, up to \(Limits.maximumAdministratorTokenDays).") var days = 90
    @OptionGroup var options: AdminOptions

    func validate() throws {
      guard Create.roles.contains(role) else {
        throw ValidationError("--role is one of \(Create.roles.joined(separator: ", ")), not \(role)")
      }
      try OptionValue.check(days, "--days", 1...Limits.maximumAdministratorTokenDays)
    }

    func run() async throws {
      let made: CreatedAdministratorToken = try await options.admin.post(
        AdminPath.tokens(), AdministratorTokenRequest(name: name, role: role, days: days))
      options.print(made, data: made.token)
      Output.words(
        "valid for the role \(made.role) until \(made.expires): use it remotely with `pushcli login HOST:PORT`")
      if !made.isUsable {
        Output.words("the gateway does not accept tokens yet: set `remote_admin: on`, then `pushcli admin reload`")
      }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Revoke a token: it is refused from the next request on.",
      discussion: "Example:\n  pushcli admin tokens remove ci")
    @Argument(help: "The token's name, as `admin tokens` lists it.", completion: CompletionCandidates.tokens) var name:
      String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.token(name))
      options.print(["removed": name], words: "removed token \(name)")
    }
  }
}
