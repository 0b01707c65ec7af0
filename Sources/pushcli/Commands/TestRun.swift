import ArgumentParser
import Foundation
import Glibc
import PushGateway

/// `pushcli test-run`: runs a command with a test gateway.
struct TestRun: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test-run", abstract: "Run a command, such as a test suite, with a test gateway.",
    discussion: """
      The command gets the test gateway in its environment: APNS_URL, APNS_CA (a file with the certificate to trust) and \
      PUSHGATEWAY_TEST_URL. At its end, a report on standard error has the reaction of the sender to each refusal, and \
      this command exits with the status of the command, or with 128 + n after signal n.

      Examples:
        pushcli test-run -- pytest
        pushcli test-run --record pushes.ndjson -- npm test
      """)

  @Flag(name: .customLong("strict"), help: "Accept only registered keys, apps, device tokens and certificates.")
  var isStrict = false
  @Option(
    name: .customLong("record"), help: "Write the recorded pushes to this file, one a line.", completion: .file())
  var recording: String?
  @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The command, after --.", valueName: "command"))
  var words: [String] = []

  private func command() throws -> [String] {
    try PassedCommand(words, of: TestRun.self, example: "pytest").words
  }

  func validate() throws { _ = try command() }

  func run() async throws {
    let command = try command()
    var options = TestOptions()
    (options.isStrict, options.recording) = (isStrict, recording)
    let server = try await TestServer.start(in: TestServer.newFolder(), options, settings: [:])
    for (name, value) in [
      ("APNS_URL", server.ready.apns), ("APNS_CA", server.ready.ca), ("PUSHGATEWAY_TEST_URL", server.ready.http),
    ] {
      unsafe setenv(name, value, 1)
    }
    let end: ChildCommand.End
    do {
      end = try await TestRun.run(command)
    } catch {
      await server.stop()
      throw error
    }
    let report = server.gateway.testReport
    await server.stop()
    for line in report { Output.words(line) }
    if end.status != 0 { throw ExitCode(end.status) }
  }

  /// Runs a command to its end, on a separate thread: the gateway needs the threads of tasks.
  private static func run(_ command: [String]) async throws -> ChildCommand.End {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try ChildCommand(words: command).run().end })
      }
    }
  }
}
