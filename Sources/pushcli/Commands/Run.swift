import ArgumentParser
import Foundation
import GatewayClient
import PushCore

/// `pushcli run`: sends a push when a command ends.
struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run a command, and send a push when it ends.",
    discussion: """
      The command has the terminal, standard input and output as if it ran alone. The push has the duration of the \
      command, its exit status and the last lines of its output. `pushcli run` then exits with the same status, or \
      with 128 + n after signal n, also if the push can't be sent. It exits with 127 if the command is unknown, and \
      with 126 if the command can't be run.

      Output to a terminal is not sent: the command writes to the terminal itself, with colors and keys. Output to a \
      file or a pipe, as in a cron job, passes through a pipe of this command, unchanged and at once. With --output \
      always all output does, with --output none no output.

      Examples:
        pushcli run --to me/com.example.builds -- make test
        pushcli run --to me/com.example.builds --after 1m -- rsync -a ~/ backup:
        pushcli run --to me/com.example.builds --output always -- ./backup
      """)

  @Option(
    help: "DEVICE/TOPIC: the token is looked up on this machine's gateway.", completion: CompletionCandidates.targets)
  var to: String?
  @Option(help: "The device token, in hex.") var token: String?
  @Option(help: "The topic: the app's bundle id.", completion: CompletionCandidates.apps) var topic: String?
  @Option(name: .shortAndLong, help: "The alert's title. (the command and its result)") var title: String?
  @Option(help: "The sound's name, or none. (success or failure)", completion: CompletionCandidates.sounds) var sound:
    String?
  @Option(help: "Send only if it took at least this time: 30s, 5m, 2h.") var after = "0s"
  @Flag(help: "Send only when it failed.") var onFailure = false
  @Option(help: "Send the last lines of output; auto: of output that is not to a terminal.")
  var output = ChildOutput.Mode.auto
  @OptionGroup var signing: SigningOptions
  @OptionGroup var gateway: GatewayOptions
  @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The command, after --.", valueName: "command"))
  var words: [String] = []

  private func command() throws -> [String] {
    try PassedCommand(words, of: Run.self, example: "make test").words
  }

  func validate() throws {
    _ = try command()
    guard [to, token].count(where: { $0 != nil }) == 1 else {
      throw ValidationError("name the recipient: --to DEVICE/TOPIC, or --token TOKEN --topic TOPIC")
    }
    if let to, !to.contains("/"), topic == nil { throw ValidationError("--to is DEVICE/TOPIC, not \"\(to)\"") }
    if token != nil, topic == nil { throw ValidationError("--token needs --topic TOPIC") }
  }

  func run() async throws {
    let command = try command()
    let shortest = try TimeSpan(after, option: "--after").duration
    let result = try ChildCommand(words: command, routes: ChildOutput.routes(output)).run()
    if result.time >= shortest, !onFailure || result.end != .exited(0) {
      let report = CommandReport(command: command, end: result.end, time: result.time, lines: result.lines)
      if let problem = await problem(sending: report) {
        Output.words("pushcli: the push was not sent: \(problem)")
      }
    }
    if result.end.status != 0 { throw ExitCode(result.end.status) }
  }

  /// Sends the push; without the output or the command if the gateway refuses their text.
  ///
  /// - Returns: the reason why it could not be sent; nil if it was sent.
  private func problem(sending report: CommandReport) async -> String? {
    let title = title ?? report.title
    var (shorter, shortest) = (report, report)
    shorter.lines = []
    (shortest.lines, shortest.command) = ([], [])
    var problem: String?
    for attempt in report.lines.isEmpty ? [report, shortest] : [report, shorter, shortest] {
      do {
        let answer = try await push(attempt, title: title).delivered()
        if answer.status == 200 { return nil }
        problem = "the gateway refused it with \(ProviderRefusal.words(of: answer))"
        guard [403, 413].contains(answer.status) else { return problem }
      } catch {
        return CommandFailure(any: error).message
      }
    }
    return problem
  }

  private func push(_ report: CommandReport, title: String) -> ProviderPush {
    let sound = sound ?? report.sound
    let content = PayloadContent(title: title, body: report.body(below: title), sound: sound == "none" ? nil : sound)
    return ProviderPush(to: to, token: token, topic: topic, content: content, signing: signing, gateway: gateway)
  }
}

extension ChildOutput.Mode: ExpressibleByArgument {}
