import ArgumentParser
import PushCore
import Testing

@testable import pushcli

@Suite struct CommandLineArgumentsTests {
  @Test(
    arguments: [
      (["send", "--badge", "-1"], ["send", "--badge=-1"]), (["send", "--badge", "1"], ["send", "--badge", "1"]),
      (["send", "--title", "-5 degrees"], ["send", "--title=-5 degrees"]), (["send", "-1"], ["send", "-1"]),
      (["send", "--", "--badge", "-1"], ["send", "--", "--badge", "-1"]),
      (["send", "--a=b", "-1"], ["send", "--a=b", "-1"]),
      (["run", "--", "nice", "--adjustment", "-5"], ["run", "--", "nice", "--adjustment", "-5"]), ([], []),
    ] as [([String], [String])])
  func `a negative number is the value of the option before it`(_ words: [String], _ expected: [String]) {
    #expect(CommandLineArguments(words).words == expected)
  }

  private func unknown(_ words: String...) -> String? {
    CommandLineArguments(words).unknownCommand(below: PushCLI.self)
  }

  @Test func `every command says its name`() {
    var count = 0
    func check(_ command: any ParsableCommand.Type) {
      count += 1
      #expect(command.configuration.commandName != nil, "\(command) is named by looking through the whole program")
      command.configuration.subcommands.forEach(check)
    }
    check(PushCLI.self)
    #expect(count > 70)
  }

  @Test func `the version is told without parsing`() {
    #expect(CommandLineArguments(["version"]).isVersion && CommandLineArguments(["--version"]).isVersion)
    for words in [[], ["prefs", "--version"], ["version", "x"], ["--version", "x"], ["run", "--", "--version"]] {
      #expect(!CommandLineArguments(words).isVersion)
    }
  }

  @Test func `the nearest command is named`() {
    #expect(unknown("sned", "--to", "x") == "there is no command sned: did you mean send?")
    #expect(unknown("devices", "enrol", "x") == nil)
    #expect(unknown("devices", "regster") == "there is no command regster of devices: did you mean register?")
    #expect(unknown("xyzzy") == "there is no command xyzzy: `pushcli --help` lists them")
    #expect(unknown("verison") == "there is no command verison: did you mean version?")
    #expect(unknown("policy") == nil)
    #expect(unknown("devices", "--jsn") == nil)
    #expect(unknown("send") == nil)
  }

  @Test(arguments: [["help", "sned"], ["help", "devices", "enrl"], ["help", "send", "x"]])
  func `there is no help for what there is not`(_ words: [String]) {
    let failure = #expect(throws: CommandFailure.self) {
      try CommandLineArguments(words).checkHelp(of: PushCLI.self)
    }
    #expect(failure?.exit == .usage)
  }

  @Test(arguments: [["help"], ["help", "send"], ["help", "devices", "enrol"], ["send", "--help"]])
  func `there is help for every command`(_ words: [String]) throws {
    try CommandLineArguments(words).checkHelp(of: PushCLI.self)
  }

  @Test(
    arguments: [
      ("Unexpected argument 'x'", "unexpected argument \"x\""),
      ("2 unexpected arguments: 'x', 'y'", "unexpected arguments \"x y\""),
      ("Unknown option '--tilte'. Did you mean '--title'?", "unknown option --tilte: did you mean --title?"),
      ("Unknown option '--x'", "unknown option --x"),
      ("Missing expected argument '--device <device>'", "--device DEVICE is missing"),
      ("Missing value for '--key-id <key-id>'", "--key-id KEY-ID needs a value"),
      ("The value 'many' is invalid for '--badge <badge>'", "\"many\" is no value of --badge BADGE"),
      ("Something else.", "Something else"),
    ])
  func `what the parser says is told as one line`(_ message: String, _ expected: String) {
    let wrong = WrongUsage(message: message, fullMessage: "…\n  See 'pushcli send --help' for more information.")
    #expect(wrong.line == expected + "; see `pushcli send --help`")
  }

  @Test(
    arguments: [
      ("sned", "send"), ("devcies", "devices"), ("SEND", "send"), ("subcribe", "subscribe"), ("x", nil), ("se", nil),
      ("qqqqqq", nil), ("", nil),
    ] as [(String, String?)])
  func `a word is near when a third of its letters is right at most`(_ word: String, _ expected: String?) {
    let names = ["serve", "send", "subscribe", "devices"]
    #expect(Spelling.nearest(to: word, among: names) == expected)
  }
}
