import ArgumentParser
import Dispatch
import Foundation
import GatewayClient
import Glibc
import HTTP2Transport
import PushCore

/// The entry point of the process.
@main
enum Main {
  /// Runs the command in a task while the main thread waits. An asynchronous `main` ends in `dispatch_main()`, which
  /// valgrind can't follow, and the cost of a push is counted with valgrind.
  static func main() {
    openStandardStreams()
    silenceDispatch()
    TLSLibrary.begin()
    if CommandLine.arguments.dropFirst().first == "---completion" { PushCLI.complete() }
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      await PushCLI.begin()
      done.signal()
    }
    done.wait()
  }

  /// Turns off the log of libdispatch, which has a line for each worker thread of any user but root, since other users
  /// may not set the priority of threads. libdispatch reads the variable before its first line.
  private static func silenceDispatch() { unsafe setenv("LIBDISPATCH_LOG", "NO", 0) }

  /// Opens `/dev/null` for each of the three standard streams that the parent process has closed. Otherwise the next
  /// opened file would get such a descriptor, and the output would be written to that file.
  private static func openStandardStreams() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", O_RDWR)
    }
  }
}

/// The command `pushcli`: the gateway and its clients.
///
/// Each command states its name explicitly: the parser reads the names of all commands at every start, and deriving a
/// name from a type searches the conformances of the whole program. For all commands that was two thirds of the cost of
/// a short command. The root is not asynchronous, unlike most commands: with an asynchronous root, a debug build of the
/// parser reads the options of all commands at every start.
struct PushCLI: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pushcli",
    abstract: "Self-hosted push server with Apple's APNs provider API, and its terminal client.",
    discussion: """
      Examples:
        pushcli serve
        pushcli subscribe --device me --app com.example.news
        pushcli send --to me/com.example.news --title "Train in 5 Minutes"
        pushcli join CODE@gateway.example

      Guides: docs/README.md lists all of them; begin with \
      docs/start/first-push.md. The package has them in \
      /usr/share/doc/pushgateway.

      Exit codes: 0 done, 1 failed, 2 usage, 3 unknown name, no recipient or \
      suppressed, 4 not authorized, 5 refused permanently, 6 unreachable after \
      retries, 7 timed out, 130 interrupted.
      """,
    version: Version.text,
    groupedSubcommands: [
      CommandGroup(
        name: "Send",
        subcommands: [
          Send.self, Run.self, Ask.self, MCP.self, Scheduled.self, Channels.self, Senders.self, Hooks.self, Expect.self,
          EventTargetsCommand.self, Lint.self,
        ]),
      CommandGroup(
        name: "Receive",
        subcommands: [
          Subscribe.self, Open.self, AttachmentCommand.self, Prefs.self, PolicyCommand.self, Join.self, Endpoints.self,
        ]),
      CommandGroup(name: "People", subcommands: [Devices.self, Persons.self, Groups.self]),
      CommandGroup(name: "Apps and Keys", subcommands: [Apps.self, Teams.self, Keys.self, Certs.self]),
      CommandGroup(
        name: "Operate",
        subcommands: [
          Serve.self, AdminCommand.self, ConfigCommand.self, Log.self, Metrics.self, Doctor.self, Login.self,
          ContextsCommand.self, Faults.self, Bench.self, Ads.self,
        ]),
      CommandGroup(name: "Test", subcommands: [TestRun.self, TestDiff.self, DeviceConformance.self]),
    ])

  fileprivate static func begin() async {
    // A closed pipe makes the write fail, instead of ending the process in the middle of a write.
    signal(SIGPIPE, SIG_IGN)
    let arguments = CommandLineArguments(Array(CommandLine.arguments.dropFirst()))
    do {
      if arguments.isVersion { return Output.data(configuration.version) }
      if let script = arguments.completionScript(of: PushCLI.self) { return Output.help(script) }
      try arguments.checkHelp(of: PushCLI.self)
      var command = try parseAsRoot(arguments.words)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      leave(error, arguments)
    }
  }

  /// Prints the completions for a shell; the main thread can wait for the gateway.
  fileprivate static func complete() -> Never {
    do {
      _ = try parseAsRoot()
      Glibc.exit(Exit.done.rawValue)
    } catch {
      leave(error, CommandLineArguments([]))
    }
  }

  /// Prints the error in one line and exits with the code that scripts rely on.
  private static func leave(_ error: any Error, _ arguments: CommandLineArguments) -> Never {
    switch error {
    case let error as ExitCode: Glibc.exit(error.rawValue)
    case is CommandFailure, is ClientError: leave(CommandFailure(any: error))
    default: break
    }
    switch exitCode(for: error) {
    case .success:
      Output.help(fullMessage(for: error))
      Glibc.exit(Exit.done.rawValue)
    case .validationFailure:
      let line = CommandFailure.usageLine(
        message: message(for: error), fullMessage: fullMessage(for: error), numbers: OptionNumbers(error))
      leave(CommandFailure(.usage, arguments.unknownCommand(below: PushCLI.self) ?? line))
    default: leave(CommandFailure(.failed, message(for: error)))
    }
  }

  private static func leave(_ failure: CommandFailure) -> Never {
    if !failure.message.isEmpty { Output.words("pushcli: \(failure.message)") }
    Glibc.exit(failure.code)
  }
}
