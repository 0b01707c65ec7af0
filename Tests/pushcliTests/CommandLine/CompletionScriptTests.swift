import ArgumentParser
import Testing

@testable import pushcli

@Suite struct CompletionScriptTests {
  @Test func `a line that asks for a script gets it, any other goes to the parser`() {
    for words in [["--generate-completion-script", "bash"], ["--generate-completion-script=bash"]] {
      #expect(CommandLineArguments(words).completionScript(of: PushCLI.self)?.hasPrefix("#!/bin/bash") == true)
    }
    for words in [
      [], ["--generate-completion-script"], ["--generate-completion-script", "tcsh"], ["--generate-completion-script="],
      ["send", "--generate-completion-script", "bash"], ["--generate-completion-script", "bash", "x"],
    ] {
      #expect(CommandLineArguments(words).completionScript(of: PushCLI.self) == nil, "\(words)")
    }
  }

  @Test(arguments: CompletionShell.allCases)
  func `every group with a command of its own that is meant has that one's options`(_ shell: CompletionShell) {
    let script = CommandLineArguments.completionScript(for: shell, of: PushCLI.self)
    let plain = PushCLI.completionScript(for: shell)
    func groups(_ command: any ParsableCommand.Type) -> Int {
      command.configuration.subcommands.reduce(command.configuration.defaultSubcommand == nil ? 0 : 1) {
        $0 + groups($1)
      }
    }
    let mark: [CompletionShell: String] = [
      .bash: "\"${unparsed_words[0]}\" in", .zsh: "\"${words[2]}\" == -*", .fish: "-q -- '-*' \"$word\"",
    ]
    func count(_ text: String) -> Int { text.ranges(of: mark[shell] ?? "").count }
    #expect(groups(PushCLI.self) > 5 && count(script) - count(plain) == groups(PushCLI.self))
  }
}
