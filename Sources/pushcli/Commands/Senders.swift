import ArgumentParser
import Foundation
import GatewayProtocol
import PushCore
import PushPolicy

/// `pushcli senders`: senders of messages with curl or any other HTTP client.
struct Senders: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "senders", abstract: "Senders that need no key: a token for one app and its recipients.",
    discussion: """
      A sender posts a text, a form or JSON to /send/NAME of the gateway, with a bearer token. It can send only to its \
      app and its recipients. The preferences of the recipients and the policy for senders apply as to every push. \
      Programs that send to ntfy or Gotify use the same token: docs/send/ntfy-and-gotify.md has their settings.

      Examples:
        pushcli senders add backup --app com.example.ops --to me
        pushcli senders
        pushcli senders rotate backup
        pushcli senders remove backup
      """,
    subcommands: [List.self, Add.self, Rotate.self, Remove.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List senders with their apps, recipients, rates and times of last use.",
      discussion: "Example:\n  pushcli senders list --json")
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.printList(
        AdminPath.senders(), part, options, header: ["SENDER", "APP", "RECIPIENTS", "RATE", "COMBINE", "LAST USED"]
      ) { row in
        [
          row["name"]?.string ?? "", row["app"]?.string ?? "", row["recipients"]?.joinedTexts ?? "",
          String(row["rate"]?.integer ?? 0), (row["combine"]?.integer).map { TimeSpan.text(seconds: Int64($0)) } ?? "-",
          row["last_used"]?.string ?? "never",
        ]
      }
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add a sender; prints its token, and a command that sends a message.",
      discussion: """
        The token is printed once; the gateway keeps its hash. Every program with the token can send to the recipients. A \
        sender that exceeds its rate gets 429 with retry-after.

        Examples:
          pushcli senders add backup --app com.example.ops --to me
          pushcli senders add ci --app com.example.ops --to me --to ops --rate 10
          pushcli senders add disk --app com.example.ops --to me --combine 10m
        """)

    @Argument(help: "Its name, a part of the address: letters, digits, dots, hyphens and underscores.")
    var name: String
    @Option(help: "The app's topic.", completion: CompletionCandidates.apps) var app: String
    @Option(
      help: "A device or a group that is registered for the app; repeatable.", completion: CompletionCandidates.devices)
    var to: [String]
    @Option(help: "The maximum number of messages in a minute, up to \(Limits.maximumMessageRate).")
    var rate = Limits.standardMessageRate
    @Option(help: "The time in which equal messages become one with their number, as 10m; at most 7d.")
    var combine: String?
    @OptionGroup var options: AdminOptions

    func validate() throws {
      guard !to.isEmpty else { throw ValidationError("name a recipient with --to") }
      try OptionValue.check(rate, "--rate", 1...Limits.maximumMessageRate)
    }

    func run() async throws {
      let combine = try combine.map { Int(try TimeSpan($0, option: "--combine", requiresUnit: true).seconds) }
      guard combine.map({ (1...Limits.maximumCombineTime).contains($0) }) ?? true else {
        throw CommandFailure(.usage, "--combine is \(self.combine ?? ""): expected 1s to 7d")
      }
      let admin = try await options.admin
      let address = try await MessageAddress(options, admin)
      let made: CreatedSender = try await admin.post(
        AdminPath.senders(), SenderRequest(name: name, app: app, recipients: to, rate: rate, combine: combine))
      address.show(made, options)
    }
  }

  struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rotate", abstract: "Give a sender another token: the previous one is refused at once.",
      discussion: "Example:\n  pushcli senders rotate backup")
    @Argument(help: "The sender.", completion: CompletionCandidates.senders) var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await MessageAddress.rotateToken(of: name, options)
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a sender: its token is refused from the next request on.",
      discussion: "Example:\n  pushcli senders remove backup")
    @Argument(help: "The sender.", completion: CompletionCandidates.senders) var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.sender(name))
      options.print(["removed": name], words: "removed sender \(name)")
    }
  }
}

/// The address of the messages of senders, and of webhooks, for the commands that print a token.
struct MessageAddress {
  /// The output of `--json`.
  private struct Result: Encodable {
    var name, token, url: String
  }

  private let address: GatewayAddress
  /// The file of the CA that curl has to trust; nil if the CAs of the system may verify the gateway.
  private let trustPath: String?

  init(_ options: AdminOptions, _ admin: Admin) async throws {
    let context = try options.state.context
    address = try await InvitationPlace(nil, at: context, admin).address
    let path = context.folder.trustPath
    trustPath = FileManager.default.fileExists(atPath: path) ? path : nil
  }

  /// Gives a sender or a webhook another token, and prints it.
  static func rotateToken(of name: String, _ options: AdminOptions) async throws {
    let admin = try await options.admin
    let address = try await MessageAddress(options, admin)
    let made: CreatedSender = try await admin.post(AdminPath.senderToken(name), [String: String]())
    address.show(made, options)
  }

  /// Prints the token, and a command that sends a message, or the settings of the service of a webhook.
  func show(_ made: CreatedSender, _ options: AdminOptions) {
    let url = "https://\(address)/\(made.kind == nil ? "send" : "hooks")/\(made.name)"
    options.print(Result(name: made.name, token: made.token, url: url), data: made.token)
    guard !options.json else { return }
    if let kind = made.kind.flatMap(HookKind.init(rawValue:)) { return Output.words(kind.settings(url, made.token)) }
    let trust = trustPath.map { "--cacert \($0) " } ?? ""
    Output.words("curl \(trust)-d \"Backup done\" \(url) -H \"authorization: bearer \(made.token)\"")
  }
}
