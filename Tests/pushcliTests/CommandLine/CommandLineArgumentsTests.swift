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
      ("The value 'many' is invalid for '--badge <badge>'", "\"many\" is not a value of --badge BADGE"),
      ("Something else.", "Something else"),
    ])
  func `what the parser says is told as one line`(_ message: String, _ expected: String) {
    let line = CommandFailure.usageLine(
      message: message, fullMessage: "…\n  See 'pushcli send --help' for more information.")
    #expect(line == expected + "; see `pushcli send --help`")
  }

  @Test(
    arguments: [
      (["send", "--to", "x", "--badge", "many"], "\"many\" is not a value of --badge BADGE: expected a whole number"),
      (
        ["send", "--to", "x", "--relevance", "high"],
        "\"high\" is not a value of --relevance RELEVANCE: expected a number"
      ),
      (["devices", "--limit", "abc"], "\"abc\" is not a value of --limit LIMIT: expected a whole number"),
      (
        ["subscribe", "--ping-interval", "x"],
        "\"x\" is not a value of --ping-interval PING-INTERVAL: expected a whole number"
      ),
      (["faults", "add", "--seed", "x"], "\"x\" is not a value of --seed SEED: expected a whole number"),
      (["bench", "--pid", "x"], "\"x\" is not a value of --pid PID: expected a whole number"),
      (
        ["ask", "--to", "x", "--action", "noequals"],
        "\"noequals\" is not a value of --action ACTION: id=Title, or id=Title! for a destructive one; up to four"
      ),
      (
        ["send", "--to", "x", "--data", "order"],
        "\"order\" is not a value of --data DATA: a custom member of the payload, outside aps, "
          + "as KEY=VALUE with a text as value; repeatable"
      ),
      (
        ["send", "--to", "x", "--wait", "eaten"],
        "\"eaten\" is not a value of --wait WAIT: expected acknowledged, viewed or closed"
      ),
      (
        ["subscribe", "--appearance", "x"],
        "\"x\" is not a value of --appearance APPEARANCE: expected dark or light"
      ),
      (
        ["hooks", "add", "x", "--kind", "y", "--app", "a", "--to", "b"],
        "\"y\" is not a value of --kind KIND: expected alertmanager, grafana, github, gitlab, healthchecks or json"
      ),
    ] as [([String], String)])
  func `a wrong value is refused with the values or their form`(_ words: [String], _ expected: String) {
    let error = #expect(throws: (any Error).self) { try PushCLI.parseAsRoot(words) }
    guard let error else { return }
    let line = CommandFailure.usageLine(
      message: PushCLI.message(for: error), fullMessage: PushCLI.fullMessage(for: error), numbers: OptionNumbers(error))
    #expect(line.hasPrefix(expected + "; see `pushcli "), "\(line)")
  }

  @Test func `every option of a number says so`() {
    var untold: [String] = []
    func check(_ command: any ParsableCommand.Type) {
      for child in Mirror(reflecting: command.init()).children {
        let type = "\(type(of: child.value))"
        guard let label = child.label, type.contains("Int") || type.contains("Double") else { continue }
        if OptionNumbers(of: command).expected(of: label) == nil { untold.append("\(command) \(label): \(type)") }
      }
      command.configuration.subcommands.forEach(check)
    }
    check(PushCLI.self)
    #expect(untold == [])
  }

  @Test(
    arguments: [
      ("sned", "send"), ("devcies", "devices"), ("SEND", "send"), ("subcribe", "subscribe"), ("x", nil), ("se", nil),
      ("qqqqqq", nil), ("", nil),
    ] as [(String, String?)])
  func `a word is near when a third of its letters is right at most`(_ word: String, _ expected: String?) {
    let names = ["serve", "send", "subscribe", "devices"]
    #expect(Suggestions.nearest(to: word, among: names) == expected)
  }
}
