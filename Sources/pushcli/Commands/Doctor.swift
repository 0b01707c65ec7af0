import ArgumentParser
import Foundation
import GatewayProtocol
import Glibc
import PushCore
import PushStorage

/// `pushcli doctor`: finds problems and prints their remedies.
struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check the gateway, its state folder, this machine and this terminal.",
    discussion: """
      The line of a problem has its remedy. The exit code is 1 when something fails, and 0 when there are only warnings.

      A database of more than 64 MiB is checked in samples; --thorough reads every page and every row.

      --repair copies the readable rows of a damaged database into a new one, and the sound records of damaged \
      delivery logs into the present one. The damaged files are kept under other names.

      --gateway examines a remote gateway instead: whether it answers, is healthy and accepts pushes, and how long \
      its certificate is valid. http:// is for an address of its setting http_listen without TLS.

      Examples:
        pushcli doctor
        pushcli doctor --state ./push --repair
        pushcli doctor --gateway push.example.com:443 --ca ca.pem
        pushcli doctor --gateway http://127.0.0.1:2198
      """)

  @Flag(help: "Repair a damaged database and delivery log; the gateway must not run.") var repair = false
  @Flag(help: "Read every page of the database, however large it is.") var thorough = false
  @Option(
    help: "Look at this gateway instead: HOST:PORT, https://HOST, http://HOST:PORT or a name of `pushcli contexts`.",
    completion: CompletedLine.contexts)
  var gateway: String?
  @Option(
    name: .customLong("ca"),
    help: "With --gateway, the certificates to trust; without it ca.pem of the state folder, else the system's.",
    completion: .file())
  var trustPath: String?
  @OptionGroup var state: FolderOptions
  @OptionGroup var format: FormatOptions

  func run() async throws {
    if repair { return try repairFiles() }
    let findings =
      if let elsewhere = try examined {
        await elsewhere.findings()
      } else {
        await DiagnosticCheck(folder: try state.folder, isThorough: thorough).findings()
      }
    format.print(lines: findings, ["CHECK", "STATE", "WHAT"]) { [$0.check, $0.state.rawValue, $0.words] }
    if findings.contains(where: { $0.state == .failed }) { throw CommandFailure(.failed, "") }
  }

  func validate() throws {
    guard gateway == nil || !(repair || thorough) else {
      throw ValidationError("--repair and --thorough are for a state folder of this machine, not for --gateway")
    }
    guard gateway != nil || trustPath == nil else { throw ValidationError("--ca goes with --gateway") }
  }

  /// The remote gateway to examine; nil for the gateway of the state folder.
  private var examined: RemoteCheck? {
    get throws {
      let contexts = Contexts(try state.folder)
      let named =
        try gateway.map { contexts[$0] ?? (try? GatewayAddress($0)).flatMap { contexts[$0] } } ?? contexts.current
      guard let context = named, gateway == nil || !(gateway?.hasPrefix("http:") ?? false) else {
        return try gateway.map(remote)
      }
      // Each gateway of a cluster is examined separately, at the given address instead of the joined one.
      let asked = gateway.flatMap { contexts[$0] == nil ? (try? GatewayAddress($0)) : nil }
      return (asked ?? context.address).map { address in
        RemoteCheck(
          target: .tls(host: address.host, port: address.port), trustPath: trustPath ?? context.trustPath)
      }
    }
  }

  private func remote(_ text: String) throws -> RemoteCheck {
    guard let target = RemoteCheck.Target(text) else {
      throw CommandFailure(
        .usage, "\"\(text)\" is not a gateway: expected HOST:PORT, https://HOST or http://HOST:PORT, as 127.0.0.1:2197")
    }
    let own = try state.folder.trustPath
    let known = [own, SystemTrust.path].first { FileManager.default.isReadableFile(atPath: $0) }
    return RemoteCheck(target: target, trustPath: trustPath ?? known ?? own)
  }

  private func repairFiles() throws {
    PrivateFile.restrictProcess()
    let folder = try state.folder
    let report: RepairReport?
    let log: LogRepairReport?
    do {
      report = try folder.repair()
      log = try folder.repairLog()
    } catch {
      throw CommandFailure(.failed, "\(error)")
    }
    defer { if let log { show(log) } }
    guard let report else {
      if format.json { return Output.json(["repaired": false]) }
      return Output.words("the database is sound: nothing to repair")
    }
    if format.json { return Output.json(report) }
    Output.table(["TABLE", "ROWS KEPT"], report.kept.sorted { $0.key < $1.key }.map { [$0.key, "\($0.value)"] })
    Output.words(
      lines: """
        \(report.damages) positions in \(report.pages) pages can't be read; \(report.refused) rows are invalid.
        Their content is lost: pushes that the table does not count, registrations that `pushcli devices` does not list.
        The damaged database is \(report.aside).
        """)
  }

  private func show(_ log: LogRepairReport) {
    if format.json { return Output.json(["delivery_log": log]) }
    Output.words(
      lines: """
        The delivery log has \(log.events) events in \(log.records) records; \(log.damages) positions can't be read, and \
        their content is lost. The damaged files are kept, and may be deleted: \(log.aside.joined(separator: ", ")).
        """)
  }
}
