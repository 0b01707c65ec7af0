import ArgumentParser
import Foundation
import PushCore
import PushPolicy
import TerminalUI

/// `pushcli lint`: checks payload files.
struct Lint: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lint", abstract: "Check payload files against the text rules and the schema of aps.",
    discussion: """
      A finding has the file, a JSON pointer, the rule, the fault and its remedy. Errors are refused by the gateway \
      or ignored by devices; warnings are texts that could be better. Languages other than English, and scripts \
      without capitals, are checked with the rules that apply to them. Files with categories (as `pushcli apps \
      category` prints them) are checked for their actions.

      Examples:
        pushcli lint payload.json
        pushcli lint --fix push/*.json
        pushcli lint --push-type voip call.json
        git diff --cached --name-only -- '*.apns' | xargs pushcli lint --strict
        pushcli lint --ads < texts.ndjson > verdicts.tsv
        echo '{"aps":{"alert":"Hello"}}' | pushcli lint --json -

      Exit code: 0 when there is no error (with --strict: no finding), otherwise 1.
      """)

  @Argument(help: "Payload files, or - for standard input.", completion: .file())
  var files: [String] = []
  @OptionGroup var ads: LintAds
  @Option(
    help: "The push type: a payload of voip may have 5120 bytes, others 4096. (alert)",
    completion: .list(PushType.allCases.map(\.rawValue)))
  var pushType: String?
  @Flag(help: "Warnings count as errors.") var strict = false
  @Flag(help: "Fix capitals and end punctuation in the files; with - the fixed payload is printed.") var fix = false
  /// Only `--json` has an effect; the others are accepted because every command has these options.
  @OptionGroup var options: AdminOptions

  func validate() throws {
    if let pushType, PushType(rawValue: pushType.lowercased()) == nil {
      throw ValidationError("--push-type is one of \(PushType.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    if ads.isAsked {
      guard files.isEmpty else { throw ValidationError("--ads reads standard input and no files") }
      return
    }
    if files.isEmpty { throw ValidationError("name payload files, or - for standard input") }
    if files.contains("-"), files.count > 1 { throw ValidationError("files or standard input, not both") }
  }

  /// The maximum size of a payload in bytes.
  var maximumSize: Int {
    let type = pushType.flatMap { PushType(rawValue: $0.lowercased()) } ?? .alert
    return type.maximumPayloadSize
  }

  func run() throws {
    if ads.isAsked { return try ads.run(asJSON: options.json) }
    let lint = PayloadLint(maximumSize: maximumSize, width: { DisplayWidth.of($0) })
    var (errors, warnings, fixedFiles) = (0, 0, 0)
    var isUnreadable = false
    for file in files {
      var bytes: [UInt8]
      do {
        bytes = try readFile(file)
      } catch let failure as CommandFailure {
        Output.words("pushcli: \(failure.message)")
        isUnreadable = true
        continue
      }
      if fix {
        let fixed = lint.fixed(bytes)
        if fixed != nil { fixedFiles += 1 }
        bytes = fixed ?? bytes
        if file == "-" {
          Output.json(bytes: bytes)
        } else if fixed != nil {
          try write(bytes, to: file)
        }
      }
      for finding in lint.findings(in: bytes) {
        if finding.severity == .error { errors += 1 } else { warnings += 1 }
        show(finding, of: file)
      }
    }
    if !options.json, errors + warnings + fixedFiles > 0 {
      let words = "\(counted(files.count, "file")): \(counted(errors, "error")), \(counted(warnings, "warning"))"
      Output.words(fixedFiles > 0 ? words + ", \(counted(fixedFiles, "file")) fixed" : words)
    }
    if isUnreadable { throw CommandFailure(.usage) }
    if errors > 0 || strict && warnings > 0 { throw ExitCode(Exit.failed.rawValue) }
  }

  private func write(_ bytes: [UInt8], to file: String) throws {
    do {
      try Data(bytes).write(to: URL(fileURLWithPath: file), options: .atomic)
    } catch {
      throw CommandFailure(.failed, "\(file) can't be written: check its permissions")
    }
  }

  /// Cuts the text of a finding to fit on a line; `--json` prints all of it.
  private static func clipped(_ text: String) -> String {
    text.count > maximumTextSize ? text.prefix(maximumTextSize) + "…" : text
  }

  /// The maximum number of characters, twice the longest text that a rule permits.
  private static let maximumTextSize = 200

  private struct Record: Encodable {
    var file: String
    var at: String
    var rule: LintRule
    var severity: LintFinding.Severity
    var message: String
    var advice: String?
    var fix: String?
  }

  private func show(_ finding: LintFinding, of file: String) {
    // With --fix and standard input, standard output is for the payload.
    let isData = !(fix && file == "-")
    if options.json, isData {
      Output.json(
        Record(
          file: file, at: finding.pointer, rule: finding.rule, severity: finding.severity, message: finding.message,
          advice: finding.advice.isEmpty ? nil : finding.advice, fix: finding.fix))
      return
    }
    let advice = finding.advice.isEmpty ? "" : "; write \(Lint.clipped(finding.advice))"
    let place = finding.pointer.isEmpty ? file : file + ":" + finding.pointer
    let line = "\(place): \(finding.severity.rawValue) \(finding.rule.rawValue): \(Lint.clipped(finding.message))"
    if isData { Output.data(line + advice) } else { Output.words(line + advice) }
  }
}
