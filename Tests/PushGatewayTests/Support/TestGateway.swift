import Foundation
import Logging
import NIOCore
import NIOPosix
import PushTesting
import Synchronization

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// A gateway without TLS on a Unix socket, with one event loop. The test controls its clock and parts.
final class TestGateway: Sendable {
  static let team = "TEAM000001"
  /// The beginning of its invitation codes.
  static let authority = "0123456789ABCDEF"

  let folder: TemporaryFolder
  let clock: TestClock
  let parts: GatewayParts
  let loops: Loops
  let key: ES256Key
  let limits = LimitLog(logger: .silent)
  let admin: AdminAPI
  let meters: Meters
  private let store: SQLiteStore
  private let listener: Listener
  private let tokens = Mutex<[String: String]>([:])

  var registrations: any Registrations { parts.registrations }
  var endpoint: Client.Endpoint { .admin(path: folder.file("socket")) }

  /// Starts a gateway. `mailbox` replaces the mailbox of the database, and `backend` replaces all storage. It forwards to
  /// the gateway `upstream`.
  init(
    environment: Environment = .development, rateLimit: Int? = nil, cap: Int = 10_000, mailbox: (any Mailbox)? = nil,
    backend: GatewayBackend? = nil, provider: ProviderSettings = ProviderSettings(),
    options: ConnectionOptions = ConnectionOptions(), enrollment: EnrollmentPolicy = .openOnLoopback,
    upstream: TestGateway? = nil, logger: Logger = .silent
  ) async throws {
    let (folder, clock) = (try TemporaryFolder(), TestClock())
    self.folder = folder
    self.clock = clock
    let store = try SQLiteStore(path: folder.file("push.sqlite"))
    self.store = store
    let log = DeliveryLog(path: folder.file("log.sqlite"), retention: 86_400 * 365 * 100, logger: .silent)
    let backend = try backend ?? TestGateway.sqlite(store, log, cap: cap, clock: clock, mailbox: mailbox)
    let registrations = backend.registrations
    var configuration = Configuration.defaults
    configuration.state = folder.path
    configuration.environment = environment
    configuration.rateLimit = rateLimit
    configuration.provider = provider
    configuration.enrollment = enrollment
    let parts = try GatewayParts(
      configuration, backend: backend, store: store, log: log, clock: clock.wallClock, logger: logger,
      targets: upstream.map { UpstreamTargets(production: $0.target, development: $0.target) })
    self.parts = parts
    try parts.connect()
    await parts.restore()
    let status = GatewayStatus(listening: [], environment: "", started: "", pid: 0)
    let faults = FaultTable()
    let tokens = ProviderTokenCache(registrations: registrations, forwardsForeign: upstream != nil)
    let limits = limits
    let meters = Meters(
      parts, faults: faults, transportLimits: limits, folder: StateFolder(folder.path))
    self.meters = meters
    let admin = AdminAPI(
      parts, status: { status },
      certificates: CertificatesAPI(
        registrations: registrations, clock: clock.wallClock, cluster: nil, folder: StateFolder(folder.path), reload: {}
      ),
      faults: FaultsAPI(faults, clock: clock.wallClock, logger: .silent),
      authority: { TestGateway.authority },
      metrics: MetricsAPI(meters: meters),
      service: ServiceAPI(
        settings: { SettingsRecord(file: nil, settings: []) }, reload: { ReloadRecord(changed: [], waiting: []) },
        prepareRestart: {}, restart: nil),
      logLevel: LogLevelAPI(threshold: LogThreshold(.info), clock: clock.wallClock, logger: .silent),
      send: SendAPI(parts, StateFolder(folder.path), socket: folder.file("socket")))
    self.admin = admin
    loops = try await Loops(count: 1) { loop in
      GatewayHandler(
        loop: loop, parts: parts, tokens: tokens, faults: faults, admin: admin, limits: limits, logger: .silent,
        web: TestGateway.web(parts, admin))
    }
    parts.log.beforeReading { [loops] in await loops.completeIterations() }
    var options = options
    options.environmentRule = .fixed(environment)
    options.peer = options.peer ?? .adminSocket
    listener = try await Listener.listen(
      on: .unix(path: folder.file("socket")), tls: nil, options: options, loops: loops)
    key = try ES256Key.generate()
    try await registrations.addTeam(TestGateway.team)
    try await registrations.addKey(
      ProviderKey(id: "ABC123DEFG", team: TestGateway.team, publicKey: key, environment: nil, topics: nil))
    _ = try await registrations.putApp(
      topic: SampleRequest.topic, name: "News", icon: "📰", policyMode: .enforce)
  }

  /// Returns the pages in a browser.
  static func web(_ parts: GatewayParts, _ admin: AdminAPI, _ setting: WebSetting = .on) -> WebAPI {
    WebAPI(
      setting: setting, session: WebSession(authority: authority), devices: DeviceAPI(parts),
      console: ConsoleAPI(session: .console(authority: authority), gate: admin.gate))
  }

