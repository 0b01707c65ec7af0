import ArgumentParser
import Foundation
import PushCore
import PushGateway

/// `pushcli config`: the file of settings.
struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Write or check a file of settings.",
    discussion: """
      Examples:
        pushcli config example > config.yaml
        pushcli config schema > config.schema.json
        pushcli config check /etc/pushgateway/config.yaml
      """,
    subcommands: [Example.self, Schema.self, Check.self])

  struct Example: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "example", abstract: "Print a config.yaml with every setting as a comment.",
      discussion: """
        The file has each setting with its default, its values and its effect. Remove the # before a name to set it.

        Example:
          pushcli config example > ~/.local/share/pushgateway/config.yaml
        """)
    @Option(
      help: "Where editors find the output of `pushcli config schema`: a path or a URL.", completion: .file())
    var schema = "config.schema.json"

    func run() { Output.data(lines: Configuration.example(schema: schema)) }
  }

  struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "schema", abstract: "Print the JSON schema of config.yaml, for editors.",
      discussion: """
        With the schema an editor completes names, shows descriptions and marks errors. `pushcli config example` \
        names it in its first line.

        Example:
          pushcli config schema > ~/.local/share/pushgateway/config.schema.json
        """)

    func run() { Output.data(lines: Configuration.schema) }
  }

  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check", abstract: "Check the settings, and print each value with its source.",
      discussion: """
        Reads the settings as `pushcli serve` does, without starting a gateway: `pushcli serve --check` does the same \
        with flags.

        Example:
          pushcli config check /etc/pushgateway/config.yaml
        """)
    @Argument(
      help: "Settings file; without it config.yaml in the state folder, if there is one.", completion: .file())
    var file: String?
    @OptionGroup var state: LocalOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
      SettingsInForce.show(try SettingsInForce.read(state.folder, flags: [:], file: file), format)
    }
  }
}

/// The settings with which a gateway would start.
enum SettingsInForce {
  /// - Throws: ``CommandFailure`` of wrong usage, when one can't be used.
  static func read(_ folder: StateFolder, flags: [String: String], file: String?) throws -> Configuration {
    do {
      return try Configuration(
        state: folder.path, flags: flags, file: file, environment: ProcessInfo.processInfo.environment)
    } catch {
      throw CommandFailure(.usage, error.description)
    }
  }

  /// Prints each with where it came from; what may be a mistake goes to the person.
  static func show(_ configuration: Configuration, _ format: FormatOptions) {
    for warning in configuration.warnings { Output.words("pushcli: \(warning)") }
    if format.json {
      for setting in configuration.effective { Output.json(setting) }
      return
    }
    Output.table(
      ["SETTING", "VALUE", "FROM", "CHANGES WITH"],
      configuration.effective.map { [$0.name, $0.value, $0.origin, $0.change.rawValue] })
    Output.words("state folder: \(configuration.state)")
  }
}
