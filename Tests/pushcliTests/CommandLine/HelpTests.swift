import ArgumentParser
import Testing

@testable import pushcli

@Suite struct HelpTests {
  /// Returns a command and all its subcommands.
  private func all(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
    [command] + command.configuration.subcommands.flatMap(all)
  }

  @Test func `no help says a default twice`() {
    let commands = all(PushCLI.self)
    #expect(commands.count > 40)
    for command in commands {
      let help = PushCLI.helpMessage(for: command, columns: 1_000)
      #expect(!help.contains(") (default: "), "\(command)")
    }
  }

  @Test func `each command has an example, which a terminal of 80 columns does not break`() {
    for command in all(PushCLI.self) {
      let lines = command.configuration.discussion.split(separator: "\n")
      // The help breaks longer lines, and the pasted parts would be two commands.
      let examples = lines.drop { $0 != "Example:" && $0 != "Examples:" }.dropFirst().prefix { $0.hasPrefix("  ") }
      #expect(!examples.isEmpty, "\(command)")
      for line in examples { #expect(line.count <= 80, "\(command): \(line)") }
    }
  }
}
