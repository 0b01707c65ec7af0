import HTTP2Transport
import Logging
import PushPolicy
import PushTesting
import Synchronization
import Testing

@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The requests to an event target, with a server that answers as the test says.
@Suite(.timeLimit(.minutes(5))) struct EventSenderTests {
  /// A server, which keeps the requests and has the answers of a test.
  private final class Server: Sendable {
    let requests = Mutex<[HTTPPost]>([])
    let answers = Mutex<[EventAnswer]>([])
    let disabled = Mutex<[String]>([])

    func answer(_ request: HTTPPost) throws -> EventAnswer {
      requests.withLock { $0.append(request) }
      let answer = answers.withLock { $0.isEmpty ? EventAnswer(status: 204) : $0.removeFirst() }
      if answer.status == 0 { throw EventError(description: "no server answers") }
      if answer.status == 1 { throw StoreError("the trusted certificates can't be read") }
      return answer
    }

    /// The numbers of the events of each request, and its id.
    var received: [(id: String?, events: [Int64])] {
      requests.withLock { $0 }.map { request in
        struct Body: Decodable {
          struct Events: Decodable { var events: [LogRecord] }
          var data: Events
        }
        let body = try? decodeJSON(Body.self, from: request.body)
        return (request.fields.first { $0.name == "webhook-id" }?.value, body?.data.events.map(\.number) ?? [])
      }
    }
  }

  private let target = EventTarget(
    name: "shop", url: "http://127.0.0.1:1/events", secret: WebhookSignature.makeSecret(), created: 0)

  private func sender(
    _ gateway: TestGateway, _ server: Server, _ target: EventTarget? = nil, logger: Logger = .silent
  ) -> EventSender {
    EventSender(
      target ?? self.target,
      EventSender.Parts(
        log: gateway.parts.log, queries: gateway.parts.logQueries, clock: gateway.clock.wallClock, logger: logger,
        meter: gateway.parts.events.meter, post: { request, _ in try server.answer(request) }, pause: { _ in },
        disable: { target in server.disabled.withLock { $0.append(target.name) } }))
  }

  private func write(_ numbers: Range<Int>, to gateway: TestGateway) async throws {
    gateway.parts.log.append(
      numbers.map { .init(at: gateway.clock.seconds * 1000, event: .stored, id: .number($0), device: nil, app: nil) })
    _ = try await gateway.parts.log.rows(.init(limit: 1))
  }

  @Test func `events are sent in batches, each once, with a signature`() async throws {
    try await TestGateway.run { gateway in
      let server = Server()
      let sender = sender(gateway, server)
      let first = await sender.step()
      #expect(first == .idle)
      try await write(0..<Limits.maximumEventBatch + 3, to: gateway)
      var steps = [await sender.step()]
      steps.append(await sender.step())
      steps.append(await sender.step())
      #expect(steps == [.more, .idle, .idle])
      #expect(server.received.map(\.events.count) == [Limits.maximumEventBatch, 3])
      #expect(Set(server.received.flatMap(\.events)).count == Limits.maximumEventBatch + 3)
      #expect(Set(server.received.map(\.id)).count == 2)
      let requests = server.requests.withLock { $0 }
      let request = try #require(requests.first)
      let fields = Dictionary(request.fields.map { ($0.name, $0.value) }) { first, _ in first }
      let signature = WebhookSignature.field(
        id: fields["webhook-id"] ?? "", timestamp: TestClock.start, body: request.body, secrets: [target.secret])
      #expect(fields["webhook-signature"] == signature)
      #expect(fields["webhook-timestamp"] == "\(TestClock.start)")
      let meter = gateway.parts.events.meter
      #expect(meter.delivered.total == 2 && meter.failed.total == 0)
      #expect(meter.events.total == UInt64(Limits.maximumEventBatch + 3))
    }
  }

  @Test func `a request that fails is sent again with its id and its events, after growing pauses`() async throws {
    try await TestGateway.run { gateway in
      let server = Server()
      let sender = sender(gateway, server)
      try await write(0..<2, to: gateway)
      server.answers.withLock { answers in
        answers = [
          EventAnswer(status: 503, retryAfter: "120"), EventAnswer(status: 0), EventAnswer(status: 500),
        ]
      }
      guard case .failed(let first) = await sender.step() else {
        Issue.record("503 is a failure")
        return
      }
      #expect(first == .seconds(120))
      gateway.clock.advance(seconds: Limits.lateEventTime + 1)
      // Events that are written meanwhile belong to a later request.
      try await write(2..<3, to: gateway)
      for _ in 0..<2 {
        guard case .failed(let pause) = await sender.step() else {
          Issue.record("no answer and 500 are failures")
          return
        }
        #expect(pause != .zero)
      }
      #expect(sender.current.oldest == TestClock.start * 1000)
      #expect(sender.current.error == "it answered 500")
      var steps = [await sender.step()]
      steps.append(await sender.step())
      #expect(steps == [.more, .idle])
      let received = server.received
      #expect(received.map(\.events.count) == [2, 2, 2, 2, 1])
      #expect(Set(received.prefix(4).map(\.id)).count == 1 && received[4].id != received[0].id)
      #expect(sender.current.oldest == nil && sender.current.error == nil)
      #expect(gateway.parts.events.meter.failed.total == 3)
    }
  }

  @Test func `an error of the delivery log is none of the target, and the events are sent later`() async throws {
    try await TestGateway.run { gateway in
      let (server, lines) = (Server(), LimitLogTests.Lines())
      let sender = sender(gateway, server, logger: lines.logger)
      try await write(0..<1, to: gateway)
      let path = gateway.folder.file("log.sqlite")
      // The first step stores a position.
      try await RefusedWrites.begin("event_cursor", in: path)
      for _ in 0..<2 {
        guard case .failed(let pause) = await sender.step() else {
          Issue.record("no position can be stored")
          return
        }
        #expect(pause != .zero)
      }
      #expect(sender.current.error != nil && server.received.isEmpty)
      try await RefusedWrites.end("event_cursor", in: path)
      let step = await sender.step()
      #expect(step == .idle)
      #expect(server.received.map(\.events.count) == [1])
      #expect(sender.current.error == nil)
      #expect(gateway.parts.events.meter.failed.total == 0)
      #expect(lines.all == ["event=sending-delayed target=shop"])
    }
  }

  @Test func `each cause of a failure is logged once, and the end of a failure of the target`() async throws {
    try await TestGateway.run { gateway in
      let (server, lines) = (Server(), LimitLogTests.Lines())
      server.answers.withLock { $0 = [1, 1, 503, 1, 503].map { EventAnswer(status: $0) } }
      let sender = sender(gateway, server, logger: lines.logger)
      try await write(0..<1, to: gateway)
      _ = await sender.step()
      #expect(sender.current.oldest == TestClock.start * 1000)
      #expect(gateway.parts.events.meter.failed.total == 0)
      for _ in 0..<4 { _ = await sender.step() }
      #expect(gateway.parts.events.meter.failed.total == 2)
      #expect(sender.current.error == "it answered 503")
      // The request had been begun, so that the next step looks for further events.
      let step = await sender.step()
      #expect(step == .more)
      #expect(sender.current.error == nil && sender.current.oldest == nil)
      #expect(
        lines.all == [
          "event=sending-delayed target=shop", "event=event-target-failing target=shop",
          "event=sending-delayed target=shop", "event=event-target-back target=shop",
        ])
    }
  }

  @Test func `another sender continues a request that was begun, as after a restart`() async throws {
    try await TestGateway.run { gateway in
      let server = Server()
      server.answers.withLock { $0 = [EventAnswer(status: 0)] }
      try await write(0..<2, to: gateway)
      _ = await sender(gateway, server).step()
      try await write(2..<4, to: gateway)
      let next = sender(gateway, server)
      _ = await next.step()
      _ = await next.step()
      let received = server.received
      #expect(received.map(\.events.count) == [2, 2, 2])
      #expect(received[0].id == received[1].id && received[1].id != received[2].id)
    }
  }

  @Test func `410 disables the target, and its events stay unsent`() async throws {
    try await TestGateway.run { gateway in
      let server = Server()
      server.answers.withLock { $0 = [EventAnswer(status: 410)] }
      let sender = sender(gateway, server)
      try await write(0..<1, to: gateway)
      let step = await sender.step()
      #expect(step == .ended)
      #expect(server.disabled.withLock { $0 } == ["shop"])
      _ = await sender.step()
      #expect(server.received.map(\.events.count) == [1, 1])
    }
  }

  @Test func `a target gets the events of its apps and kinds only`() async throws {
    try await TestGateway.run { gateway in
      let (server, app) = (Server(), try gateway.registrations.app(topic: SampleRequest.topic).id)
      var target = target
      (target.apps, target.events) = ([app], [.expired])
      let sender = sender(gateway, server, target)
      for event in [DeliveryEvent.accepted, .expired] {
        for app in [app, nil] {
          gateway.parts.log.append([
            .init(at: gateway.clock.seconds * 1000, event: event, id: .number(1), device: nil, app: app)
          ])
        }
      }
      _ = try await gateway.parts.log.rows(.init(limit: 1))
      _ = await sender.step()
      #expect(server.received.map(\.events.count) == [1])
    }
  }

  @Test func `the task sends what is written while it waits, and ends when it is canceled`() async throws {
    try await TestGateway.run { gateway in
      let server = Server()
      let sender = sender(gateway, server)
      let work = Task { await sender.run() }
      try await write(0..<1, to: gateway)
      await eventually { server.received.count == 1 }
      try await write(1..<2, to: gateway)
      await eventually { server.received.count == 2 }
      work.cancel()
      await work.value
    }
  }

  @Test func `a stop returns after the end of each request`() async throws {
    try await TestGateway.run { gateway in
      let (begun, begin) = AsyncStream.makeStream(of: Void.self)
      // It ends with the task that reads it.
      let (endless, source) = AsyncStream.makeStream(of: Void.self)
      let isOver = Mutex(false)
      let targets = gateway.parts.events.targets
      // The gateway's own senders would send the event, too.
      await gateway.parts.events.stop()
      let senders = EventSenders(
        targets, log: gateway.parts.log, queries: gateway.parts.logQueries, clock: gateway.clock.wallClock,
        logger: .silent,
        post: { _, _ in
          begin.yield()
          for await _ in endless {}
          isOver.withLock { $0 = true }
          throw CancellationError()
        })
      try await targets.add(target)
      try await write(0..<1, to: gateway)
      await senders.start()
      for await _ in begun { break }
      await senders.stop()
      #expect(isOver.withLock { $0 })
      source.finish()
    }
  }

  @Test func `events are sent in the order of the delivery log, also after failures and by another sender`()
    async throws
  {
    try await TestGateway.run { gateway in
      let (server, size) = (Server(), Limits.maximumEventBatch)
      server.answers.withLock { $0 = [503, 204, 0].map { EventAnswer(status: $0) } }
      try await write(0..<size + 3, to: gateway)
      let first = sender(gateway, server)
      for _ in 0..<3 { _ = await first.step() }
      try await write(size + 3..<size + 5, to: gateway)
      let second = sender(gateway, server)
      for _ in 0..<2 { _ = await second.step() }
      let rows = try await gateway.parts.log.rows(.init(limit: 2 * size))
      #expect(rows.map(\.row.id) == (0..<size + 5).map { APNSID.number($0) })
      let numbers = rows.map(\.number)
      let batches = [numbers[..<size], numbers[size..<size + 3], numbers[(size + 3)...]].map { Array($0) }
      #expect(server.received.map(\.events) == [batches[0], batches[0], batches[1], batches[1], batches[2]])
    }
  }

  @Test func `the next request to a target that changes follows the end of the former one`() async throws {
    try await TestGateway.run { gateway in
      let (begun, begin) = AsyncStream.makeStream(of: Void.self)
      let (sent, send) = AsyncStream.makeStream(of: Void.self)
      let (seconds, second) = AsyncStream.makeStream(of: Bool.self)
      let (gate, open) = AsyncStream.makeStream(of: Void.self)
      let state = Mutex((hasBegun: false, isOver: false))
      let targets = gateway.parts.events.targets
      await gateway.parts.events.stop()
      let senders = EventSenders(
        targets, log: gateway.parts.log, queries: gateway.parts.logQueries, clock: gateway.clock.wallClock,
        logger: .silent,
        post: { _, target in
          if target.name == "other" {
            send.yield()
            return EventAnswer(status: 204)
          }
          let before = state.withLock { state in
            defer { state.hasBegun = true }
            return state
          }
          if before.hasBegun {
            second.yield(before.isOver)
            return EventAnswer(status: 204)
          }
          begin.yield()
          // The cancellation of the sender does not end the request.
          await Task { for await _ in gate {} }.value
          state.withLock { $0.isOver = true }
          throw CancellationError()
        })
      try await targets.add(target)
      try await write(0..<1, to: gateway)
      await senders.start()
      for await _ in begun { break }
      try await targets.rotate(target.name, secret: WebhookSignature.makeSecret(), at: 0)
      // A sender that begins later has sent its events meanwhile.
      try await targets.add(EventTarget(name: "other", url: target.url, secret: target.secret, created: 0))
      for await _ in sent { break }
      open.finish()
      for await isOver in seconds {
        #expect(isOver)
        break
      }
      await senders.stop()
    }
  }

  @Test func `a test has its own type, and a new id`() async throws {
    try await TestGateway.run { gateway in
      let server = Server()
      let answer = try await sender(gateway, server).test()
      #expect(answer.status == 204)
      let requests = server.requests.withLock { $0 }
      let request = try #require(requests.first)
      #expect(String(decoding: request.body, as: UTF8.self).hasPrefix(#"{"type":"delivery.test""#))
      #expect(server.received.first?.id?.hasPrefix("test-") == true)
    }
  }
}