  private static func sqlite(
    _ store: SQLiteStore, _ log: DeliveryLog, cap: Int, clock: TestClock, mailbox: (any Mailbox)?
  ) throws -> GatewayBackend {
    let database = try SQLiteMailbox(
      store: store, cap: cap, logger: .silent, now: { clock.seconds },
      removed: { removals in log.append(removals.map { $0.event(at: clock.seconds * 1000) }) })
    let mailbox: any Mailbox = mailbox ?? database
    return GatewayBackend(
      registrations: try SQLiteRegistrations(store: store), mailbox: mailbox,
      router: DeviceStreamRegistry(), durability: .localDisk(.full),
      mailboxMeter: database.meter, mailboxBacklog: { database.backlog },
      problems: { [mailbox.problem].compactMap(\.self) }, close: { database.close() })
  }

  /// The gateway as the upstream of another one.
  private var target: UpstreamTarget {
    UpstreamTarget(
      address: .unix(path: folder.file("socket")), authority: TestGateway.upstreamName, isGateway: false)
  }
  static let upstreamName = "upstream.example"

  func stop() async {
    await listener.close()
    parts.upstream?.close()
    await loops.drain()
    parts.close()
    await loops.shutdown()
    try? store.close()
  }

  /// Runs a test with a gateway, and stops the gateway even if the body throws.
  static func run(
    environment: Environment = .development, rateLimit: Int? = nil, cap: Int = 10_000, mailbox: (any Mailbox)? = nil,
    backend: GatewayBackend? = nil, provider: ProviderSettings = ProviderSettings(),
    options: ConnectionOptions = ConnectionOptions(), enrollment: EnrollmentPolicy = .openOnLoopback,
    upstream: TestGateway? = nil, logger: Logger = .silent, _ body: (TestGateway) async throws -> Void
  ) async throws {
    let gateway = try await TestGateway(
      environment: environment, rateLimit: rateLimit, cap: cap, mailbox: mailbox, backend: backend, provider: provider,
      options: options, enrollment: enrollment, upstream: upstream, logger: logger)
    do {
      try await body(gateway)
    } catch {
      await gateway.stop()
      throw error
    }
    await gateway.stop()
  }

  func client() async throws -> Client { try await Client.connect(to: endpoint) }

  /// Enrolls a device and registers it for the sample app.
  func enroll(_ name: String = "laptop", person: String? = nil) async throws -> TestDevice {
    let (device, secret) = try await registrations.enroll(name: name, person: person)
    let registration = try await registrations.register(
      device.id, topic: SampleRequest.topic, environment: parts.environment)
    return TestDevice(id: device.id, name: name, secret: secret, token: registration.token.hex)
  }

  /// Returns the header field of a provider token. The token is new every half hour, as that of a provider.
  func authorization(_ change: (inout TokenRecipe) -> Void = { _ in }) throws -> (HeaderName, String) {
    var recipe = TokenRecipe()
    recipe.claims = #"{"iss":"\#(TestGateway.team)","iat":\#(clock.seconds / 1800 * 1800)}"#
    change(&recipe)
    let name = "\(recipe)"
    if let known = tokens.withLock({ $0[name] }) { return (.authorization, known) }
    let value = "bearer " + (try recipe.text(by: key))
    tokens.withLock { $0[name] = value }
    return (.authorization, value)
  }

  /// Adds another key with the same private key as the first one.
  func addKey(_ id: String, environment: Environment? = nil, topics: Set<String>? = nil, related: String? = nil)
    async throws
  {
    try await registrations.addKey(
      ProviderKey(
        id: id, team: TestGateway.team, publicKey: key, environment: environment, topics: topics, related: related))
  }

  /// Sends a push that is valid without further fields.
  func push(
    _ client: Client, to token: String, _ fields: [(HeaderName, String)] = [],
    payload: String = #"{"aps":{"alert":"hello"}}"#
  ) async throws -> Client.Answer {
    let all = [try authorization(), (.apnsTopic, SampleRequest.topic)] + fields
    return try await client.request("POST", "/3/device/" + token, all, body: Array(payload.utf8))
  }

  /// Returns the events of a push in the delivery log, in order.
  func events(of id: APNSID) async throws -> [DeliveryEvent] { try await rows(.init(id: id)).map(\.row.event) }

  /// Returns the newest matching rows of the delivery log, the oldest first. They include the rows of event-loop
  /// iterations that have begun.
  func rows(_ query: DeliveryLog.Query) async throws -> [DeliveryLog.Record] {
    try await endIterations()
    return try await parts.log.rows(query)
  }

