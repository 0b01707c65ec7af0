import ArgumentParser
import Foundation
import Glibc
import HTTP2Transport
import Logging
import PushCore
import PushGateway
import PushStorage

/// `pushcli serve`: runs the gateway.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Run the gateway.",
    discussion: """
      No setting is required: a first start makes the state folder, certificates, a development key and a sample app, \
      and prints commands to try. Every setting can be given as a flag, in the environment (PUSHGATEWAY_LISTEN, …) \
      or in config.yaml in the state folder, in falling precedence.

      Examples:
        pushcli serve
        pushcli serve --state ./push --listen 127.0.0.1:0
        pushcli serve --listen 0.0.0.0:2197 --environment production
        pushcli serve --check
        pushcli serve --test --json
      """)

  @OptionGroup var state: LocalOptions

  @Option(name: .long, help: "Settings file; without it config.yaml in the state folder, if there is one.")
  var config: String?

  @Flag(
    name: .long,
    help: """
      Check the settings and the database's version, print each setting with its source, and stop. Without --config and \
      settings, the settings of a gateway that runs on the state folder are printed.
      """)
  var check = false

  @OptionGroup var format: FormatOptions

  @OptionGroup(title: "Test Gateway") var test: TestServerOptions

  @OptionGroup(title: "Settings") var settings: SettingOptions

  func validate() throws {
    guard !test.isOn || state.state == nil && config == nil && !check else {
      throw ValidationError("--test has a folder of its own: omit --state, --config and --check")
    }
  }

  func run() async throws {
    PrivateFile.restrictProcess()
    if test.isOn { return try await serveTests() }
    let folder = try state.folder
    if check, config == nil, settings.values.isEmpty, let running = try await Configuration.ofGateway(in: folder) {
      Configuration.show(running, of: folder, format)
      return try checkDatabase(folder)
    }
    let configuration = try Configuration.read(folder, flags: settings.values, file: config)
    if check {
      Configuration.show(configuration, format)
      return try checkDatabase(folder)
    }
    try await serve(configuration, folder)
  }

  /// Checks that this program can open the folder's database: an older program can't open a newer one.
  private func checkDatabase(_ folder: StateFolder) throws {
    do {
      try MigrationBackup.refuseNewer(folder)
    } catch {
      throw CommandFailure(.failed, "\(error)")
    }
  }

  private func serve(_ configuration: Configuration, _ folder: StateFolder) async throws {
    let environment = ProcessInfo.processInfo.environment
    let manager = ServiceManager(environment)
    let nextProgram = NextProgram(environment: environment)
    let log = LogWriter(configuration.logFormat, environment: environment)
    let requests = ServiceRequests {
      log.flush(within: .seconds(2))
      _exit(0)
    }
    DescriptorLimit.raise()
    let threshold = LogThreshold(Logger.Level(rawValue: configuration.logLevel) ?? .info)
    defer { log.flush(within: .seconds(2)) }
    let logger = Logger(label: "pushgateway") { _ in GatewayLog(threshold: threshold, writer: log) }
    let isFirstStart = !FileManager.default.fileExists(atPath: folder.developmentPath)
    let gateway: Gateway
    do {
      let supervisor = Supervisor(
        manager: manager, inherited: try InheritedSockets.take(environment),
        readConfiguration: { [settings, config] in
          try Configuration.read(folder, flags: settings.values, file: config)
        },
        checkNextProgram: { try await nextProgram.check() },
        restart: { [continuation = requests.continuation] in _ = continuation.yield(.replace) },
        begins: requests.endInGoodOrder)
      gateway = try await Gateway.start(
        configuration, logger: logger, threshold: threshold, supervisor: supervisor)
    } catch {
      manager.failed("\(error)")
      log.flush(within: .seconds(2))
      // A file that the settings name stays unusable at the next attempt of systemd.
      throw CommandFailure((error as? TLSError)?.kind == .file ? .usage : .failed, "\(error)")
    }
    // The journal of a service is not read on a terminal of the service's user.
    let isService = environment["NOTIFY_SOCKET"] != nil && environment["JOURNAL_STREAM"] != nil
    if isFirstStart, !isService { welcome(folder) }
    for address in gateway.addresses { Output.announce("listening on \(address)") }
    for address in gateway.httpAddresses {
      Output.announce("health and metrics at \(address.hasPrefix("https://") ? address : "http://\(address)")")
    }
    for await request in requests.stream {
      switch request {
      case _ where requests.isStopAsked, .stop: return await gateway.stop()
      case .reload:
        await gateway.reload()
        continue
      case .restart:
        do {
          try await gateway.prepareRestart()
        } catch {
          logger.log(.restartRefused, "restart refused, the running gateway is unchanged: \(error)")
          continue
        }
        if requests.isStopAsked { return await gateway.stop() }
      case .replace: break
      }
      let sockets = await gateway.handOver()
      log.flush(within: .seconds(1))
      nextProgram.begin(with: sockets) { requests.isStopAsked }
      return gateway.withdraw()
    }
  }

  /// Runs a test gateway until a request to stop, or until standard input closes.
  private func serveTests() async throws {
    let folder = TestServer.newFolder()
    let requests = ServiceRequests {
      try? TestServer.remove(folder)
      _exit(0)
    }
    DescriptorLimit.raise()
    let server = try await TestServer.start(
      in: folder, test.options, settings: settings.values, begins: requests.endInGoodOrder)
    TestServer.whenInputCloses { [continuation = requests.continuation] in continuation.yield(.stop) }
    let ready = server.ready
    format.print(
      ready, data: "test gateway ready: \(ready.apns) (CA \(ready.ca)), test API \(ready.http)/test/v1")
    for await request in requests.stream where requests.isStopAsked || request == .stop { break }
    await server.stop()
  }

  /// Prints the paths of the created files, and commands to try.
  private func welcome(_ folder: StateFolder) {
    guard let development = folder.development else { return }
    let option = state.state.map { " --state \($0)" } ?? ""
    let made = [
      ("a certificate authority for clients to trust", folder.trustPath),
      ("a development key of team \(development.teamID)", development.keyPath), ("a sample app", development.topic),
    ]
    let width = made.map(\.0.count).max() ?? 0
    let rows = made.map { "  " + $0.0 + String(repeating: " ", count: width - $0.0.count + 2) + $0.1 }
    Output.words(
      lines: """
        First start: made \(folder.path) with
        \(rows.joined(separator: "\n"))
        Try, in another terminal each:
          pushcli subscribe\(option) --device me --app \(development.topic)
          pushcli send\(option) --to me/\(development.topic) --title "It Works" --body "Sent through the APNs API." --badge 1 --sound default
        """)
  }
}
