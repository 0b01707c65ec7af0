import GatewayProtocol
import HTTP2Transport
import Logging
import PushCore

/// Reloads the settings, and applies all changes that are possible while connections are open; the others apply after
/// a restart.
actor Reload {
  private var configuration: Configuration
  private let supervisor: Supervisor
  private let certificate: ServerCertificate
  private let listeners: GatewayListeners
  private let monitoring: HTTP1Sockets
  private let logger: Logger
  /// Applies the settings that need no further preparation.
  private let apply: @Sendable (Configuration) -> Void
  private var isRunning = false

  init(
    _ configuration: Configuration, _ supervisor: Supervisor, _ certificate: ServerCertificate,
    _ listeners: GatewayListeners, _ monitoring: HTTP1Sockets, logger: Logger,
    apply: @escaping @Sendable (Configuration) -> Void
  ) {
    (self.configuration, self.supervisor, self.certificate) = (configuration, supervisor, certificate)
    (self.listeners, self.monitoring, self.logger, self.apply) = (listeners, monitoring, logger, apply)
  }

  /// The settings in effect, with the changes of earlier calls.
  var settings: SettingsRecord {
    SettingsRecord(file: configuration.file, settings: configuration.effective)
  }

  /// Reloads the settings.
  ///
  /// - Throws: an error in one line if the settings, a certificate or an address can't be used; then nothing has
  ///   changed.
  func callAsFunction() async throws -> ReloadRecord {
    let read = try begin()
    defer { isRunning = false }
    supervisor.manager.reloading("reloading the settings")
    defer { supervisor.manager.ready(listeners.status) }
    let new = try read()
    let context = try certificate.read(new)
    let plans = try await GatewayListeners.plans(new, listeners.inherited)
    try await listeners.change(to: plans, new.connectionOptions)
    certificate.use(context, new)
    apply(new)
    let changed = Configuration.settings.filter { $0.text(new) != $0.text(configuration) }
    let record = ReloadRecord(
      changed: changed.filter { $0.change == .reload }.map(\.name),
      waiting: changed.filter { $0.change == .restart }.map(\.name))
    // Settings that need a restart keep their old values, so that the next reload reports them again.
    configuration.take(
      Configuration.settings.filter { $0.change == .reload || $0.text(new) == $0.text(configuration) }, from: new)
    logger.log(
      .settingsRead, "the settings were reloaded",
      metadata: [
        "changed": "\(record.changed.joined(separator: " "))", "at_restart": "\(record.waiting.joined(separator: " "))",
      ])
    return record
  }

  /// Checks that the next program of this process can take over, and listens on the addresses of its settings. An
  /// address that can't be bound, or a file that can't be read, would end that program.
  ///
  /// - Throws: an error in one line if the program, the settings, a file or an address can't be used; then nothing has
  ///   changed.
  func prepareRestart() async throws {
    try await supervisor.checkNextProgram()
    let read = try begin()
    defer { isRunning = false }
    let new = try read()
    if new.certificate != nil || new.clientCA != nil { _ = try certificate.read(new) }
    try new.metricsTokenFile.map(MetricsToken.init)?.check()
    let plans = try await GatewayListeners.plans(new, listeners.inherited)
    let sockets = try await monitoring.bind(new.httpListen)
    try await listeners.change(to: plans, new.connectionOptions)
    monitoring.prepare(sockets)
    configuration.take(Configuration.settings.filter { $0.name == "listen" }, from: new)
  }

  /// Begins an operation that excludes others; the caller resets ``isRunning`` at its end.
  ///
  /// - Returns: the function that reads the settings.
  private func begin() throws(ConfigurationError) -> @Sendable () throws -> Configuration {
    guard let read = supervisor.readConfiguration else {
      throw ConfigurationError(description: "the source of this gateway's settings is unknown: restart it")
    }
    guard !isRunning else {
      throw ConfigurationError(description: "a reload is already in progress: try again in a moment")
    }
    isRunning = true
    return read
  }
}

extension Configuration {
  /// The connection options that all listeners share.
  var connectionOptions: ConnectionOptions {
    var options = ConnectionOptions(initialStreams: initialStreams, idleTimeout: idleTimeout)
    options.balancers = Set(balancers ?? [])
    return options
  }
}
