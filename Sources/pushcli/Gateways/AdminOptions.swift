import ArgumentParser

/// The gateway of an administrator's command, and the form of the output.
struct AdminOptions: ParsableArguments, OutputForm {
  @Option(name: .customLong("state"), help: FolderOptions.help, completion: .directory)
  var stateFolder: String?

  @Option(name: .long, help: StateOptions.help, completion: CompletedLine.contexts)
  var gateway: String?

  @Flag(name: .long, help: FormatOptions.help)
  var json = false

  var state: StateOptions { StateOptions(state: stateFolder, gateway: gateway) }

  /// A new connection as an administrator.
  ///
  /// - Throws: ``CommandFailure`` if no gateway runs there, or if this machine has no credentials for it.
  var admin: Admin { get async throws { try await Admin(state) } }
}
