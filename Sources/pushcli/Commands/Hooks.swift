import ArgumentParser
import GatewayProtocol
import PushCore
import PushPolicy

/// `pushcli hooks`: webhooks of services, as senders of messages.
struct Hooks: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hooks", abstract: "Webhooks: alerts and events of services become pushes.",
    discussion: """
      A webhook is a sender of messages in the format of a service. It has a token, one app and its \
      recipients, and `pushcli senders` shows it, too. The service posts to /hooks/NAME of the gateway: over HTTP/2, \
      or over HTTP/1.1 to an address of the setting http_listen. \
      docs/send/webhooks.md has the settings of each service.

      Examples:
        pushcli hooks add alerts --kind alertmanager --app com.example.ops --to me
        pushcli hooks add monitor --kind json --field body=/message \\
          --app com.example.ops --to me
        pushcli hooks test alerts body.json
        pushcli hooks
      """,
    subcommands: [List.self, Add.self, Test.self, Rotate.self, Remove.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List webhooks with their kinds, apps, recipients and times of last use.",
      discussion: "Example:\n  pushcli hooks list --json")
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let header = ["WEBHOOK", "KIND", "APP", "RECIPIENTS", "LAST USED"]
      try await options.admin.printList(AdminPath.senders() + "?hooks=all", part, options, header: header) { row in
        [
          row["name"]?.string ?? "", row["kind"]?.string ?? "", row["app"]?.string ?? "",
          row["recipients"]?.joinedTexts ?? "", row["last_used"]?.string ?? "never",
        ]
      }
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add a webhook; prints its token, and the settings for the service.",
      discussion: """
        The token is printed once. The gateway keeps its hash; of a webhook of GitHub, which signs with it, the gateway \
        keeps the token itself, too.

        With the kind json, --field names a field of the message and a JSON pointer (RFC 6901) to its value: title, \
        subtitle, body, link, level, badge, sound, category, thread. A later message with the same `subject` replaces \
        the last one, and `resolved` (such as true, ok, up, resolved) retracts it.

        Examples:
          pushcli hooks add alerts --kind alertmanager --app com.example.ops --to me
          pushcli hooks add code --kind github --app com.example.ops --to me --to dev
          pushcli hooks add monitor --kind json \\
            --field title=/name --field body=/message --app com.example.ops --to me
        """)

    @Argument(help: "Its name, a part of the address: letters, digits, dots, hyphens and underscores.")
    var name: String
    @Option(help: "The service.") var kind: HookKind
    @Option(help: "The app's topic.", completion: CompletionCandidates.apps) var app: String
    @Option(
      help: "A device or a group that is registered for the app; repeatable.", completion: CompletionCandidates.devices)
    var to: [String]
    @Option(
      name: .customLong("field"),
      help: ArgumentHelp(
        "A field of the kind json, and a JSON pointer to its value; repeatable.", valueName: "name=/pointer"))
    var fields: [String] = []
    @Option(help: "The maximum number of messages in a minute, up to \(Limits.maximumMessageRate).")
    var rate = Limits.standardMessageRate
    @OptionGroup var options: AdminOptions

    func validate() throws {
      guard !to.isEmpty else { throw ValidationError("name a recipient with --to") }
      guard fields.isEmpty || kind == .json else { throw ValidationError("--field needs --kind json") }
      guard !fields.isEmpty || kind != .json else {
        throw ValidationError("name a field with --field, as --field body=/message")
      }
      _ = try pointers()
      try OptionValue.check(rate, "--rate", 1...Limits.maximumMessageRate)
    }

    /// The JSON pointers by the names of their fields.
    private func pointers() throws -> [String: String] {
      var pointers: [String: String] = [:]
      for field in fields {
        let sides = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2, pointers.updateValue(String(sides[1]), forKey: String(sides[0])) == nil else {
          throw ValidationError("invalid field \(field): expected each name once, as --field body=/message")
        }
      }
      return pointers
    }

    func run() async throws {
      let admin = try await options.admin
      let address = try await MessageAddress(options, admin)
      let made: CreatedSender = try await admin.post(
        AdminPath.senders(),
        SenderRequest(
          name: name, app: app, recipients: to, rate: rate, kind: kind.rawValue,
          fields: kind == .json ? try pointers() : nil))
      address.show(made, options)
    }
  }

  struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "test", abstract: "Show the message of a body, and the parts that devices would present.",
      discussion: """
        The command sends and stores nothing. A body that the gateway would refuse is an error.

        Examples:
          pushcli hooks test alerts body.json
          pushcli hooks test alerts - < body.json
        """)
    @Argument(help: "The webhook.", completion: CompletionCandidates.senders) var name: String
    @Argument(help: "The file with the body of a request; - for standard input.", completion: .file()) var file: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let body = try readFile(file)
      guard let text = String(validating: body, as: UTF8.self) else {
        throw CommandFailure(.usage, "\(file) is not valid UTF-8: expected the JSON of a request")
      }
      let record: HookTestRecord = try await options.admin.post(
        AdminPath.senderTest(name), HookTestRequest(body: text))
      if options.json { return Output.json(record) }
      switch record.result {
      case "ignored": Output.words("ignored, since this event makes no message: \(record.event ?? "")")
      case "resolved":
        Output.words("retracts the last message about the subject \(record.collapseID ?? "")")
      default:
        if let id = record.collapseID { Output.words("replaces the last message about the subject \(id)") }
        Output.data(record.payload ?? "")
        for recipient in record.recipients ?? [] { show(recipient) }
      }
    }

    private func show(_ recipient: HookTestRecord.Recipient) {
      if let refused = recipient.refused { return Output.words("\(recipient.recipient): \(refused)") }
      for device in recipient.devices {
        let parts = device.presented.isEmpty ? "nothing" : device.presented.joined(separator: ", ")
        Output.words(([device.device + " would present " + parts] + device.removed).joined(separator: "; "))
      }
    }
  }

  struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rotate", abstract: "Give a webhook another token: the previous one is refused at once.",
      discussion: "Example:\n  pushcli hooks rotate alerts")
    @Argument(help: "The webhook.", completion: CompletionCandidates.senders) var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await MessageAddress.rotateToken(of: name, options)
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a webhook: its token is refused from the next request on.",
      discussion: "Example:\n  pushcli hooks remove alerts")
    @Argument(help: "The webhook.", completion: CompletionCandidates.senders) var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.sender(name))
      options.print(["removed": name], words: "removed webhook \(name)")
    }
  }
}

extension HookKind: ExpressibleByArgument {}

extension HookKind {
  /// The settings to enter in the service.
  func settings(_ url: String, _ token: String) -> String {
    switch self {
    case .alertmanager:
      "in alertmanager.yml: webhook_configs: [{url: \"\(url)\", http_config: {authorization: {credentials: \(token)}}}]"
    case .grafana: "in a contact point of the type Webhook: URL \(url), scheme Bearer, credentials \(token)"
    case .github: "in Settings, Webhooks: payload URL \(url), content type application/json, secret \(token)"
    case .gitlab: "in Settings, Webhooks: URL \(url), secret token \(token)"
    case .healthchecks:
      "in a webhook integration: POST, URL \(url), body $JSON, request header authorization: Bearer \(token)"
    case .json: "POST \(url), header authorization: Bearer \(token), or \(url)?token=\(token)"
    }
  }
}
