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
}
