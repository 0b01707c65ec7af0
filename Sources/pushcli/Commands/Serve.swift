import ArgumentParser
import Dispatch
import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import HTTP2Transport
import Logging
import PushCore
import PushGateway

/// `pushcli serve`: the gateway.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run the gateway.",
    discussion: """
      Nothing need be configured: a first start makes the state folder, certificates, a development key and a sample \
      app, and prints what to try. Every setting can be given as a flag, in the environment (PUSHGATEWAY_LISTEN, …) \
      or in config.yaml in the state folder, in falling precedence.

      Examples:
        pushcli serve
        pushcli serve --state ./push --listen 127.0.0.1:0
        pushcli serve --listen 0.0.0.0:2197 --environment production
        pushcli serve --check
      """)

  @OptionGroup var state: StateOptions

  @Option(
    name: .long,
    help: """
      HOST:PORT to listen on; several may be given; port 0 picks a free one. HOST:PORT=production, =development or \
      =by-name sets the environment of one. (127.0.0.1:2197)
      """)
  var listen: [String] = []

  @Option(name: .long, help: "Settings file; without it config.yaml in the state folder, if there is one.")
  var config: String?

  @Option(name: .long, help: "development or production: whose keys and device tokens are valid. (development)")
  var environment: String?

  @Option(
    name: .long,
    help: "What a 200 promises. full: the push is on disk; normal: in the system's cache, lost if that stops. (full)")
  var durability: String?

  @Option(name: .long, help: "Event loops. (one per core)")
  var loops: String?

  @Option(name: .long, help: "Pushes that wait for one device before the oldest go. (10000)")
  var mailboxCap: String?

  @Option(name: .long, help: "Pushes a second for one device token; more get TooManyRequests. (none)")
  var rateLimit: String?

  @Option(name: .long, help: "How long the delivery log is kept, in days. (7)")
  var logRetentionDays: String?

  @Option(name: .customLong("client-ca"), help: "Further authorities whose certificates senders may show, a PEM file.")
  var clientCA: String?

  @Option(name: .long, help: "Seconds a silent connection is kept, or none. (7200)")
  var idleTimeout: String?

  @Option(name: .long, help: "Seconds between a device's signs of life; without one for twice that it is gone. (30)")
  var pingInterval: String?

  @Option(name: .long, help: "fixed: 1000 streams at once; faithful: 1, and 1000 with the first accepted push. (fixed)")
  var streamLimit: String?

  @Option(name: .long, help: "Seconds before a connection may change its provider token; 0: at any time. (1140)")
  var tokenUpdateInterval: String?

  @Option(name: .long, help: "strict: a push type must fit the topic's suffix and the priority. (lenient)")
  var pushTypeCheck: String?

  @Option(name: .long, help: "What a key of the other environment gets. (BadEnvironmentKeyInToken)")
  var environmentKeyReason: String?

  @Option(name: .long, help: "What an app that may not broadcast gets. (BroadcastFeatureNotEnabled)")
  var broadcastFeatureReason: String?

  @Option(name: .long, help: "debug, info, warning or error. (info)")
  var logLevel: String?

  @Flag(name: .long, help: "Check the settings, print each with where it came from, and stop.")
  var check = false

  @OptionGroup var format: FormatOptions

  func run() async throws {
    var flags: [String: String] = [:]
    flags["listen"] = listen.isEmpty ? nil : listen.joined(separator: ",")
    flags["environment"] = environment
    flags["durability"] = durability
    flags["loops"] = loops
    flags["mailbox_cap"] = mailboxCap
    flags["rate_limit"] = rateLimit
    flags["log_retention_days"] = logRetentionDays
    flags["log_level"] = logLevel
    flags["client_ca"] = clientCA
    flags["idle_timeout"] = idleTimeout
    flags["ping_interval"] = pingInterval
    flags["stream_limit"] = streamLimit
    flags["token_update_interval"] = tokenUpdateInterval
    flags["push_type_check"] = pushTypeCheck
    flags["environment_key_reason"] = environmentKeyReason
    flags["broadcast_feature_reason"] = broadcastFeatureReason
    let configuration: Configuration
    do {
      configuration = try Configuration(
        state: state.folder.path, flags: flags, file: config, environment: ProcessInfo.processInfo.environment)
    } catch {
      throw CommandFailure(.usage, error.description)
    }
    if check { return printSettings(configuration) }
    try await serve(configuration)
  }

  private func printSettings(_ configuration: Configuration) {
    if format.json {
      for setting in configuration.effective { Output.json(setting) }
      return
    }
    Output.table(["SETTING", "VALUE", "FROM"], configuration.effective.map { [$0.name, $0.value, $0.origin] })
    Output.words("state folder: \(configuration.state)")
  }

  private func serve(_ configuration: Configuration) async throws {
    let stops = StopSignals()
    DescriptorLimit.raise()
    let level = Logger.Level(rawValue: configuration.logLevel) ?? .info
    let logger = Logger(label: "pushgateway") { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
    let isFirstStart = !FileManager.default.fileExists(atPath: state.folder.developmentPath)
    let gateway: Gateway
    do {
      gateway = try await Gateway.start(configuration, logger: logger)
    } catch {
      throw CommandFailure(.failed, "\(error)")
    }
    if isFirstStart { welcome() }
    for address in gateway.addresses { Output.data("listening on \(address)") }
    _ = await stops.next()
    await gateway.stop()
  }

  /// Where things are, and the lines to try.
  private func welcome() {
    let folder = state.folder
    guard let development = Development.read(folder) else { return }
    let option = state.state.map { " --state \($0)" } ?? ""
    Output.words(
      """
      First start: made \(folder.path) with
        a certificate authority for clients to trust   \(folder.trustPath)
        a development key of team \(development.teamID)       \(development.keyPath)
        a sample app                                   \(development.topic)
      Try, in another terminal each:
        pushcli subscribe\(option) --device me --app \(development.topic)
        pushcli send\(option) --to me/\(development.topic) --title "It Works" --body "Sent through the APNs API." --badge 1 --sound default
      """)
  }
}

/// The first start's development key, as a command reads it.
enum Development {
  static func read(_ folder: StateFolder) -> StateFolder.Development? {
    FileManager.default.contents(atPath: folder.developmentPath).flatMap {
      try? decodeJSON(StateFolder.Development.self, from: $0)
    }
  }
}
