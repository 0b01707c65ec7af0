import NIOCore
import NIOEmbedded
import PushPolicy
import PushTesting
import Testing

@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The effect of a fault on a request and its connection, without a socket.
@Suite struct FaultInjectorTests {
  let table = FaultTable()
  let clock = TestClock()
  let handler = StubHandler()
  let log: DeliveryLog
  let folder: TemporaryFolder
  let injector: FaultInjector
  let seen = Seen()

  /// The outcomes of the requests.
  final class Seen {
    var served = 0
    var refused: [Rejection] = []
    var answered: [Int] = []
  }

  init() throws {
    folder = try TemporaryFolder()
    log = DeliveryLog(path: folder.file("log.sqlite"), retention: 86_400, logger: .silent)
    let registrations = MemoryRegistrations()
    let (seen, now) = (seen, clock.wallClock)
    injector = FaultInjector(
      faults: table, log: log, registrations: registrations,
      unregister: { try await registrations.unregister($0, topic: $1, now: now.milliseconds()) },
      clock: clock.wallClock, logger: .silent,
      serve: { exchange in
        seen.served += 1
        exchange.respond(HeaderFields(status: 200), body: EmptyCollection())
      },
      refuse: { exchange, rejection in
        seen.refused.append(rejection)
        exchange.respond(HeaderFields(status: rejection.status), body: EmptyCollection())
      },
      answer: { exchange, status in
        seen.answered.append(status)
        exchange.respond(HeaderFields(status: status), body: EmptyCollection())
      })
    handler.onRequest = { [injector] exchange in
      if !injector.intercept(exchange) { exchange.respond(HeaderFields(status: 204), body: EmptyCollection()) }
    }
  }

  func set(_ change: (inout FaultRule) -> Void) throws {
    var rule = FaultRule(name: "fault")
    change(&rule)
    try table.set([Fault(rule)], now: clock.seconds * 1000)
  }

  func pair() throws -> ConnectionPair {
    let pair = try ConnectionPair(handler)
    table.onClear { _ in }
    return pair
  }

  @Test func `without a fault that fits, a request goes its way and nothing stands between`() throws {
    let pair = try pair()
    try set { ($0.app, $0.reset) = ("com.example.other", "CANCEL") }
    let stream = try pair.request()
    #expect(pair.statuses == [stream: "204"])
    #expect(pair.connection.interceptor == nil)
  }

  @Test func `a reason is refused with its status, or with another`() throws {
    let pair = try pair()
    try set { $0.reason = "TooManyRequests" }
    try pair.request()
    try set { ($0.reason, $0.status) = ("Unregistered", 410) }
    try pair.request()
    try set { ($0.reason, $0.status) = ("BadTopic", 500) }
    try pair.request()
    #expect(seen.refused.map(\.reason) == [.tooManyRequests, .unregistered, .badTopic])
    #expect(seen.refused.map(\.status) == [429, 410, 500])
    #expect(seen.refused.map(\.timestamp) == [nil, clock.seconds * 1000, nil])
  }

  @Test func `an answer with a reason can have retry-after`() throws {
    let pair = try pair()
    try set { ($0.reason, $0.retryAfter) = ("ServiceUnavailable", 5) }
    try pair.request()
    try set { ($0.throttle, $0.retryAfter) = (0, 7) }
    try pair.request()
    #expect(seen.refused.map(\.retryAfter) == [5, 7])
    #expect(throws: FaultError.self) { try set { ($0.status, $0.retryAfter) = (503, 5) } }
    #expect(throws: FaultError.self) { try set { ($0.reason, $0.retryAfter) = ("ServiceUnavailable", 0) } }
  }

  @Test func `a status alone is answered without a reason`() throws {
    let pair = try pair()
    try set { $0.status = 502 }
    let stream = try pair.request()
    #expect(seen.answered == [502] && seen.refused.isEmpty)
    #expect(pair.statuses == [stream: "502"])
  }

