import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import PushCore
import PushGateway

/// `pushcli config`: the settings file.
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
        Reads the settings as `pushcli serve` does, without starting a gateway. `pushcli serve --check` does the same \
        with flags, and without flags prints the settings of the running gateway.

        Example:
          pushcli config check /etc/pushgateway/config.yaml
        """)
    @Argument(
      help: "Settings file; without it config.yaml in the state folder, if there is one.", completion: .file())
    var file: String?
    @OptionGroup var state: LocalOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
      let folder = try state.folder
      if file == nil { try FolderOptions().checkPermission(of: folder.path, mode: X_OK) }
      Configuration.show(try Configuration.read(folder, flags: [:], file: file), format)
    }
  }
}

/// The settings with which a gateway would start or is running.
extension Configuration {
  /// - Throws: ``CommandFailure`` of wrong usage if a setting is invalid.
  static func read(_ folder: StateFolder, flags: [String: String], file: String?) throws -> Configuration {
    do {
      return try Configuration(
        state: folder.path, flags: flags, file: file, environment: ProcessInfo.processInfo.environment)
    } catch {
      throw CommandFailure(.usage, error.description)
    }
  }

  /// Asks the gateway that runs on a state folder for its settings.
  ///
  /// - Returns: nil if no gateway runs, or if it has an earlier version that does not report its settings.
  /// - Throws: ``CommandFailure`` if this user may not query the gateway.
  static func ofGateway(in folder: StateFolder) async throws -> SettingsRecord? {
    guard let client = try? await Client.connect(to: .admin(path: folder.adminSocket)) else {
      try FolderOptions().checkPermission(of: folder.adminSocket, mode: R_OK | W_OK)
      return nil
    }
    defer { client.close() }
    guard let answer = try? await client.request("GET", AdminPath.settings()), answer.status == 200 else { return nil }
    return try decodeJSON(SettingsRecord.self, from: answer.body)
  }

  /// Prints each setting of a running gateway, and the file that it has read.
  static func show(_ running: SettingsRecord, of folder: StateFolder, _ format: FormatOptions) {
    show(running.settings, format)
    guard let file = running.file else {
      return Output.words("these are in effect in the gateway that runs on \(folder.path); it has no settings file")
    }
    Output.words(
      "these are in effect in the gateway that runs on \(folder.path), with the settings file \(file); "
        + "`pushcli config check \(file)` checks that file as it is now")
  }

  /// Prints each setting with its origin, and warnings about possible mistakes.
  static func show(_ configuration: Configuration, _ format: FormatOptions) {
    for warning in configuration.warnings { Output.words("pushcli: \(warning)") }
    show(configuration.effective, format)
    if format.json { return }
    Output.words("state folder: \(configuration.state)")
    Output.words("settings file: \(configuration.file ?? "none")")
  }

  private static func show(_ settings: [SettingRecord], _ format: FormatOptions) {
    format.print(lines: settings, ["SETTING", "VALUE", "FROM", "CHANGES WITH"]) {
      [$0.name, $0.value, $0.origin, $0.change]
    }
  }
}
