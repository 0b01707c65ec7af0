import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import PushCore

/// `pushcli contexts`: the known gateways of this machine.
struct ContextsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "contexts", abstract: "List known gateways and choose the default one.",
    discussion: """
      `join` and `login` add gateways. Without --gateway, commands use the default one; local is the gateway of the \
      state folder itself.

      Examples:
        pushcli contexts
        pushcli contexts add F85D-P90X-EWQC-C6B1@gateway.example:2197
        pushcli contexts use gateway.example
        pushcli log --gateway local
      """,
    subcommands: [List.self, Add.self, Use.self, Refresh.self, Trust.self, Remove.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List known gateways; a star marks the default one.",
      discussion: "Example:\n  pushcli contexts list --json")
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
          login: context.folder.loginToken != nil)
      }
      format.print(lines: rows, ["", "NAME", "GATEWAY", "DEVICES HERE", "ADMINISTERED BY"]) { row in
        [
          row.current ? "*" : "", row.name, row.gateway ?? "this machine's", row.devices.joined(separator: ", "),
          row.login ? "token" : row.gateway == nil ? "admin socket" : "",
        ]
      }
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add a gateway to send to (no device, no admin access).",
      discussion: """
        `pushcli certs authority` on the gateway's machine prints the fingerprint of its certificate authority; a \
        gateway whose certificate this system trusts needs none.

        Examples:
          pushcli contexts add F85D-P90X-EWQC-C6B1@gateway.example:2197
          pushcli contexts add push.example.com:443
        """)
    @Argument(help: "FINGERPRINT@HOST:PORT, or HOST:PORT.") var gateway: String
    @Option(help: "Its name on this machine. (its host)") var name: String?
    @OptionGroup var state: FolderOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      let parts = gateway.split(separator: "@", maxSplits: 1).map(String.init)
      let address = try GatewayAddress(parts.last ?? gateway, defaultPort: GatewayAddress.usualPort)
      let fingerprint = parts.count == 2 ? AuthorityFingerprint.read(parts[0]) : nil
      guard parts.count < 2 || fingerprint != nil else {
        throw CommandFailure(
          .usage, "\"\(parts[0])\" is not a fingerprint: expected 16 digits and letters, as F85D-P90X-EWQC-C6B1")
      }
      let found = try await address.connect(trusting: fingerprint)
      found.client.close()
      let contexts = Contexts(try state.folder)
      let context = try contexts.add(address, as: name, authority: found.authority)
      try contexts.use(context.name)
      format.print(
        ["gateway": address.description, "context": context.name],
        words: "the default gateway is \(address) now; `pushcli contexts use local` changes that")
    }
  }

  struct Use: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "use", abstract: "Set the default gateway.",
      discussion: "Example:\n  pushcli contexts use local")
    @Argument(help: "Its name.", completion: CompletedLine.contexts) var name: String
    @OptionGroup var state: FolderOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      try Contexts(try state.folder).use(name)
      format.print(["current": name], words: "the default gateway is \(name) now")
    }
  }

  struct Refresh: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "refresh",
      abstract: "Fetch a gateway's new certificate authority over the connection that the present one secures.",
      discussion: """
        A gateway publishes its next certificate authority before it uses it. `subscribe` fetches it at each start.

        Example:
          pushcli contexts refresh
        """)
    @Argument(help: "Its name. (the default one)", completion: CompletedLine.contexts) var name: String?
    @OptionGroup var state: FolderOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      let contexts = Contexts(try state.folder)
      let (context, _) = try contexts.remoteGateway(name)
      let isNew = try await context.refreshAuthority()
      format.print(
        ["context": context.name, "refreshed": String(isNew)],
        words: isNew ? "\(context.name) has another CA, which is trusted now" : "nothing has changed")
    }
  }

  struct Trust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "trust",
      abstract: "Trust a gateway by the CAs of this system, instead of the CA that is stored for it.",
      discussion: """
        For a gateway whose operator has changed to a public certificate after this machine joined. The command first \
        verifies the gateway's certificate and host name with the CAs of this system, and then deletes the stored CA. \
        Devices and logins stay.

        Example:
          pushcli contexts trust gateway.example
        """)
    @Argument(help: "Its name. (the default one)", completion: CompletedLine.contexts) var name: String?
    @OptionGroup var state: FolderOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      let contexts = Contexts(try state.folder)
      let (context, address) = try contexts.remoteGateway(name)
      try await address.connect(trusting: AuthorityFingerprint.ofSystem).client.close()
      let isNew = try contexts.trustSystem(context)
      format.print(
        ["context": context.name, "changed": String(isNew)],
        words: isNew ? "\(context.name) is verified by the CAs of this system from now on" : "nothing has changed")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Remove a gateway, with the secrets of its devices and the login on this machine.",
      discussion: """
        The devices and the token stay valid at the gateway: revoke them with `pushcli devices remove` and \
        `pushcli admin tokens remove`.

        Example:
          pushcli contexts remove gateway.example
        """)
    @Argument(help: "Its name.", completion: CompletedLine.contexts) var name: String
    @OptionGroup var state: FolderOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      try Contexts(try state.folder).remove(name)
      format.print(["removed": name], words: "forgot \(name)")
    }
  }
}
