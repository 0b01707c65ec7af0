import ArgumentParser
import GatewayProtocol
import PushCore
import PushPolicy
import PushStorage

/// `pushcli event-targets`: servers that get the events of the delivery log.
struct EventTargetsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "event-targets", abstract: "Servers that get delivery events by HTTP: accepted, delivered, viewed.",
    discussion: """
      The gateway posts the events of its delivery log to a server, as JSON in batches, signed as Standard Webhooks \
      describes. A failed request is sent again, as long as the delivery log has its events. \
      docs/send/delivery-events.md has a receiver.

      Examples:
        pushcli event-targets add shop --url https://shop.example/events
        pushcli event-targets test shop
        pushcli event-targets
      """,
    subcommands: [List.self, Add.self, Test.self, Rotate.self, Resume.self, Remove.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List event targets with their addresses, apps and states.",
      discussion: "Example:\n  pushcli event-targets list")
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.printList(
        AdminPath.eventTargets(), part, options, header: ["TARGET", "ADDRESS", "APPS", "EVENTS", "LAST SENT", "STATE"]
      ) { row in
        let (apps, events) = (row["apps"]?.joinedTexts, row["events"]?.joinedTexts)
        return [
          row["name"]?.string ?? "", row["url"]?.string ?? "", apps ?? "all", events ?? "all",
          row["last_sent"]?.string ?? "-", EventTargetsCommand.state(row),
        ]
      }
    }
  }

  /// Returns the state of a target in words.
  private static func state(_ row: JSONElement) -> String {
    if row["disabled"]?.string != nil { return "disabled by 410" }
    if let late = row["late"]?.string { return "fails since \(late): \(row["error"]?.string ?? "")" }
    return "ok"
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add an event target; prints the secret of its signatures.",
      discussion: """
        The secret is printed once. The server checks each request with it, with a library of Standard Webhooks or as \
        docs/send/delivery-events.md shows. Events from before the command are not sent.

        The address begins with https://, or with http:// for a server on the gateway's machine. The server needs a \
        certificate of a CA that the gateway's machine trusts; --ca adds another one.

        Examples:
          pushcli event-targets add shop --url https://shop.example/events
          pushcli event-targets add shop --url https://shop.example/events \\
            --app com.example.shop --events acknowledged,viewed,action,expired
        """)

    @Argument(help: "Its name: letters, digits, dots, hyphens and underscores.") var name: String
    @Option(help: "The address of the server.") var url: String
    @Option(help: "The topic of an app whose events are sent; repeatable. (all)", completion: CompletionCandidates.apps)
    var app: [String] = []
    @Option(
      help: "The events to send, separated by commas, as `pushcli log` names them. (all)",
      completion: CompletionCandidates.events)
    var events: String?
    @Option(help: "A file with certificates (PEM) to trust for this server.", completion: .file()) var ca: String?
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let names = events.map { $0.split(separator: ",").map(String.init) }
      for name in names ?? [] where DeliveryEvent(rawValue: name) == nil {
        let known = DeliveryEvent.allCases.map(\.rawValue).joined(separator: ", ")
        throw CommandFailure(.usage, "unknown event \(name) in --events: expected \(known)")
      }
      let certificates = try ca.map { String(decoding: try readFile($0), as: UTF8.self) }
      let made: CreatedEventTarget = try await options.admin.post(
        AdminPath.eventTargets(),
        EventTargetRequest(
          name: name, url: url, apps: app.isEmpty ? nil : app, events: names, ca: certificates))
      options.print(made, data: made.secret)
    }
  }

  struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "test", abstract: "Send an example of an event, and show the answer of the server.",
      discussion: """
        The request has the type delivery.test, and the signature of every request. The command fails if the answer is \
        not 2xx.

        Example:
          pushcli event-targets test shop
        """)
    @Argument(help: "The event target.", completion: CompletionCandidates.eventTargets) var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let record: EventTargetTestRecord = try await options.admin.post(
        AdminPath.eventTargetTest(name), [String: String]())
      let isAccepted = record.status.map { (200..<300).contains($0) } ?? false
      if options.json {
        Output.json(record)
      } else if let status = record.status {
        Output.words("\(name) answered \(status) after \(record.milliseconds) ms")
        if let answer = record.answer, !answer.isEmpty { Output.data(answer) }
      }
      guard isAccepted else {
        throw CommandFailure(.failed, "\(name) did not accept the test: \(record.error ?? "expected a status of 2xx")")
      }
    }
  }

  struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rotate", abstract: "Give an event target another secret; the previous one also signs for a day.",
      discussion: "Example:\n  pushcli event-targets rotate shop")
    @Argument(help: "The event target.", completion: CompletionCandidates.eventTargets) var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let made: CreatedEventTarget = try await options.admin.post(
        AdminPath.eventTargetSecret(name), [String: String]())
      options.print(made, data: made.secret)
    }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "resume", abstract: "Send events again to a target that answered 410, from its last position on.",
      discussion: "Example:\n  pushcli event-targets resume shop")
    @Argument(help: "The event target.", completion: CompletionCandidates.eventTargets) var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.post(AdminPath.eventTargetResume(name))
      options.print(["resumed": name], words: "resumed event target \(name)")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove an event target: it gets no more events.",
      discussion: "Example:\n  pushcli event-targets remove shop")
    @Argument(help: "The event target.", completion: CompletionCandidates.eventTargets) var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.eventTarget(name))
      options.print(["removed": name], words: "removed event target \(name)")
    }
  }
}
