import Foundation
import Logging
import NIOCore
import NIOEmbedded
import Synchronization

@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// A complete gateway on an embedded event loop, on the calling thread: all routes, real registrations, and a mailbox
/// in memory.
final class FuzzGateway {
  static let topic = "com.example.news"
  static let team = "TEAM000001"
  /// 2027-01-15 08:00:00 UTC.
  private static let start: Int64 = 1_800_000_000

  let folder: FuzzFolder
  let loop = EmbeddedEventLoop()
  let context: LoopContext
  let parts: GatewayParts
  let admin: AdminAPI
  let handler: GatewayHandler
  let meters: Meters
  let faults = FaultTable()
  private let clock: FuzzClock
  private let store: SQLiteStore
  /// The placeholders for an input, such as `{token}`, with their values.
  private(set) var names: [(name: [UInt8], value: [UInt8])] = []

  init() throws {
    let (folder, clock) = (try FuzzFolder(), FuzzClock(FuzzGateway.start))
    (self.folder, self.clock) = (folder, clock)
    context = LoopContext(eventLoop: loop)
    let store = try SQLiteStore(path: folder.file("push.sqlite"), durability: .normal)
    self.store = store
    let log = DeliveryLog(path: folder.file("log.sqlite"), retention: 86_400, logger: .trap)
    let mailbox = FuzzMailbox(
      cap: 50, now: { clock.seconds },
      removed: { removals in log.append(removals.map { $0.event(at: clock.seconds * 1000) }) })
    let backend = GatewayBackend(
      registrations: try SQLiteRegistrations(store: store), mailbox: mailbox, router: DeviceStreamRegistry(),
      durability: .localDisk(.normal), close: {})
    var configuration = Configuration.defaults
    configuration.state = folder.path
    parts = try GatewayParts(
      configuration, backend: backend, store: store, log: log, clock: clock.wallClock, logger: .trap)
    try parts.connect()
    meters = Meters(
      parts, faults: faults, transportLimits: LimitLog(logger: .silent), folder: StateFolder(folder.path))
    admin = AdminAPI(
      parts, status: { GatewayStatus(listening: [], environment: "", started: "", pid: 0) },
      backup: { _ in throw StoreError("none here") },
      certificates: CertificatesAPI(
        registrations: backend.registrations, clock: clock.wallClock, cluster: nil, folder: StateFolder(folder.path),
        reload: {}),
      faults: FaultsAPI(faults, clock: clock.wallClock, logger: .silent),
      metrics: MetricsAPI(meters: meters))
    handler = GatewayHandler(
      loop: context, parts: parts, tokens: ProviderTokenCache(registrations: backend.registrations),
      faults: faults, admin: admin, limits: LimitLog(logger: .silent), logger: .trap)
    try furnish()
  }

  deinit {
    parts.log.close()
    // Tasks of the gateway may still read, and `close` waits for them.
    SerialTasks.run(beside: { [store] in try? store.close() })
  }

  /// Registers an app, a provider's key, a device, a channel, a group, a sender of messages and two webhooks. The token of
  /// a sender is `pgs-` with its name.
  private func furnish() throws {
    let (parts, key) = (parts, try ES256Key.generate())
    let found = Mutex<[String: String]>([:])
    try SerialTasks.finish {
      let registrations = parts.registrations
      try await registrations.addTeam(FuzzGateway.team)
      try await registrations.addKey(
        ProviderKey(id: "ABC123DEFG", team: FuzzGateway.team, publicKey: key, environment: nil, topics: nil))
      let app = try await registrations.putApp(
        topic: FuzzGateway.topic, name: "News", icon: "N", policyMode: .enforce, isStrict: false, ads: .standard,
        team: nil)
      let (device, secret) = try await registrations.enroll(name: "laptop", person: nil, by: .anyPerson)
      let registration = try await registrations.register(
        device.id, topic: FuzzGateway.topic, environment: .development, expires: nil, now: 0)
      let channel = try await parts.channels.create(
        app: app.id, environment: .development, policy: .mostRecentMessage, now: FuzzGateway.start * 1000)[0]
      try await parts.channels.subscribe([device.id], to: channel)
      let group = try await parts.groups.add("ops", [device.person])
      let address = try await parts.groups.register(group, app: app.id, environment: .development)
      let hooks: [(name: String, hook: Hook?)] = [
        ("backup", nil), ("alerts", Hook(.alertmanager)), ("code", Hook(.github)),
      ]
      for (name, hook) in hooks {
        let sender = MessageSender(
          name: name, app: app.id, recipients: [.device(device.id), .group(group.id)],
          rate: Limits.maximumMessageRate, created: 1, combine: hook == nil ? 600 : nil, hook: hook)
        try await parts.messages.senders.add(sender, token: "pgs-" + name)
      }
      found.withLock {
        $0 = [
          "token": registration.token.hex, "secret": secret, "channel": "\(channel)", "group": address.token.hex,
        ]
      }
    }
    let head = [#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"TEAM000001","iat":\#(FuzzGateway.start)}"#]
      .map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
    let signature = Base64URL.encode(try key.signature(of: Array(head.utf8)))
    found.withLock { $0["jwt"] = head + "." + signature }
    names = found.withLock { $0 }.map { (Array("{\($0)}".utf8), Array($1.utf8)) }
  }

  /// Replaces the placeholders in an input by the values of this gateway.
  func filled(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var filled: [UInt8] = []
    var rest = Array(bytes)[...]
    while let place = rest.firstIndex(of: UInt8(ascii: "{")) {
      filled += rest[..<place]
      rest = rest[place...]
      let found = names.first { rest.starts(with: $0.name) }
      filled += found?.value ?? [UInt8(ascii: "{")]
      rest = rest.dropFirst(found?.name.count ?? 1)
    }
    return filled + rest
  }

  /// Connects a peer, lets `body` send bytes, and closes the connection.
  func connect(_ options: ConnectionOptions, _ body: (FuzzPeer) throws -> Void) throws {
    let peer = try FuzzPeer(self, options)
    try body(peer)
    try peer.close()
    faults.clear()
    // Long enough for all timers of the connection.
    loop.advanceTime(by: .seconds(60))
    settle()
    precondition(context.connections.isEmpty, "a connection that is over stays")
  }

  /// Advances the clock by half a minute, and delivers the scheduled pushes that are due then.
  func deliverScheduled() throws {
    clock.advance(seconds: 30)
    let (parts, clock) = (parts, clock)
    try SerialTasks.finish {
      let deliver = DeliverScheduled(
        scheduled: parts.schedule.pushes, groups: parts.groups, registrations: parts.registrations,
        mailbox: parts.mailbox, router: parts.router, log: parts.log, clock: clock.wallClock,
        rates: parts.senderRates)
      let outcome = await deliver()
      precondition(outcome == .done, "scheduled pushes stay: \(outcome)")
    }
    settle()
    // Zero means that the first time is not known yet.
    let next = parts.schedule.pushes.next ?? 0
    precondition(next == 0 || next > clock.seconds * 1000, "a scheduled push is late")
  }

  /// Sets the clock to the time at which it began.
  func resetClock() { clock.set(FuzzGateway.start) }

  /// Waits until all scheduled pushes and recipients of groups are on disk, and sends their answers.
  func settleStorage() {
    let (pushes, groups) = (parts.schedule.pushes, parts.groups)
    try? SerialTasks.finish {
      await pushes.settle()
      await groups.settle()
    }
    settle()
  }

  /// Runs all work that can be done without waiting.
  func settle() {
    repeat { loop.run() } while SerialTasks.run()
  }
}

/// The peer of a connection to a ``FuzzGateway``. It sends bytes.
final class FuzzPeer {
  let connection: Connection
  private let gateway: FuzzGateway
  private let channel: EmbeddedChannel
  private var lastStream: UInt32 = 1

  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

