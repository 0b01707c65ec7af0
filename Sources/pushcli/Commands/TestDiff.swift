import ArgumentParser

/// `pushcli test-diff`: compares two recordings of a test gateway.
struct TestDiff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test-diff", abstract: "Compare two recordings of a test gateway.",
    discussion: """
      A recording is a file that `serve --test --record` or `test-run --record` wrote. Times, ids and connections are not \
      compared. The exit status is 0 if the pushes are equal, and 1 otherwise.

      Examples:
        pushcli test-diff golden.ndjson pushes.ndjson
      """)

  @Argument(help: "The recording before a change.", completion: .file()) var before: String
  @Argument(help: "The recording after it.", completion: .file()) var after: String
  @OptionGroup var format: FormatOptions

  func run() throws {
    let diff = try RecordingDiff(readFile(before), readFile(after))
    if format.json {
      Output.json(lines: diff.changes)
    } else {
      for line in diff.changes.flatMap(\.lines) { Output.data(line) }
    }
    if !diff.changes.isEmpty { throw ExitCode(Exit.failed.rawValue) }
  }
}
