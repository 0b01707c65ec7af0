import ArgumentParser
import Foundation
import GatewayClient
import PushCore

/// `pushcli contexts`: the gateways that this machine knows.
struct ContextsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "contexts", abstract: "The gateways that this machine knows, and the one that commands mean.",
    discussion: """
      `join` and `login` add gateways. Where --gateway names none, commands mean the current one; local is the gateway of \
      the state folder itself.

      Examples:
        pushcli contexts
        pushcli contexts use gateway.example
        pushcli log --gateway local
      """,
    subcommands: [List.self, Use.self, Remove.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List them; a star marks the current one.")
    @OptionGroup var state: FolderOptions
    @OptionGroup var format: FormatOptions

    private struct Row: Encodable {
      var name: String
      var gateway: String?
      var current: Bool
      var devices: [String]
      var login: Bool
    }

    func run() async throws {
      let contexts = Contexts(try state.folder)
      let current = (try? contexts.current.name) ?? ""
      let rows = ([contexts.local] + contexts.remote).map { context in
        Row(
          name: context.name, gateway: context.address?.description, current: context.name == current,
          devices: Credentials.names(in: context.folder),
          login: GatewayContext.Login.read(in: context.folder) != nil)
      }
      if format.json { return Output.json(lines: rows) }
      Output.table(
        ["", "NAME", "GATEWAY", "DEVICES HERE", "ADMINISTERED BY"],
        rows.map { row in
          [
            row.current ? "*" : "", row.name, row.gateway ?? "this machine's", row.devices.joined(separator: ", "),
            row.login ? "token" : row.gateway == nil ? "admin socket" : "",
          ]
        })
    }
  }

  struct Use: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "use", abstract: "Have commands mean a gateway from now on.",
      discussion: "Example:\n  pushcli contexts use local")
    @Argument(help: "Its name.", completion: ContextNames.completion) var name: String
    @OptionGroup var state: FolderOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      try Contexts(try state.folder).use(name)
      if format.json { Output.json(["current": name]) } else { Output.words("commands mean \(name) from now on") }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Forget a gateway, with the secrets of this machine's devices and the login.",
      discussion: """
        The gateway keeps its side: `pushcli devices remove` and `pushcli admin tokens remove` end it there.

        Example:
          pushcli contexts remove gateway.example
        """)
    @Argument(help: "Its name.", completion: ContextNames.completion) var name: String
    @OptionGroup var state: FolderOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      try Contexts(try state.folder).remove(name)
      if format.json { Output.json(["removed": name]) } else { Output.words("forgot \(name)") }
    }
  }
}
