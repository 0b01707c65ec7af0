import ArgumentParser
import Foundation
import GatewayProtocol
import PushCore
import PushGateway

/// `pushcli faults`: injected faults.
struct Faults: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "faults", abstract: "Inject faults, to test a sender's error handling.",
    discussion: """
      A fault applies to the requests that match all its selectors, for a count, a rate or a time. \
      docs/send/test-error-handling.md describes every one, and the form of scenario files.

      Examples:
        pushcli faults add busy --reason TooManyRequests \\
          --app com.example.news --count 3
        pushcli faults add slow --delay 2s --rate 10 --for 5m
        pushcli faults load scenario.yaml
        pushcli faults list
        pushcli faults remove --all
      """,
    subcommands: [List.self, Add.self, Remove.self, Load.self, Connections.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List faults with their effects and remaining counts.",
      discussion: "Example:\n  pushcli faults list --json")
    @OptionGroup var options: AdminOptions

    func run() async throws {
      Faults.show(try await options.admin.get(AdminPath.faults()), options)
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Set a fault; a fault of the same name is replaced.",
      discussion: """
        Examples:
          pushcli faults add gone --unregister --token 4f0c…e1a9 --count 1
          pushcli faults add storm --goaway Shutdown --rate 1 --seed 7
          pushcli faults add tight --streams 1 --connection 127.0.0.1 --for 30s
        """)
    @Argument(help: "Its name, for lists and logs.") var name: String
    @Option(help: "Only pushes to this app, a bundle id.", completion: CompletionCandidates.apps) var app: String?
    @Option(help: "Only pushes to this device token.") var token: String?
    @Option(help: "Only requests with this key id.", completion: CompletionCandidates.keys) var key: String?
    @Option(help: "Only this peer address, or this number of `faults connections`.") var connection: String?
    @Option(help: "Answer with this reason, and its status.", completion: CompletionCandidates.reasons) var reason:
      String?
    @Option(help: "Answer with this HTTP status.") var status: Int?
    @Option(help: "With --reason or --throttle: the seconds in the field retry-after.") var retryAfter: Int?
    @Option(help: "Delay the answer by this time: 250ms, 2s, 1m.") var delay: String?
    @Option(help: "RST_STREAM with this code, as REFUSED_STREAM, or a number.") var reset: String?
    @Option(help: "GOAWAY with this reason, and no answer.", completion: CompletionCandidates.reasons) var goaway:
      String?
    @Flag(help: "End the connection with a TCP reset.") var drop = false
    @Flag(help: "Read and write no more, and keep the socket.") var halfOpen = false
    @Flag(help: "Give no flow control credit for bodies.") var stall = false
    @Option(help: "Allow this many streams.") var streams: Int?
    @Option(help: "429 TooManyRequests beyond this many requests a second.") var throttle: Int?
    @Flag(help: "Unregister the device token now, and answer 410 Unregistered.") var unregister = false
    @Option(help: "The maximum number of requests that it changes.") var count: Int?
    @Option(help: "The percentage of the matching requests that it changes.") var rate: Double?
    @Option(help: "Seed for --rate, for repeatable faults.") var seed: UInt64?
    @Option(name: .customLong("for"), help: "End after this time: 30s, 10m.") var lasting: String?
    @OptionGroup var options: AdminOptions

    func validate() throws {
      // JSON can't represent infinity; the gateway checks all other values of a fault.
      guard rate?.isFinite ?? true else { throw ValidationError("--rate is a number of per cent from 0 to 100") }
    }

    func run() async throws {
      var rule = FaultRule(name: name)
      (rule.app, rule.token, rule.key, rule.connection) = (app, token, key, connection)
      (rule.reason, rule.status, rule.reset, rule.goaway) = (reason, status, reset, goaway)
      rule.retryAfter = retryAfter
      (rule.streams, rule.throttle, rule.count, rule.rate, rule.seed) = (streams, throttle, count, rate, seed)
      if drop { rule.drop = true }
      if halfOpen { rule.halfOpen = true }
      if stall { rule.stall = true }
      if unregister { rule.unregister = true }
      rule.delay = try delay.map { try TimeSpan($0, option: "--delay").seconds }
      rule.seconds = try lasting.map { try TimeSpan($0, option: "--for").seconds }
      let _: [FaultRecord] = try await options.admin.post(AdminPath.faults(), [rule])
      if !options.json { Output.words("set \(name)") }
      let all: [FaultRecord] = try await options.admin.get(AdminPath.faults())
      if options.json { Output.json(lines: all.filter { $0.rule.name == name }) }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a fault, or all of them.",
      discussion: "Example:\n  pushcli faults remove busy")
    @Argument(help: "The fault's name.", completion: CompletionCandidates.faults) var name: String?
    @Flag(help: "All faults.") var all = false
    @OptionGroup var options: AdminOptions

    func validate() throws {
      guard (name != nil) != all else { throw ValidationError("name a fault, or give --all") }
    }

    func run() async throws {
      try await options.admin.delete(name.map { AdminPath.fault($0) } ?? AdminPath.faults())
      options.print(["removed": name ?? "all"], words: "removed \(name ?? "all faults")")
    }
  }

  struct Load: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "load", abstract: "Set all faults of a scenario file, or none.",
      discussion: """
        The file is YAML; docs/send/test-error-handling.md describes its form. Faults that are already set stay, \
        except for a fault of the same name; --replace removes all of them first.

        Example:
          pushcli faults load docs/send/faults-example.yaml --replace
        """)
    @Argument(help: "The file, or - for standard input.", completion: .file()) var file: String
    @Flag(help: "Remove all faults that are set first.") var replace = false
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let data = try readFile(file)
      let rules: [FaultRule]
      do {
        rules = try FaultRule.list(yaml: String(decoding: data, as: UTF8.self))
      } catch {
        throw CommandFailure(.usage, "\(file): \(error)")
      }
      let admin = try await options.admin
      if replace { try await admin.delete(AdminPath.faults()) }
      let all: [FaultRecord] = try await admin.post(AdminPath.faults(), rules)
      if !options.json { Output.words("set \(counted(rules.count, "fault"))") }
      if options.json { Output.json(lines: all) }
    }
  }

  struct Connections: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "connections", abstract: "List the connections that are open now.",
      discussion: "Example:\n  pushcli faults connections")
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let connections: [ConnectionRecord] = try await options.admin.get(AdminPath.connections())
      options.print(lines: connections, ["NUMBER", "ADDRESS", "ENVIRONMENT", "STREAMS"]) {
        [String($0.number), $0.address ?? "-", $0.environment, String($0.streams)]
      }
    }
  }

  private static func show(_ faults: [FaultRecord], _ format: some OutputForm) {
    format.print(lines: faults, ["NAME", "DOES", "FOR", "HITS", "LEFT", "ENDS IN", "ACTIVE"]) { fault in
      [
        fault.rule.name, fault.does, fault.rule.target, String(fault.injections), fault.left.map(String.init) ?? "-",
        fault.secondsLeft.map { String(format: "%.0fs", $0.rounded(.up)) } ?? "-", fault.isActive ? "yes" : "no",
      ]
    }
  }
}

extension FaultRule {
  /// The requests that the fault matches, and its rate, in words.
  fileprivate var target: String {
    var words: [String] = []
    if let app { words.append("app \(app)") }
    if let token { words.append("token \(token.prefix(8))…") }
    if let key { words.append("key \(key)") }
    if let connection { words.append("connection \(connection)") }
    if let rate { words.append("\(rate) %") }
    return words.isEmpty ? "everything" : words.joined(separator: ", ")
  }
}
