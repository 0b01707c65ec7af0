import ArgumentParser
import Foundation
import Glibc
import PushCore
import PushStorage

/// `pushcli doctor`: what is wrong here, and what to do about it.
struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check the gateway, its state folder, this machine and this terminal.",
    discussion: """
      Each line says what to do. The exit code is 1 when something fails, and 0 when there are only warnings.

      A database of more than 64 MiB is looked at in some places; --thorough reads every page and every row.

      --repair saves what is readable of a damaged database into a new one, and takes the sound records of damaged \
      delivery logs over into the present one. What was damaged is kept beside it.

      Examples:
        pushcli doctor
        pushcli doctor --state ./push --repair
      """)

  @Flag(help: "Repair a damaged database and delivery log; the gateway must not run.") var repair = false
  @Flag(help: "Read every page of the database, however large it is.") var thorough = false
  @OptionGroup var state: StateOptions
  @OptionGroup var format: FormatOptions

  func run() async throws {
    if repair { return try mend() }
    let findings = await Examination(folder: try state.folder, isThorough: thorough).findings()
    if format.json {
      Output.json(lines: findings)
    } else {
      Output.table(["CHECK", "STATE", "WHAT"], findings.map { [$0.check, $0.state.rawValue, $0.words] })
    }
    if findings.contains(where: { $0.state == .failed }) { throw CommandFailure(.failed, "") }
  }

  private func mend() throws {
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
        \(report.damages) places in \(report.pages) pages can't be read; \(report.refused) rows made no sense.
        What stood there is lost: pushes that no line above counts, registrations that `pushcli devices` does not list.
        The damaged database is \(report.aside).
        """)
  }

  private func show(_ log: LogRepairReport) {
    if format.json { return Output.json(["delivery_log": log]) }
    Output.words(
      lines: """
        The delivery log has \(log.events) events in \(log.records) records; \(log.damages) places can't be read, and what \
        stood there is lost. The damaged files are kept, and may be deleted: \(log.aside.joined(separator: ", ")).
        """)
  }
}