  fileprivate init(_ gateway: FuzzGateway, _ options: ConnectionOptions) throws {
    self.gateway = gateway
    connection = try Connection(
      role: .server, loop: gateway.context, tls: nil, peer: options.peer ?? .remote, options: options)
    ServerSide.attach(to: connection, handler: gateway.handler)
    channel = EmbeddedChannel(handler: connection, loop: gateway.loop)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
  }

  /// Sends bytes and returns when the gateway has no more work for them.
  func send(_ bytes: [UInt8]) throws {
    guard channel.isActive else { return }
    try channel.writeInbound(ByteBuffer(bytes: bytes))
    settle()
  }

  private func settle() {
    gateway.settle()
    // Operations of the disk end on other threads.
    while connection.runningRequests > 0 {
      if !SerialTasks.run() { SerialTasks.wait() }
      gateway.settle()
    }
    gateway.settleStorage()
    while let buffer = try? channel.readOutbound(as: ByteBuffer.self) { _ = buffer }
    precondition(connection.session.brokenInvariant() == nil, connection.session.brokenInvariant() ?? "")
  }

  /// Advances the clock of the loop.
  func wait(_ time: TimeAmount) {
    gateway.loop.advanceTime(by: time)
    settle()
  }

  fileprivate func close() throws {
    settle()
    // `finish()` would also end the timers of the gateway's loop.
    channel.close(promise: nil)
    settle()
  }

  // MARK: Frames

  /// Returns the number of the next stream that a client may open.
  func nextStream() -> UInt32 {
    defer { lastStream += 2 }
    return lastStream
  }

  /// Returns a frame (RFC 9113 §4.1).
  static func frame(_ kind: UInt8, flags: UInt8, stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
    let size = payload.count
    return [UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255), kind, flags]
      + (0..<4).map { UInt8(stream >> (24 - 8 * UInt32($0)) & 255) } + payload
  }

  /// Returns a field in HPACK: a literal without indexing and without Huffman coding (RFC 7541 §6.2.2).
  static func field(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] { [0] + literal(name) + literal(value) }

  private static func literal(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
    var (rest, size) = (bytes.count - 127, [UInt8(127)])
    while rest >= 128 {
      size.append(UInt8(rest & 127 | 128))
      rest >>= 7
    }
    return size + [UInt8(rest)] + bytes
  }
}

/// A clock that only the test advances.
final class FuzzClock: Sendable {
  private let time: Atomic<Int64>

  init(_ seconds: Int64) { time = Atomic(seconds * 1000) }

  func set(_ seconds: Int64) { time.store(seconds * 1000, ordering: .relaxed) }
  func advance(seconds: Int64) { time.add(seconds * 1000, ordering: .relaxed) }

  var seconds: Int64 { time.load(ordering: .relaxed) / 1000 }
  var wallClock: WallClock { WallClock { self.time.load(ordering: .relaxed) } }
}

extension Logger {
  /// Discards all messages.
  static let silent = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
  /// Traps on a message at the level `error`: only a fault of the gateway causes one, such as an answer 500.
  static let trap = Logger(label: "fuzz") { _ in TrappingLog() }
}

/// See ``Logging/Logger/trap``.
private struct TrappingLog: LogHandler {
  var metadata = Logger.Metadata()
  var logLevel = Logger.Level.error

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    preconditionFailure("the gateway logs an error: \(event.message)")
  }
}
