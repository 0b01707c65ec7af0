import Foundation
import GatewayProtocol
import PushCore
import PushPolicy
import Queues
import Synchronization
import Testing

@testable import GatewayClient

/// A device's session with a scripted gateway: no socket, and no real time passes.
@Suite(.timeLimit(.minutes(5))) struct DeviceSessionTests {
  /// A link that records the lines and requests of a session and sends the lines that the test gives.
  final class ScriptedLink: DeviceLink {
    let lines: AsyncThrowingStream<[UInt8], any Error>
    private let speaker: AsyncThrowingStream<[UInt8], any Error>.Continuation
    private let deviceLines: AsyncStream<String>
    private let deviceLinesInput: AsyncStream<String>.Continuation
    private let state = Mutex((taken: 0, isClosed: false, posts: [(path: String, body: String)]()))
    private let answer: Client.Answer
    private let end: End

    /// The reaction of the gateway when the device has ended its side.
    enum End {
      case goodbye, loss, nothing
    }

    /// - Parameter answer: The answer to every request other than the stream.
    init(answer: Client.Answer = Client.Answer(status: 200, body: []), end: End = .goodbye) {
      self.end = end
      (lines, speaker) = AsyncThrowingStream.makeStream()
      (deviceLines, deviceLinesInput) = AsyncStream.makeStream()
      self.answer = answer
    }

    func taken(_ size: Int) { state.withLock { $0.taken += size } }
    func send(_ line: String) { deviceLinesInput.yield(line) }
    func close() { state.withLock { $0.isClosed = true } }
    func post(_ path: String, _ body: [UInt8]) async throws -> Client.Answer {
      state.withLock { $0.posts.append((path, String(decoding: body, as: UTF8.self))) }
      return answer
    }
    func get(_ path: String) async throws -> Client.Answer {
      state.withLock { $0.posts.append((path, "")) }
      return answer
    }

    /// The device has ended its side of the stream. The gateway reacts as in `end`.
    func finish() {
      deviceLinesInput.finish()
      switch end {
      case .goodbye:
        say(#"{"type":"bye","reason":"goodbye"}"#)
        speaker.finish()
      case .loss: lose()
      case .nothing: break
      }
    }

    // MARK: For tests

    var takenSize: Int { state.withLock { $0.taken } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var posts: [(path: String, body: String)] { state.withLock { $0.posts } }

    func say(_ lines: String...) { speaker.yield(Array(lines.map { $0 + "\n" }.joined().utf8)) }
    func hangUp() {
      deviceLinesInput.finish()
      speaker.finish()
    }
    func lose() { speaker.finish(throwing: ClientError(.unreachable, "the connection was lost")) }

    /// Returns the next line of the device, or nil when the device has ended its side.
    func nextLine() async -> String? {
      var iterator = deviceLines.makeAsyncIterator()
      return await iterator.next()
    }
  }

  /// Returns one link or failure per connection attempt, and records the pauses between attempts.
  final class ScriptedGateway: Sendable {
    private let attempts: Mutex<[Result<ScriptedLink, ClientError>]>
    private let never = AsyncStream<Void>.makeStream()
    let pauses = Mutex<[Duration]>([])
    /// The ports of all connection attempts.
    let tried = Mutex<[Int]>([])
    let remembered = Mutex<[[GatewayAddress]]>([])

    init(_ attempts: [Result<ScriptedLink, ClientError>]) { self.attempts = Mutex(attempts) }

    func connect(_ address: GatewayAddress) async throws -> any DeviceLink {
      tried.withLock { $0.append(address.port) }
      let next = attempts.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      guard let next else {
        // The script has ended: the connection attempt stays pending.
        for await _ in never.stream {}
        throw ClientError(.unreachable, "the test is over")
      }
      return try next.get()
    }
  }

  let folder = StateFolder(FileManager.default.temporaryDirectory.path + "/pg-session-\(UUID())")

  func run(
    _ attempts: [Result<ScriptedLink, ClientError>], focus: String? = nil, ports: [Int] = [1], reported: [Int] = [],
    _ body: (DeviceSession, Events, ScriptedGateway) async throws -> Void
  ) async throws {
    try FileManager.default.createDirectory(atPath: folder.devicesPath, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    let gateway = ScriptedGateway(attempts)
    let session = try self.session(gateway, focus: focus, ports: ports, reported: reported)
    try await body(session, Events(session.events()), gateway)
    session.finish()
  }

  func session(
    _ gateway: ScriptedGateway, focus: String? = nil, ports: [Int] = [1], reported: [Int] = []
  ) throws -> DeviceSession {
    let gateways = DeviceGateways(
      addresses: { Self.addresses(ports) }, remembered: Self.addresses(reported),
      remember: { addresses in gateway.remembered.withLock { $0.append(addresses) } },
      endpoint: { .tls(host: $0.host, port: $0.port, trustPath: "") })
    return try DeviceSession(
      name: "laptop", folder: folder, gateways: gateways, focus: focus, generator: Lowest(),
      sleep: { pause in gateway.pauses.withLock { $0.append(pause) } }, connect: { try await gateway.connect($0) })
  }

  static func addresses(_ ports: [Int]) -> [GatewayAddress] {
    ports.map { GatewayAddress(host: "g", port: $0) }
  }

  /// A generator that selects the first element. Its value is 1: the standard library rejects 0 for ever where 0 would
  /// be biased.
  private struct Lowest: RandomNumberGenerator {
    func next() -> UInt64 { 1 }
  }

  /// A reader that returns events one by one.
  final class Events {
    private let queue: DeviceEvents
    private var waiting: [DeviceEvent] = []
    init(_ queue: DeviceEvents) { self.queue = queue }

    func next() async -> DeviceEvent? {
      while waiting.isEmpty {
        guard let events = await queue.take() else { return nil }
        waiting = events.filter { !Events.isAttempt($0) }
      }
      return waiting.removeFirst()
    }

    private static func isAttempt(_ event: DeviceEvent) -> Bool { if case .connecting = event { true } else { false } }

    /// Returns the sequence numbers of the next event, which must be one with pushes.
    func pushes() async -> [UInt64] {
      guard case .pushes(let batch)? = await next() else {
        Issue.record("pushes are expected")
        return []
      }
      return batch.lines.map(\.seq)
    }

    func skip(_ count: Int) async { for _ in 0..<count { _ = await next() } }
  }

  static let welcome = #"{"type":"welcome","version":3,"gateway":"g","apps":[],"preferences":{}}"#

  func push(_ seq: UInt64) -> String { #"{"type":"push","seq":\#(seq),"id":"x","topic":"t","payload":{}}"# }

  static func hello(_ cursor: UInt64) -> String {
    #"{"type":"hello","version":3,"cursor":\#(cursor),"silent":false}"#
  }

  @Test(
    arguments: [
      welcome, #"{"type":"welcome","gateway":"g","apps":[],"preferences":{}}"#,
      #"{"type":"welcome","version":900,"gateway":"g","later":[{}],"apps":[],"preferences":{}}"#,
    ])
  func `a gateway of any version is accepted, and gets the number that is stored here`(_ welcome: String) async throws {
    let link = ScriptedLink()
    try await run([.success(link)]) { session, events, _ in
      #expect(await link.nextLine() == Self.hello(0))
      link.say(welcome, #"{"type":"later"}"#, push(1), push(2), #"{"type":"caught-up","seq":2}"#)
      guard case .connected("g", _)? = await events.next(), case .apps? = await events.next(),
        case .preferences? = await events.next()
      else {
        Issue.record("a welcome is expected")
        return
      }
      #expect(await events.pushes() == [1, 2])
      try session.store(2)
      #expect(session.cursorValue == 2)
      try session.acknowledge(2)
      #expect(await link.nextLine() == #"{"type":"ack","seq":2}"#)
    }
  }

  @Test func `a connection that is lost is made again, from where the device is, and no push comes twice`() async throws
  {
    let (first, second) = (ScriptedLink(), ScriptedLink())
    let failure = ClientError(.unreachable, "nothing answers")
    try await run([.success(first), .failure(failure), .success(second)]) { session, events, gateway in
      first.say(Self.welcome, push(1), push(2))
      await events.skip(3)
      #expect(await events.pushes() == [1, 2])
      try session.store(1)
      first.lose()
      guard case .disconnected("the connection was lost", let pause)? = await events.next(),
        case .disconnected("nothing answers", let other)? = await events.next()
      else {
        Issue.record("both failures are expected")
        return
      }
      #expect(await second.nextLine() == Self.hello(1))
      #expect(gateway.pauses.withLock { $0 } == [pause, other])
      #expect(first.isClosed && !second.isClosed && !session.isRefused)
      // The receiver already has push 2 and is storing it.
      second.say(Self.welcome, push(2), push(3))
      await events.skip(3)
      #expect(await events.pushes() == [3])
    }
  }

  @Test func `while no gateway has been reached since the beginning, the session says why`() async throws {
    let link = ScriptedLink()
    try await run([.failure(ClientError(.unreachable, "nothing answers")), .success(link)]) { session, events, _ in
      #expect(session.beginningFailure == nil)
      _ = await events.next()
      #expect(session.beginningFailure.map { "\($0)" } == "nothing answers")
      link.say(Self.welcome, push(1))
      await events.skip(3)
      _ = await events.pushes()
      #expect(session.beginningFailure == nil)
      link.lose()
      _ = await events.next()
      #expect(session.beginningFailure == nil)
    }
  }

  @Test func `a receiver that has more than the cursor says so`() async throws {
    let link = ScriptedLink()
    try await run([.success(link)]) { session, events, _ in
      try session.resume(after: NumberedPosition(epoch: nil, seq: 5))
      _ = await link.nextLine()
      link.say(Self.welcome, push(4), push(5), push(6))
      await events.skip(3)
      #expect(await events.pushes() == [6])
    }
  }

  @Test func `a gateway that does not know the device has refused it, in words for the person`() async throws {
    let attempts: [Result<ScriptedLink, ClientError>] = [.failure(ClientError(.refused(status: 401), "who?"))]
    try await run(attempts) { session, events, _ in
      guard case .disconnected(let reason, _)? = await events.next() else {
        Issue.record("a refusal is expected")
        return
      }
      #expect(session.isRefused && reason.contains("enroll it again"))
    }
  }

  @Test(arguments: [ClientError.Kind.untrusted, .misconfigured])
  func `a gateway that can't be trusted is tried once, unless it was trusted before`(_ kind: ClientError.Kind)
    async throws
  {
    let failure = Result<ScriptedLink, ClientError>.failure(ClientError(kind, "who is this?"))
    try await run([failure, failure]) { session, events, _ in
      guard case .disconnected("who is this?", _)? = await events.next() else {
        Issue.record("a disconnection is expected")
        return
      }
      #expect(await events.next() == nil)
      #expect(session.permanentFailure?.description == "who is this?")
    }
    let link = ScriptedLink()
    try await run([.success(link)] + Array(repeating: failure, count: 3)) { session, events, _ in
      _ = await link.nextLine()
      link.say(Self.welcome)
      link.hangUp()
      await events.skip(3)
      for _ in 0..<3 { await events.skip(1) }
      #expect(!session.isRefused)
    }
  }

  @Test func `a device that was revoked looks for its new secret a few times, and then no more`() async throws {
    let refusal = Result<ScriptedLink, ClientError>.failure(ClientError(.refused(status: 401), "who?"))
    let (first, second) = (ScriptedLink(), ScriptedLink())
    let attempts = [.success(first), refusal, .success(second)] + Array(repeating: refusal, count: 10)
    try await run(attempts) { session, events, gateway in
      for (link, refusals) in [(first, 1), (second, DeviceSession.revokedAttempts)] {
        _ = await link.nextLine()
        link.say(Self.welcome, #"{"type":"bye","reason":"revoked"}"#)
        link.hangUp()
        await events.skip(3)
        for number in 0...refusals {
          guard case .disconnected(let reason, _)? = await events.next() else {
            Issue.record("a disconnection is expected")
            return
          }
          #expect(reason.contains(number == 0 ? "revoked" : "does not know this device"))
        }
      }
      // The session has ended: there is no further attempt.
      #expect(session.isRefused)
      #expect(await events.next() == nil)
      #expect(gateway.pauses.withLock { $0.count } == 2 + DeviceSession.revokedAttempts)
    }
  }

  @Test func `a push that can't be read is reported to the gateway and the receiver, once`() async throws {
    let link = ScriptedLink()
    try await run([.success(link)]) { _, events, _ in
      _ = await link.nextLine()
      let broken = #"{"type":"push","seq":1,"id":5}"#
      link.say(broken, push(2), broken)
      guard case .unreadable(1)? = await events.next() else {
        Issue.record("a push that can't be read is expected")
        return
      }
      #expect(await events.pushes() == [2])
      link.say(broken, push(3))
      #expect(await events.pushes() == [3])
      #expect(await link.nextLine() == #"{"type":"undeliverable","seq":1}"#)
      link.hangUp()
      // The device sent no other line.
      #expect(await link.nextLine() == nil)
    }
  }

  @Test func `a broadcast is shown once and acknowledged each time`() async throws {
    let link = ScriptedLink()
    let channel = ChannelID.random()
    try await run([.success(link)]) { _, events, _ in
      _ = await link.nextLine()
      let line =
        #"{"type":"push","seq":0,"channel":"\#(channel)","number":4,"id":"x","topic":"t","payload":{}}"#
      link.say(line, push(1))
      #expect(await events.pushes() == [0, 1])
      link.say(line)
      link.say(push(2))
      #expect(await events.pushes() == [2])
      let acknowledgement = DeviceLine.acknowledgeBroadcast(channel, number: 4).text
      #expect(await link.nextLine() == acknowledgement)
      #expect(await link.nextLine() == acknowledgement)
    }
  }

  /// `subscribe --count` ends the stream with the last push: a later acknowledgement would be lost.
  @Test func `a broadcast is acknowledged before the receiver takes it`() async throws {
    let link = ScriptedLink()
    let channel = ChannelID.random()
    try await run([.success(link)]) { _, events, _ in
      _ = await link.nextLine()
      // The event fills the queue: the next push is delivered only when the receiver has taken this event.
      let long = String(repeating: "x", count: DeviceEvents.maximumSize)
      link.say(#"{"type":"push","seq":1,"id":"x","topic":"t","payload":{"text":"\#(long)"}}"#)
      link.say(#"{"type":"push","seq":0,"channel":"\#(channel)","number":4,"id":"x","topic":"t","payload":{}}"#)
      #expect(await link.nextLine() == DeviceLine.acknowledgeBroadcast(channel, number: 4).text)
      #expect(await events.pushes() == [1])
      #expect(await events.pushes() == [0])
    }
  }

  @Test func `how the device is set is reported now and at every reconnect`() async throws {
    let (first, second) = (ScriptedLink(), ScriptedLink())
    try await run([.success(first), .success(second)], focus: "work") { session, events, _ in
      #expect(await first.nextLine() == #"{"type":"hello","version":3,"cursor":0,"silent":false,"focus":"work"}"#)
      session.set(silent: true, focus: "sl\"eep")
      #expect(await first.nextLine() == #"{"type":"state","silent":true,"focus":"sl\"eep"}"#)
      first.lose()
      await events.skip(1)
      #expect(await second.nextLine() == #"{"type":"hello","version":3,"cursor":0,"silent":true,"focus":"sl\"eep"}"#)
    }
  }

  @Test(arguments: [(2, false), (3, true)])
  func `a gateway of this version says when it has an answer, an earlier one never`(
    _ version: Int, _ isConfirmed: Bool
  ) async throws {
    let link = ScriptedLink()
    let id = "00000000-0000-4000-8000-00000000000A"
    try await run([.success(link)]) { session, events, _ in
      _ = await link.nextLine()
      #expect(!session.answer("no id", "view"))
      link.say(#"{"type":"welcome","version":\#(version),"gateway":"g","apps":[]}"#)
      guard case .connected("g", version)? = await events.next(), case .apps? = await events.next() else {
        Issue.record("a welcome is expected")
        return
      }
      #expect(session.answer(id, "view") == isConfirmed)
      #expect(await link.nextLine() == #"{"type":"answer","id":"\#(id)","action":"view"}"#)
      link.say(#"{"type":"answered","id":"\#(id)","action":"close"}"#)
      guard case .answered(id, "close")? = await events.next() else {
        Issue.record("the answer that counts is expected")
        return
      }
    }
  }

  @Test func `what the person does is reported with the push's id`() async throws {
    let link = ScriptedLink()
    let id = "00000000-0000-4000-8000-00000000000A"
    try await run([.success(link)]) { session, _, _ in
      _ = await link.nextLine()
      session.presented(id, [.badge, .alert])
      _ = session.answer(id, "view")
      #expect(await link.nextLine() == #"{"type":"presented","id":"\#(id)","parts":["badge","alert"]}"#)
      #expect(await link.nextLine() == #"{"type":"answer","id":"\#(id)","action":"view"}"#)
    }
  }

  @Test func `what was read is said to be taken, so that the gateway goes on`() async throws {
    let link = ScriptedLink()
    try await run([.success(link)]) { _, events, _ in
      link.say(push(1))
      link.say(push(2))
      #expect(await events.pushes() == [1])
      #expect(await events.pushes() == [2])
      link.say(push(3))
      _ = await events.pushes()
      // A push is reported as taken after its event is queued: push 3 may not be reported yet, but 1 and 2 are.
      #expect(link.takenSize >= push(1).utf8.count + push(2).utf8.count + 2)
    }
  }

  @Test func `choices go to the gateway, whose refusal is reported in its words`() async throws {
    let problem = Array(#"{"status":400,"title":"Bad Request","detail":"there is no time zone Mars"}"#.utf8)
    let link = ScriptedLink(answer: Client.Answer(status: 400, body: problem))
    try await run([.success(link)]) { session, _, _ in
      _ = await link.nextLine()
      let error = await #expect(throws: ClientError.self) {
        try await session.change(PreferencesRequest(settings: ["quiet=22-7 Mars"], app: nil, category: nil))
      }
      #expect(error?.description == "there is no time zone Mars")
      #expect(link.posts.map(\.path) == ["/v1/device/preferences"])
      #expect(link.posts.first?.body.contains("quiet=22-7 Mars") == true)
    }
    try await run([]) { session, _, _ in
      let error = await #expect(throws: ClientError.self) {
        try await session.report(AdReportRequest(id: "x", topic: "t", text: nil))
      }
      #expect(error?.description == "not connected: it can't be reported now")
    }
  }

  @Test func `leaving says what is stored, ends the stream and comes to an end`() async throws {
    let link = ScriptedLink()
    try await run([.success(link)]) { session, events, gateway in
      _ = await link.nextLine()
      link.say(Self.welcome, push(1))
      await events.skip(3)
      #expect(await events.pushes() == [1])
      session.sendAcknowledgement(1)
      session.finish()
      #expect(await link.nextLine() == #"{"type":"ack","seq":1}"#)
      #expect(await link.nextLine() == nil)
      #expect(await events.next() == nil)
      #expect(gateway.pauses.withLock { $0.isEmpty })
    }
  }

  @Test(arguments: zip([ScriptedLink.End.goodbye, .loss, .nothing], [true, false, false]))
  func `leaving waits until the gateway has read the last acknowledgement`(
    _ end: ScriptedLink.End, _ isConfirmed: Bool
  ) async throws {
    let link = ScriptedLink(end: end)
    try await run([.success(link)]) { session, events, _ in
      _ = await link.nextLine()
      link.say(Self.welcome, push(1))
      await events.skip(3)
      #expect(await events.pushes() == [1])
      session.sendAcknowledgement(1)
      session.finish()
      #expect(await link.nextLine() == #"{"type":"ack","seq":1}"#)
      // The end of the time limit, for which the test does not wait.
      if end == .nothing { session.giveUp() }
      #expect(await session.waitUntilFinished() == isConfirmed)
      #expect(await events.next() == nil)
      #expect(end != .nothing || link.isClosed)
    }
  }

  @Test func `an acknowledgement without a connection is not confirmed, and leaving waits for none`() async throws {
    let link = ScriptedLink()
    try await run([.success(link)]) { session, events, _ in
      _ = await link.nextLine()
      link.say(Self.welcome, push(1))
      await events.skip(3)
      #expect(await events.pushes() == [1])
      link.lose()
      guard case .disconnected? = await events.next() else {
        Issue.record("a disconnection is expected")
        return
      }
      session.sendAcknowledgement(1)
      session.finish()
      #expect(await session.waitUntilFinished() == false)
      #expect(await events.next() == nil)
    }
  }

  @Test func `the hello of the next connection confirms what was stored before`() async throws {
    let (first, second) = (ScriptedLink(), ScriptedLink(end: .loss))
    try await run([.success(first), .success(second)]) { session, events, _ in
      first.say(Self.welcome, push(1))
      await events.skip(3)
      #expect(await events.pushes() == [1])
      try session.store(1)
      try session.acknowledge(1)
      first.lose()
      await events.skip(1)
      #expect(await second.nextLine() == Self.hello(1))
      second.say(Self.welcome)
      await events.skip(3)
      session.finish()
      #expect(await session.waitUntilFinished())
    }
  }
}
