import ArgumentParser
import Foundation
import Glibc
import PushCore
import PushStorage

/// `pushcli doctor`: what is wrong here, and what to do about it.
struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check the gateway, its state folder, this machine and this terminal.",
    discussion: """
      Each line says what to do. The exit code is 1 when something fails, and 0 when there are only warnings.

      --repair saves what is readable of a damaged database into a new one. The damaged one is kept beside it.

      Examples:
        pushcli doctor
        pushcli doctor --state ./push --repair
      """)

  @Flag(help: "Repair a damaged database; the gateway must not run.") var repair = false
  @OptionGroup var state: StateOptions
  @OptionGroup var format: FormatOptions

  func run() async throws {
    if repair { return try mend() }
    let findings = await Examination(folder: try state.folder).findings()
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
    do {
      report = try folder.repair()
    } catch {
      throw CommandFailure(.failed, "\(error)")
    }
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
}
