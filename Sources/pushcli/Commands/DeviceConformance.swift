import ArgumentParser
import Foundation
import Glibc

/// `pushcli device-conformance`: checks a client of the device protocol.
struct DeviceConformance: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device-conformance", abstract: "Check a client of the device protocol with a test gateway.",
    discussion: """
      Starts the client and a test gateway, causes situations such as lost acknowledgements and restarts, and \
      prints one line for each check: passed or failed, the expected behavior, and the found one. The exit status is 0 \
      if all checks passed, and 1 otherwise.

      The environment of the client has DEVICE_GATEWAY (the URL), DEVICE_CA (a file with the certificate to trust), \
      DEVICE_INVITATION (a code) and DEVICE_NAME. DEVICE_TOPIC is the app to register for. DEVICE_FOLDER is a folder for \
      its files, which is the same after a restart. The client writes its events to standard output, each as a line \
      of JSON: {"shown":ID} for each push, before it acknowledges the push; {"badge":NUMBER}; {"retracted":ID}. \
      docs/receive/your-own-client.md describes them.

      Examples:
        pushcli device-conformance -- python3 device.py
        pushcli device-conformance --wait 20 -- ./client --verbose
      """)

  @Option(name: .customLong("wait"), help: "The maximum time for each expectation in seconds. (60)") var wait: Int?
  @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The client, after --.", valueName: "command"))
  var words: [String] = []

  private func command() throws -> [String] {
    try PassedCommand(words, of: DeviceConformance.self, example: "python3 device.py").words
  }

  func validate() throws {
    try OptionValue.check(wait, "--wait", 1...3600)
    _ = try command()
  }

  func run() async throws {
    let run = try ConformanceRun(try command(), limit: .seconds(wait ?? 60))
    let (watch, folder) = (run.watch, run.gateway.folder)
    let client = folder + "-client"
    let stops = StopSignals()
    let stopping = Task {
      guard await stops.next() != nil else { return }
      watch.kill()
      for path in [folder, client] { try? FileManager.default.removeItem(atPath: path) }
      Foundation.exit(Exit.interrupted.rawValue)
    }
    defer { stopping.cancel() }
    try await run.gateway.start()
    var failed = 0
    do {
      try await DeviceConformance.prepare(run.gateway, client)
      await run.run { check, found in
        failed += found == nil ? 0 : 1
        DeviceConformance.show(check, found)
      }
    } catch {
      await DeviceConformance.clean(run, client)
      throw error
    }
    await DeviceConformance.clean(run, client)
    let count = ConformanceCheck.allCases.count
    Output.words("\(count - failed) of \(counted(count, "check")) passed")
    if failed > 0 { throw ExitCode(Exit.failed.rawValue) }
  }

  /// Sets the environment of the client, and creates its folder.
  private static func prepare(_ gateway: ConformanceGateway, _ folder: String) async throws {
    let invitation = try await gateway.invite()
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for (name, value) in [
      ("DEVICE_GATEWAY", "https://" + gateway.address), ("DEVICE_CA", gateway.trustPath),
      ("DEVICE_INVITATION", invitation), ("DEVICE_NAME", "conformance"),
      ("DEVICE_TOPIC", ConformanceGateway.topic), ("DEVICE_FOLDER", folder),
    ] {
      unsafe setenv(name, value, 1)
    }
  }

  private static func clean(_ run: ConformanceRun, _ folder: String) async {
    run.watch.kill()
    await run.gateway.end()
    try? FileManager.default.removeItem(atPath: folder)
  }

  private static func show(_ check: ConformanceCheck, _ found: String?) {
    guard let found else { return Output.data("passed \(check.rawValue): \(check.expectation)") }
    Output.data("failed \(check.rawValue): expected: \(check.expectation); found: \(found)")
  }
}
