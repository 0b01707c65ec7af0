import ArgumentParser
import PushGateway

/// The options of `serve` for a test gateway.
struct TestServerOptions: ParsableArguments {
  @Flag(
    name: .customLong("test"),
    help: "Run a test gateway: in a temporary folder, for any sender, with an API for tests (docs/send/testing.md).")
  var isOn = false
  @Flag(
    name: .customLong("strict"),
    help: "With --test: accept only registered keys, apps, device tokens and certificates.")
  var isStrict = false
  @Option(name: .long, help: "With --test: the maximum number of recorded pushes. (100000)") var keep: Int?
  @Option(
    name: .customLong("record"), help: "With --test: write the recorded pushes to this file at the end, one a line.",
    completion: .file())
  var recording: String?
  @Flag(name: .customLong("test-listen"), help: "With --test: allow addresses that are not loopback.")
  var allowsOtherHosts = false

  func validate() throws {
    try OptionValue.check(keep, "--keep", 1...10_000_000)
    guard isOn || !isStrict && keep == nil && recording == nil && !allowsOtherHosts else {
      throw ValidationError("--strict, --keep, --record and --test-listen need --test")
    }
  }

  var options: TestOptions {
    var options = TestOptions()
    options.isStrict = isStrict
    options.keep = keep ?? options.keep
    options.recording = recording
    options.allowsOtherHosts = allowsOtherHosts
    return options
  }
}