  @Test func `a throttle refuses what is beyond it in a second`() throws {
    let pair = try pair()
    try set { $0.throttle = 2 }
    for _ in 0..<4 { try pair.request() }
    #expect(pair.statuses.values.sorted() == ["204", "204", "429", "429"])
    #expect(seen.refused.map(\.reason) == [.tooManyRequests, .tooManyRequests])
  }

  @Test func `a delay serves later, unless the stream is over by then`() throws {
    let pair = try pair()
    try set { $0.delay = 0.25 }
    let (kept, lost) = (try pair.request(), try pair.request())
    pair.client.session.reset(try #require(pair.client.session.stream(lost)), code: 8)
    try pair.wait(.milliseconds(249))
    #expect(seen.served == 0)
    try pair.wait(.milliseconds(1))
    #expect(seen.served == 1)
    #expect(pair.statuses == [kept: "200"])
  }

  @Test func `a reset ends the stream with its code`() throws {
    let pair = try pair()
    try set { $0.reset = "ENHANCE_YOUR_CALM" }
    let stream = try pair.request()
    #expect(pair.client.closings[stream] == 11)
    #expect(pair.channel.isActive)
  }

  @Test func `GOAWAY comes with its reason and no answer, then the connection closes`() throws {
    let pair = try pair()
    try set { $0.goaway = "Shutdown" }
    try pair.request()
    #expect(pair.client.goAways.map { String(decoding: $0.debugData, as: UTF8.self) } == [#"{"reason":"Shutdown"}"#])
    #expect(pair.statuses.isEmpty)
    try pair.wait(.milliseconds(100))
    #expect(!pair.channel.isActive)
  }

  @Test func `a drop closes at once`() throws {
    let pair = try pair()
    try set { $0.drop = true }
    try pair.request()
    #expect(!pair.channel.isActive)
    #expect(pair.statuses.isEmpty && pair.client.goAways.isEmpty)
  }

  @Test func `a half-open connection neither reads nor writes, and ends at once when the gateway stops`() throws {
    let pair = try pair()
    try set { ($0.halfOpen, $0.count) = (true, 1) }
    try pair.request()
    try pair.request()
    pair.connection.session.ping()
    pair.connection.setNeedsFlush()
    try pair.wait(.seconds(60))
    #expect(pair.statuses.isEmpty && pair.frames.isEmpty)
    #expect(pair.channel.isActive)
    pair.connection.drain()
    try pair.run()
    #expect(!pair.channel.isActive)
  }

  @Test func `credit and streams are kept back until the fault ends, and the request is served`() throws {
    let pair = try pair()
    try set { ($0.stall, $0.app, $0.seconds) = (true, nil, 2) }
    FaultInjector.inject(pair.connection, faults: table, now: clock.seconds * 1000, logger: .silent)
    try pair.run()
    #expect(pair.announced(4) == [0])
    try pair.wait(.seconds(2))
    #expect(pair.announced(4) == [0, Limits.streamWindowSize])
    #expect(pair.connection.interceptor == nil, "nothing stands between any longer")
  }

  @Test func `the smallest stream limit of several faults holds, and what an API allows waits for their end`() throws {
    let pair = try ConnectionPair(handler, options: ConnectionOptions(initialStreams: 1))
    let faults = ConnectionFaults.of(pair.connection)
    faults.add(.init(fault: 1, streams: 5))
    faults.add(.init(fault: 2, streams: 3))
    faults.add(.init(fault: 2, streams: 3))
    pair.connection.allowAllStreams()
    try pair.run()
    #expect(pair.announced(3) == [5, 3])
    ConnectionFaults.end([2], on: pair.connection)
    ConnectionFaults.end([1], on: pair.connection)
    try pair.run()
    #expect(pair.announced(3) == [5, 3, 5, Limits.maximumConcurrentStreams])
    #expect(pair.connection.interceptor == nil)
  }

  @Test func `what struck is in the delivery log`() async throws {
    try set { $0.status = 502 }
    try pair().request()
    let rows = try await log.rows(.init())
    #expect(rows.map(\.row.event) == [.fault])
    #expect(rows.map(\.row.detail.words) == ["fault: 502"])
  }
}