  /// Returns when every loop has ended its current iteration. At its end, a loop passes its rows to the delivery log.
  func endIterations() async throws {
    for loop in loops.group.makeIterator() { try await loop.submit {}.get() }
  }

  /// Returns the sizes of the queued bytes of every open stream of the gateway.
  func outboundSizes() async throws -> [Int] {
    let loop = loops.group.next()
    return try await loop.submit { [loops] in
      loops.current(loop).0.connections.values.flatMap(\.session.openStreams).map(\.outboundSize)
    }.get()
  }
}

/// A device with its credentials.
struct TestDevice: Sendable {
  var id: DeviceID
  var name: String
  var secret: String
  var token: String

  var authorization: (HeaderName, String) { (.authorization, "bearer " + secret) }
}

/// A device's stream, read line by line.
final class TestStream {
  private let stream: LineStream
  private var lines: AsyncThrowingStream<[UInt8], any Error>.Iterator

  private init(_ stream: LineStream) {
    self.stream = stream
    lines = stream.lines.makeAsyncIterator()
  }

  /// Opens a stream and sends hello.
  ///
  /// - Parameter hello: A line to send instead of the hello.
  static func open(
    _ client: Client, _ device: TestDevice, cursor: Int = 0, silent: Bool = false, hello: String? = nil
  ) async throws -> TestStream {
    let stream = TestStream(try await client.stream("POST", "/v1/device/stream", [device.authorization]))
    stream.send(hello ?? #"{"type":"hello","cursor":\#(cursor),"silent":\#(silent)}"#)
    return stream
  }

  /// Opens a stream and reads the lines up to `caught-up`.
  static func caughtUp(
    _ client: Client, _ device: TestDevice, cursor: Int = 0, silent: Bool = false
  ) async throws -> TestStream {
    let stream = try await open(client, device, cursor: cursor, silent: silent)
    _ = try await stream.lines(upTo: "caught-up")
    return stream
  }

  /// Returns the next line, or nil at the end of the stream.
  func next(isolation: isolated (any Actor)? = #isolation) async throws -> TestLine? {
    try await lines.next(isolation: isolation).map(TestLine.init)
  }

  /// Returns the next lines up to one of the given type, or up to the end.
  func lines(upTo type: String) async throws -> [TestLine] {
    var lines: [TestLine] = []
    while let line = try await next() {
      lines.append(line)
      if line.type == type { break }
    }
    return lines
  }

  func send(_ line: String) { stream.send(line) }
  func acknowledge(_ seq: UInt64) { send(#"{"type":"ack","seq":\#(seq)}"#) }
  func finish() { stream.finish() }
}

/// A line of a stream.
struct TestLine {
  var text: String
  var json: [String: Any]

  init(_ bytes: [UInt8]) {
    text = String(decoding: bytes, as: UTF8.self)
    json = (try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]) ?? [:]
  }

  var type: String { json["type"] as? String ?? "" }
  var seq: UInt64 { (json["seq"] as? NSNumber)?.uint64Value ?? 0 }
}

/// A client whose reading can be stopped, as that of a sleeping device.
final class SleepyClient: Sendable {
  private let channel: any Channel
  private let core: NIOLoopBound<ClientCore>

  private init(channel: any Channel, core: NIOLoopBound<ClientCore>) {
    self.channel = channel
    self.core = core
  }

  static func connect(path: String) async throws -> SleepyClient {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let promise = loop.makePromise(of: NIOLoopBound<ClientCore>.self)
    let bootstrap = ClientBootstrap(group: loop).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        let connection = try Connection(
          role: .client, loop: LoopContext(eventLoop: loop), tls: nil, peer: .remote)
        let core = ClientCore(connection, authority: "localhost", ready: promise)
        core.attach()
        try channel.pipeline.syncOperations.addHandler(connection)
      }
    }
    let channel = try await bootstrap.connect(unixDomainSocketPath: path).get()
    return SleepyClient(channel: channel, core: try await promise.futureResult.get())
  }

  func stream(_ device: TestDevice) async throws -> LineStream {
    try await withCheckedThrowingContinuation { continuation in
      core.eventLoop.execute {
        self.core.value.stream("POST", "/v1/device/stream", [device.authorization]) { continuation.resume(with: $0) }
      }
    }
  }

  /// Sends a request without a body, with exactly these fields.
  func request(_ fields: [(HeaderName, String)]) async throws {
    try await core.eventLoop.submit { [core] in
      var head = HeaderFields()
      for (name, value) in fields { head.append(name, value.utf8) }
      _ = try core.value.connection.session.request(head, hasBody: false)
      core.value.connection.setNeedsFlush()
    }.get()
  }

  func sleep() async throws { try await channel.setOption(.autoRead, value: false).get() }
  func wake() async throws { try await channel.setOption(.autoRead, value: true).get() }
  func close() async throws { try await channel.close() }
}
