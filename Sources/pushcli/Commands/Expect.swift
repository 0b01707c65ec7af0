import ArgumentParser
import GatewayProtocol
import PushCore
import PushPolicy

/// `pushcli expect`: heartbeats that are expected of senders.
struct Expect: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expect", abstract: "Heartbeats: a push when a sender does not report in time.",
    discussion: """
      A sender (`pushcli senders add`) reports with a request to /beat/NAME of the gateway. If no request arrives in \
      time, its recipients get a push, and another one when a request arrives again.

      Examples:
        pushcli expect backup --every 24h --grace 1h
        pushcli expect list
        pushcli expect remove backup
      """,
    subcommands: [Add.self, List.self, Remove.self], defaultSubcommand: Add.self)

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Expect heartbeats of a sender.",
      discussion: """
        The first heartbeat is expected within the interval and its grace from now. An expectation that the sender \
        has already is replaced.

        Examples:
          pushcli expect backup --every 24h --grace 1h
          pushcli expect add sensor --every 10m
        """)

    @Argument(help: "The sender.", completion: CompletionCandidates.senders) var name: String
    @Option(help: "The interval of its heartbeats, as 10m, 24h or 7d.") var every: String
    @Option(help: "How much later a heartbeat may be (default: a tenth of --every).") var grace: String?
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let every = try Self.seconds(every, "--every", from: 1)
      let grace = try grace.map { try Self.seconds($0, "--grace", from: 0) } ?? every / 10
      let made: ExpectationRecord = try await options.admin.post(
        AdminPath.expectations(), ExpectationRequest(sender: name, every: every, grace: grace))
      options.print(
        made,
        words: "\(name): the next heartbeat, a request to /beat/\(name), is late from \(Timestamp.local(made.due)) on")
    }

    /// Parses an option as whole seconds.
    private static func seconds(_ text: String, _ option: String, from lowest: Int) throws -> Int {
      let seconds = Int(try TimeSpan(text, option: option, requiresUnit: true).seconds)
      guard (lowest...Limits.maximumHeartbeatTime).contains(seconds) else {
        throw CommandFailure(.usage, "\(option) is \(text): expected \(lowest)s to 366d")
      }
      return seconds
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the expected heartbeats, with the last one and the time of the next.",
      discussion: "Times are in this machine's time zone, and in UTC in JSON.\n\nExample:\n  pushcli expect list")
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.printList(
        AdminPath.expectations(), part, options, name: "sender",
        header: ["SENDER", "EVERY", "GRACE", "LAST", "LATE FROM", "STATE"]
      ) { row in
        [
          row["sender"]?.string ?? "", TimeSpan.text(seconds: Int64(row["every"]?.integer ?? 0)),
          TimeSpan.text(seconds: Int64(row["grace"]?.integer ?? 0)),
          (row["last"]?.string).map { Timestamp.local($0) } ?? "never", Timestamp.local(row["due"]?.string ?? ""),
          row["late"]?.boolean == true ? "late" : "",
        ]
      }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Expect no more heartbeats of a sender.",
      discussion: "Example:\n  pushcli expect remove backup")
    @Argument(help: "The sender.", completion: CompletionCandidates.expectations) var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.expectation(name))
      options.print(["removed": name], words: "no more heartbeats of \(name) are expected")
    }
  }
}
