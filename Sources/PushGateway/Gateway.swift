import Foundation
import GatewayProtocol
import Glibc
import HTTP2Transport
package import Logging
import PushCore
import PushPolicy
import PushStorage

/// A running gateway: creates its parts from a configuration, connects them, starts, drains and stops.
package final class Gateway: Sendable {
  private let folder: StateFolder
  private let claim: StateFolder.Claim
  private let parts: GatewayParts
  private let loops: Loops
  private let listeners: GatewayListeners
  private let admin: Listener
  private let supervisor: Supervisor
  /// Reloads the settings, on a signal.
  private let reloading: Reload
  /// The HTTP/1.1 server for monitors; nil if there is none.
  private let http1: HTTP1Server?
  private let http1Sockets: HTTP1Sockets
  private let maintenance: Task<Void, Never>
  private let watchdog: Task<Void, Never>
  /// The parts of a test gateway; nil in production.
  private let test: TestMode?
  private let logger: Logger

  /// The addresses of all listeners, each `HOST:PORT`.
  package var addresses: [String] { listeners.addresses }

  /// The addresses of the HTTP/1.1 server, each `HOST:PORT`, or `https://HOST:PORT` with TLS.
  package var httpAddresses: [String] { http1?.addresses ?? [] }

  /// The lines of the report about the sender; empty unless this is a test gateway.
  package var testReport: [String] { test?.report ?? [] }

  /// A sentence about pushes that the recording of a test gateway lacks; nil if there are none.
  package var recordingProblem: String? { test?.recordingProblem }

  /// The interval of maintenance, for example the removal of expired pushes.
  private static let maintenanceInterval = Duration.seconds(10)

  /// Starts a gateway with the configured storage backend; on return it accepts connections.
  ///
  /// - Parameter test: the options of a test gateway; nil in production.
  /// - Throws: an error whose description is one line for users, with the problem and advice.
  package static func start(
    _ configuration: Configuration, logger: Logger, threshold: LogThreshold = LogThreshold(.info),
    supervisor: Supervisor = Supervisor(), test: TestOptions? = nil
  ) async throws -> Gateway {
    try test?.check(configuration)
    return try await start(
      configuration, logger: logger, threshold: threshold, supervisor: supervisor, test: test.map { try TestMode($0) },
      opening: { context in
        guard let address = configuration.backend else { return try await GatewayBackend.sqlite(context) }
        return try await GatewayBackend.cluster(context, address)
      })
  }

  /// Starts a gateway with another storage backend, which it closes at its end. The gateway's own state is stored in
  /// the database of the state folder.
  static func start(
    _ configuration: Configuration, logger: Logger,
    backend makeBackend: (GatewayBackend.Context) async throws -> GatewayBackend
  ) async throws -> Gateway {
    try await start(
      configuration, logger: logger, supervisor: Supervisor(),
      opening: { context in
        let path = StateFolder(configuration.state).databasePath
        let store = try SQLiteStore(path: path, durability: configuration.durability)
        return (try await makeBackend(context), store)
      })
  }

  /// - Parameter open: opens the storage backend, and the database of the gateway's own state: channels, deferred
  ///   pushes.
  private static func start(
    _ configuration: Configuration, logger: Logger, threshold: LogThreshold = LogThreshold(.info),
    supervisor: Supervisor, test: TestMode? = nil,
    opening open: (GatewayBackend.Context) async throws -> (backend: GatewayBackend, store: SQLiteStore)
  ) async throws -> Gateway {
    if let refusal = HTTP2Library.refusal { throw ConfigurationError(description: refusal) }
    for warning in SystemLibrary.warnings { logger.log(.libraryUntested, "\(warning)") }
    for warning in configuration.warnings { logger.log(.variableUnknown, "\(warning)") }
    PrivateFile.restrictProcess()
    // A first start whose addresses can't be bound creates no state folder.
    if !FileManager.default.fileExists(atPath: configuration.state) {
      try await GatewayListeners.check(try await GatewayListeners.plans(configuration, supervisor.inherited))
      try await HTTP1Server.check(configuration.httpListen, supervisor.inherited)
    }
    let user = try assumeUser(configuration)
    let folder = StateFolder(configuration.state)
    let claim = try folder.claim()
    if claim.hasNarrowed {
      logger.log(
        .stateFolderNarrowed, "the state folder was accessible to other users: access is now limited to this user",
        metadata: ["path": "\(folder.path)"])
    }
    // A draft remains if the gateway was killed during a backup; if it can't be removed now, the next backup removes
    // it.
    try? Backup.removeDraft(of: folder)
    folder.saveBeforeUpgrade(logger)
    try folder.prepareCertificates()
    if configuration.certificate == nil {
      CertificateMaintenance.renew(logger) { try folder.renewCertificate(now: WallClock.system.seconds) }
    }
    let clock = test?.clock.wallClock ?? WallClock.system
    let log = DeliveryLog(
      path: folder.logPath, retention: Int64(configuration.logRetentionDays) * 86_400,
      maximumSize: configuration.logMaximumSize?.bytes, logger: test?.rowLogger(logger) ?? logger)
    test?.observe(log)
    let meter = GatewayMeter()
    let context = GatewayBackend.Context(configuration: configuration, clock: clock, logger: logger) { removals in
      let now = clock.milliseconds()
      let overflows = removals.count { $0.cause == .overflow }
      if overflows > 0 { meter.limits.add(.mailboxCap, UInt64(overflows)) }
      log.append(removals.map { $0.event(at: now) })
    }
    let (backend, store): (GatewayBackend, SQLiteStore)
    do {
      (backend, store) = try await open(context)
    } catch let error as StoreError where error.isDiskFull && ReservedSpace(in: folder).release() {
      logger.log(
        .diskFull, "the disk is full: the reserve is used to deliver pending pushes; free some space")
      (backend, store) = try await open(context)
    }
    do {
      // After the backend, which may replace the CA of the certificate. Devices connect to the addresses that other
      // gateways announce.
      if configuration.certificate == nil {
        try folder.addNames(of: (configuration.advertised ?? []).compactMap(GatewayAddress.init(line:)))
      }
      let certificate = try ServerCertificate(folder, configuration)
      let parts = try GatewayParts(
        configuration, backend: backend, store: store, log: log, clock: clock, logger: logger, meter: meter,
        notices: [test?.notice].compactMap(\.self), targets: try UpstreamTargets(configuration))
      try parts.connect()
      if let test {
        logger.log(.testGateway, "\(test.notice.problem)")
      } else {
        try await folder.prepareDevelopment(parts.registrations)
      }
      let open = parts.registrations.appsOfNoTeam.map(\.topic)
      if !open.isEmpty {
        logger.log(
          .appsOfNoTeam,
          "some apps have no team and accept every team's keys: assign teams with `pushcli apps set TOPIC --team TEAMID`",
          metadata: ["apps": "\(open.joined(separator: " "))"])
      }
      await parts.restore()
      let gateway = try await Gateway(
        configuration, folder, claim, user, parts, store, certificate, supervisor, logger, threshold, test)
      if test == nil, configuration.user == nil, ServiceUser.isRoot {
        logger.log(.runsAsRoot, "the gateway runs as root: name an unprivileged user with --user NAME")
      }
      return gateway
    } catch {
      backend.close()
      log.close()
      throw error
    }
  }

  /// Switches to ``Configuration/user`` before any file is created, so that the files belong to this user.
  private static func assumeUser(_ configuration: Configuration) throws -> ServiceUser? {
    guard let name = configuration.user else { return nil }
    let user: ServiceUser
    do {
      user = try ServiceUser(name: name)
    } catch {
      throw ConfigurationError(description: "there is no user \(name) (\(error)): create it, or omit --user")
    }
    if user.uid == geteuid() { return nil }
    guard ServiceUser.isRoot else {
      throw ConfigurationError(
        description: "only root can start a gateway as \(name): omit --user, or run as \(name)")
    }
    try StateFolder(configuration.state).prepare(for: user)
    try user.assume()
    return user
  }

  private init(
    _ configuration: Configuration, _ folder: StateFolder, _ claim: StateFolder.Claim, _ user: ServiceUser?,
    _ parts: GatewayParts, _ store: SQLiteStore, _ certificate: ServerCertificate, _ supervisor: Supervisor,
    _ logger: Logger, _ threshold: LogThreshold, _ test: TestMode?
  ) async throws {
    (self.folder, self.test) = (folder, test)
    self.claim = claim
    self.parts = parts
    self.supervisor = supervisor
    self.logger = logger
    let started = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    let faults = FaultTable()
    let faultsAPI = FaultsAPI(faults, clock: parts.clock, logger: logger)
    let tokens = ProviderTokenCache(
      registrations: parts.registrations, verification: test?.verification ?? TokenVerification(),
      forwardsForeign: parts.upstream != nil)
    let firstUse = try test?.firstUse(parts, logger: logger)
    let limits = LimitLog(logger: logger)
    let meters = Meters(
      parts, faults: faults, transportLimits: limits, folder: folder, certificatePath: { certificate.path })
    let metrics = MetricsAPI(meters: meters)
    let listeners = GatewayListeners(
      tls: certificate.source,
      unauthenticated: UnauthenticatedConnections { limits.note($0, peer: $1, now: parts.clock.seconds) })
    self.listeners = listeners
    let announcement = AddressFile(folder, logger: logger)
    let http1Sockets = HTTP1Sockets()
    self.http1Sockets = http1Sockets
    let reload = Reload(configuration, supervisor, certificate, listeners, http1Sockets, logger: logger) {
      parts.apply($0)
      threshold.configure($0)
      announcement.write(listeners.addresses)
      parts.backend.cluster?.announce($0.advertised ?? listeners.addresses)
    }
    reloading = reload
    let admin = AdminAPI(
      parts,
      status: {
        GatewayStatus(
          listening: listeners.addresses, environment: configuration.environment.rawValue, started: started,
          listeners: listeners.records, http: announcement.http, pid: getpid(),
          authority: certificate.authority, certificate: certificate.record,
          gateways: parts.backend.cluster.map { _ in parts.backend.gateways().map(\.description) })
      },
      compact: { try await store.compact() },
      certificates: CertificatesAPI(
        registrations: parts.registrations, clock: parts.clock, cluster: parts.backend.cluster, folder: folder,
        reload: { try certificate.reload() }, configured: { certificate.isOwn ? nil : certificate.path }),
      faults: faultsAPI,
      authority: { certificate.authority },
      metrics: metrics,
      service: ServiceAPI(
        settings: { await reload.settings }, reload: { try await reload() },
        prepareRestart: { try await reload.prepareRestart() }, restart: supervisor.restart),
      logLevel: LogLevelAPI(threshold: threshold, clock: parts.clock, logger: logger),
      send: SendAPI(parts, folder, socket: folder.adminSocket))
    let web = WebAPI(
      setting: configuration.web, session: WebSession(authority: certificate.authority), devices: DeviceAPI(parts),
      console: ConsoleAPI(
        session: .console(authority: certificate.authority), gate: admin.gate, isOpen: test != nil))
    let testAPI = firstUse.flatMap { firstUse in
      test?.api(
        parts, firstUse: firstUse, faults: faults,
        tls: TestTLS(folder: folder, source: certificate.source) { try certificate.read(configuration) })
    }
    let messages = MessageRelay(
      environment: configuration.environment, senders: parts.messages.senders, clock: parts.clock)
    loops = try await Loops(
      count: configuration.loops, pingInterval: configuration.pingInterval, idleCheck: configuration.idleCheck
    ) { loop in
      let handler = GatewayHandler(
        loop: loop, parts: parts, tokens: tokens, faults: faults, admin: admin, limits: limits, logger: logger,
        web: web)
      handler.attach(messages)
      guard let test, let testAPI, let firstUse else { return handler }
      let router = Router(testAPI.routes)
      let wrapped = test.handler(handler, handler.shared, loop: loop.eventLoop, firstUse: firstUse) {
        [unowned handler] in handler.serve($0, router)
      }
      handler.refusals = wrapped
      return wrapped
    }
    // A response can leave before the end of its iteration, at which the loop appends its rows.
    parts.log.beforeReading { [loops] in await loops.completeIterations() }
    faultsAPI.attach(loops)
    listeners.attach(loops)
    parts.lifecycle.watch { [loops] in await loops.answer(within: Limits.loopAnswerTime) }
    parts.registrations.onChange { [loops] change in
      guard case .revokedCertificate(let fingerprint) = change else { return }
      loops.forEachConnection { if $0.identity?.fingerprint == fingerprint { $0.end(.badCertificate) } }
    }
    var opened: HTTP1Server?
    supervisor.begins()
    do {
      // Only root may bind ports below 1024. No other work happens while the process is root.
      try user?.regainRoot()
      let plans = try await GatewayListeners.plans(configuration, supervisor.inherited)
      try await listeners.change(to: plans, configuration.connectionOptions)
      opened = try await HTTP1Server.open(
        configuration, HealthAPI(check: parts.healthCheck), meters, supervisor.inherited, http1Sockets,
        tls: certificate.source, logger: logger, others: testAPI?.routes ?? [],
        maximumBodySize: test?.maximumBodySize ?? 0,
        page: configuration.web == .off
          ? nil
          : HTTP1Page(
            web: web, environment: configuration.environment, socket: folder.adminSocket, admin: admin.router.routes),
        messages: messages)
      try user?.becomeForGood()
      self.admin = try await Gateway.listenAdmin(configuration.environment, folder, loops, supervisor.inherited)
    } catch {
      await listeners.close()
      await opened?.close()
      http1Sockets.release()
      await loops.shutdown()
      throw error
    }
    http1 = opened
    announcement.note(http: opened?.addresses ?? [])
    announcement.write(listeners.addresses)
    parts.backend.cluster?.announce(configuration.advertised ?? listeners.addresses)
    if test == nil { ReservedSpace(in: folder).make() }
    maintenance = Task {
      while !Task.isCancelled {
        announcement.write(listeners.addresses)
        if test == nil { ReservedSpace(in: folder).make() }
        CertificateMaintenance.look(at: certificate, logger)
        CertificateMaintenance.renew(logger) { try certificate.renew(now: parts.clock.seconds) }
        LogLevelAPI(threshold: threshold, clock: parts.clock, logger: logger).settle()
        metrics.history.note(meters)
        await parts.maintain()
        try? await Task.sleep(for: Gateway.maintenanceInterval)
      }
    }
    let watch = Watchdog(manager: supervisor.manager, loops: loops)
    watchdog = Task { await watch.run() }
    supervisor.manager.ready(listeners.status)
  }

  /// Reloads the settings, and applies all changes that are possible while connections are open. The result is
  /// logged.
  package func reload() async {
    do {
      _ = try await reloading()
    } catch {
      logger.log(.settingsRefused, "the settings were not reloaded and are unchanged: \(error)")
    }
  }

  /// Checks that the next program of this process can take over, and listens on the addresses of its settings.
  ///
  /// - Throws: an error in one line if it can't; then nothing has changed.
  package func prepareRestart() async throws { try await reloading.prepareRestart() }

  /// Stops in an orderly way: stops accepting, answers open requests, sends GOAWAY, commits, stops. Takes at most 8
  /// seconds.
  package func stop() async {
    supervisor.manager.stopping()
    parts.lifecycle.beginDrain()
    parts.backend.cluster?.leave()
    await listeners.close()
    // The address files are removed after the listeners closed: without them no listener accepts.
    folder.withdraw()
    await admin.close()
    await end(within: test == nil ? .stop : .restart)
  }

  /// Stops in an orderly way within shorter limits, and leaves its sockets open: new clients are queued for the next
  /// program of this process.
  ///
  /// - Returns: the sockets for that program.
  package func handOver() async -> InheritedSockets {
    supervisor.manager.reloading("handing over to the next program", isRestart: true)
    parts.lifecycle.beginDrain()
    var sockets = await listeners.handOver() + http1Sockets.handOver()
    if let admin = await admin.handOver() { sockets.append(.init(name: InheritedSockets.Name.admin, socket: admin)) }
    await end(within: .restart)
    return InheritedSockets(sockets)
  }

  /// Removes the address files, if no program follows after ``handOver()``.
  package func withdraw() {
    supervisor.manager.stopping()
    folder.withdraw()
  }

  private func end(within times: DrainTimes) async {
    maintenance.cancel()
    parts.upstream?.drain(within: times)
    await loops.drain(within: times)
    parts.upstream?.close()
    watchdog.cancel()
    await maintenance.value  // A round uses the database and its folder until it ends.
    await parts.settle()
    parts.close()
    await http1?.close()
    http1Sockets.release()
    await loops.shutdown()
    test?.finish()
  }

  private static func listenAdmin(
    _ environment: Environment, _ folder: StateFolder, _ loops: Loops, _ inherited: InheritedSockets
  ) async throws -> Listener {
    let options = ConnectionOptions(environmentRule: .fixed(environment), peer: .adminSocket)
    if let socket = inherited.socket(named: InheritedSockets.Name.admin) {
      return try await Listener.listen(
        on: .unix(path: folder.adminSocket), socket: socket, tls: nil, options: options, loops: loops)
    }
    try? FileManager.default.removeItem(atPath: folder.adminSocket)
    let listener = try await ShortSocketPath.withShortPath(folder.adminSocket) { path in
      try await Listener.listen(on: .unix(path: path), tls: nil, options: options, loops: loops)
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.adminSocket)
    return listener
  }
}
