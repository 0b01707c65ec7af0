import Foundation
import HTTP2Transport
import PushPolicy
import PushTesting
import Synchronization
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The decision to post a message to a closed page, with a push service that answers as the test says.
@Suite(.timeLimit(.minutes(5))) struct ClosedPagesTests {
  /// A push service, which keeps the requests and has the answers of a test.
  private final class Service: Sendable {
    let requests = Mutex<[HTTPPost]>([])
    let answers = Mutex<[EventAnswer]>([])

    func answer(_ request: HTTPPost) throws -> EventAnswer {
      requests.withLock { $0.append(request) }
      let answer = answers.withLock { $0.isEmpty ? EventAnswer(status: 201) : $0.removeFirst() }
      if answer.status == 0 { throw EventError(description: "no server answers") }
      return answer
    }

    func will(_ answer: EventAnswer) { answers.withLock { $0.append(answer) } }
    var count: Int { requests.withLock { $0.count } }
  }

  /// A gateway with a device whose browser has a subscription.
  private struct Setup {
    let gateway: TestGateway
    let client: Client
    let device: TestDevice
    let service = Service()
    let lines = LimitLogTests.Lines()
    let folder: TemporaryFolder
    let store: SQLiteStore
    let subscriptions: PushSubscriptions
    let pages: ClosedPages
    let browser: ES256Key
    let secret = [UInt8](repeating: 7, count: WebPushEncryption.secretSize)

    init(_ gateway: TestGateway, allowsQuiet: Bool) async throws {
      self.gateway = gateway
      client = try await gateway.client()
      device = try await gateway.enroll()
      browser = try ES256Key.generate()
      // A database of its own: the gateway's own messages are not sent.
      folder = try TemporaryFolder()
      store = try SQLiteStore(path: folder.file("push.sqlite"))
      subscriptions = try PushSubscriptions(store: store)
      let parts = gateway.parts
      pages = ClosedPages(
        ClosedPages.Parts(
          subscriptions: subscriptions, registrations: parts.registrations, retractions: parts.retractions,
          conditions: parts.conditions, clock: gateway.clock.wallClock, logger: lines.logger, services: .public,
          contact: nil,
          pending: parts.pages.parts.pending, streams: { parts.router.count(of: $0) },
          post: { [service] request in try service.answer(request) }))
      try await subscriptions.put(
        PushSubscription(
          device: device.id, endpoint: "https://push.example/1", key: browser.publicPoint, secret: secret,
          origin: "https://gateway.example", allowsQuiet: allowsQuiet, created: 1))
    }

    /// Sends a push, and returns the message about it. The numbers begin at 1.
    func send(_ payload: String = #"{"aps":{"alert":"Hello","sound":"default"}}"#, seq: UInt64 = 1) async throws
      -> PageQueue.Item
    {
      let answer = try await gateway.push(client, to: device.token, payload: payload)
      #expect(answer.status == 200)
      return PageQueue.Item(device: device.id, content: .push(seq: seq, .number(1)), due: 0)
    }

    func prefer(_ settings: String...) async throws {
      let person = try #require(gateway.registrations.device(device.id)).person
      _ = try await gateway.parts.devices.changePreferences(
        of: person, assigning: settings, app: nil, category: nil, isByOwner: true)
    }

    /// The presentations in the messages that the service got.
    func presentations() throws -> [[String: Any]] {
      try service.requests.withLock { $0 }.map { request in
        let content = try WebPushEncryption.open(request.body, by: browser, secret: secret)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(content)) as? [String: Any])
        return json["presentation"] as? [String: Any] ?? [:]
      }
    }
  }

  private func run(allowsQuiet: Bool = false, _ body: (Setup) async throws -> Void) async throws {
    try await TestGateway.run { gateway in
      let setup = try await Setup(gateway, allowsQuiet: allowsQuiet)
      try await body(setup)
      await setup.pages.stop()
      try setup.store.close()
    }
  }

  private func isPosted(_ result: PageQueue.Result) -> Bool {
    if case .posted = result { true } else { false }
  }

  @Test func `a pending push is posted as it would be presented`() async throws {
    try await run { setup in
      let item = try await setup.send()
      let first = await setup.pages.attempt(item)
      #expect(isPosted(first))
      let presentation = try #require(try setup.presentations().first)
      #expect((presentation["alert"] as? [String: Any])?["body"] as? String == "Hello")
      #expect(presentation["sound"] as? String == "default")
      let request = try #require(setup.service.requests.withLock { $0.first })
      #expect(request.isPublicOnly)
      let field = try #require(request.fields.first { $0.name == "authorization" }?.value)
      try VAPIDToken(field).verify(
        origin: "https://push.example", parser: JSONParser(), now: setup.gateway.clock.seconds)
      // It is a hint: the push stays in the mailbox.
      #expect(setup.gateway.parts.mailbox.waitingCount(for: setup.device.id) == 1)
      #expect(setup.pages.meter.accepted.total == 1)
    }
  }

  @Test func `a push that the device has acknowledged is not posted`() async throws {
    try await run { setup in
      let item = try await setup.send()
      setup.gateway.parts.mailbox.acknowledge(setup.device.id, through: 1)
      let first = await setup.pages.attempt(item)
      #expect(first == .done)
      #expect(setup.service.count == 0)
    }
  }

  @Test func `a page with an open stream has more time, and is reached if it does not acknowledge`() async throws {
    try await run { setup in
      let stream = try await TestStream.caughtUp(setup.client, setup.device)
      let item = try await setup.send()
      guard case .again(let late) = await setup.pages.attempt(item) else {
        Issue.record("a page with a stream has more time")
        return
      }
      #expect(late.isLate && late.due == setup.gateway.clock.seconds * 1000 + 12_000)
      #expect(setup.service.count == 0)
      let first = await setup.pages.attempt(late)
      #expect(isPosted(first))
      stream.finish()
    }
  }

  @Test(arguments: ["alert=off", "notifications=off", "quiet=00:00-23:59"])
  func `a push that is not presented is not posted`(_ setting: String) async throws {
    try await run { setup in
      try await setup.prefer(setting)
      let item = try await setup.send()
      let first = await setup.pages.attempt(item)
      #expect(first == .done)
      #expect(setup.service.count == 0)
    }
  }

  @Test func `the state of the closed page decides, as for a stream`() async throws {
    try await run { setup in
      var subscription = try #require(setup.subscriptions.find(setup.device.id))
      subscription.state.isSilent = true
      try await setup.subscriptions.put(subscription)
      let item = try await setup.send()
      let first = await setup.pages.attempt(item)
      #expect(isPosted(first))
      let presentation = try #require(try setup.presentations().first)
      #expect(presentation["sound"] == nil && presentation["alert"] != nil)
    }
  }

  @Test(arguments: [false, true])
  func `a badge alone is posted only to a browser that permits messages without a notification`(
    _ allowsQuiet: Bool
  ) async throws {
    try await run(allowsQuiet: allowsQuiet) { setup in
      let item = try await setup.send(#"{"aps":{"badge":3}}"#)
      _ = await setup.pages.attempt(item)
      #expect(try setup.presentations().map { $0["badge"] as? Int } == (allowsQuiet ? [3] : []))
    }
  }

  @Test(arguments: [true, false])
  func `an encrypted message is posted with the decision about its badge`(_ allowsBadge: Bool) async throws {
    try await run { setup in
      if !allowsBadge { try await setup.prefer("badge=off") }
      let envelope = WebPushEnvelope(
        endpoint: "0123456789abcdef", content: [1, 10, 2], level: .active, hasSound: true, holdsAds: false)
      let item = try await setup.send(String(decoding: envelope.payload, as: UTF8.self))
      let result = await setup.pages.attempt(item)
      #expect(isPosted(result))
      let request = try #require(setup.service.requests.withLock { $0.first })
      let content = try WebPushEncryption.open(request.body, by: setup.browser, secret: setup.secret)
      let line = content.prefix { $0 != 10 }
      #expect(Array(content.dropFirst(line.count)) == [10, 1, 10, 2])
      #expect(String(decoding: line, as: UTF8.self).contains(#""preferences":{"badge":\#(allowsBadge)}"#))
    }
  }

  @Test func `a posted alert counts against the budget of its app, once`() async throws {
    try await run { setup in
      let item = try await setup.send()
      setup.service.will(EventAnswer(status: 503))
      _ = await setup.pages.attempt(item)
      let now = setup.gateway.clock.seconds * 1000
      #expect(setup.gateway.parts.conditions.recentAlerts(on: setup.device.id, at: now).isEmpty)
      _ = await setup.pages.attempt(item)
      _ = await setup.pages.attempt(item)
      #expect(setup.gateway.parts.conditions.recentAlerts(on: setup.device.id, at: now).count == 1)
    }
  }

  @Test(arguments: [404, 410]) func `an ended subscription is removed`(_ status: Int) async throws {
    try await run { setup in
      let item = try await setup.send()
      setup.service.will(EventAnswer(status: status))
      let first = await setup.pages.attempt(item)
      #expect(first == .done)
      #expect(setup.subscriptions.count == 0 && !setup.pages.hasSubscriptions)
      let second = await setup.pages.attempt(item)
      #expect(second == .done)
      #expect(setup.service.count == 1 && setup.pages.meter.gone.total == 1)
    }
  }

  @Test func `a message that is too large is posted again, shorter, and then not again`() async throws {
    try await run { setup in
      let text = String(repeating: "The train leaves platform 4 in five minutes. ", count: 66)
      let item = try await setup.send(#"{"aps":{"alert":{"title":"Title","body":"\#(text)"}}}"#)
      for _ in 0..<2 { setup.service.will(EventAnswer(status: 413)) }
      guard case .again(let short) = await setup.pages.attempt(item) else {
        Issue.record("a shorter message follows")
        return
      }
      #expect(short.isShort)
      let first = await setup.pages.attempt(short)
      #expect(first == .done)
      let sizes = setup.service.requests.withLock { $0.map(\.body.count) }
      #expect(sizes.count == 2 && sizes[0] > 3_000 && sizes[1] < 1_200)
      #expect(setup.subscriptions.find(setup.device.id)?.refused == nil)
    }
  }

  @Test(arguments: [400, 401, 403]) func `a refusal disables the subscription, with a warning`(_ status: Int)
    async throws
  {
    try await run { setup in
      let item = try await setup.send()
      setup.service.will(EventAnswer(status: status))
      #expect(setup.pages.warnings.isEmpty)
      let first = await setup.pages.attempt(item)
      #expect(first == .done)
      let second = await setup.pages.attempt(item)
      #expect(second == .done)
      #expect(setup.service.count == 1 && setup.pages.meter.refused.total == 1)
      let warning = try #require(setup.pages.warnings.first)
      #expect(warning.part == "push-services" && warning.problem.contains("\(setup.device.name) (\(status))"))
    }
  }

  @Test func `a failure is attempted again, with the pause that the service requests`() async throws {
    try await run { setup in
      let item = try await setup.send()
      setup.service.will(EventAnswer(status: 429, retryAfter: "30"))
      setup.service.will(EventAnswer(status: 500))
      setup.service.will(EventAnswer(status: 0))
      let first = await setup.pages.attempt(item)
      #expect(first == .failed(item, retryAfter: .seconds(30)))
      let second = await setup.pages.attempt(item)
      #expect(second == .failed(item, retryAfter: nil))
      let third = await setup.pages.attempt(item)
      #expect(third == .failed(item, retryAfter: nil))
      #expect(setup.pages.meter.failed.total == 3)
      // Until the push expires.
      setup.gateway.clock.advance(seconds: 40 * 86_400)
      let fourth = await setup.pages.attempt(item)
      #expect(fourth == .done)
      #expect(setup.service.count == 3)
    }
  }

  @Test(arguments: [201, 404, 410, 413, 403])
  func `each answer of a push service that works ends its failure, so that the next failure is logged`(
    _ status: Int
  ) async throws {
    try await run { setup in
      let item = try await setup.send()
      let subscription = try #require(setup.subscriptions.find(setup.device.id))
      for answer in [503, 503, status, 503] {
        // An answer may have ended the subscription.
        try await setup.subscriptions.put(subscription)
        setup.service.will(EventAnswer(status: answer))
        _ = await setup.pages.attempt(item)
      }
      #expect(setup.service.count == 4)
      let failing = setup.lines.all.filter { $0.hasPrefix("event=push-service-failing") }
      #expect(failing == Array(repeating: "event=push-service-failing service=https://push.example", count: 2))
    }
  }

  @Test func `an error of the storage is none of the push service, and the message is posted later`() async throws {
    try await run { setup in
      let (item, path) = (try await setup.send(), setup.folder.file("push.sqlite"))
      // The first message needs a new key, which is stored first.
      try await RefusedWrites.begin("push_service_key", in: path)
      for _ in 0..<2 {
        let result = await setup.pages.attempt(item)
        #expect(result == .failed(item, retryAfter: nil))
      }
      #expect(setup.service.count == 0 && setup.pages.meter.failed.total == 0)
      #expect(setup.lines.all == ["event=sending-delayed"])
      try await RefusedWrites.end("push_service_key", in: path)
      let posted = await setup.pages.attempt(item)
      #expect(isPosted(posted))
    }
  }

  @Test func `a retraction is posted while no stream is open`() async throws {
    try await run(allowsQuiet: true) { setup in
      let item = PageQueue.Item(device: setup.device.id, content: .retraction(.number(1), topic: "topic"), due: 0)
      let first = await setup.pages.attempt(item)
      #expect(first == .done)
      let request = try #require(setup.service.requests.withLock { $0.first })
      let content = try WebPushEncryption.open(request.body, by: setup.browser, secret: setup.secret)
      #expect(String(decoding: content, as: UTF8.self) == #"{"type":"retract","id":"\#(APNSID.number(1))"}"#)
      #expect(request.fields.contains { $0.name == "topic" && $0.value == "topic" })
    }
  }

  @Test func `a retraction that fails is attempted again for a day`() async throws {
    try await run(allowsQuiet: true) { setup in
      let now = setup.gateway.clock.seconds * 1000
      let item = PageQueue.Item(device: setup.device.id, content: .retraction(.number(1), topic: nil), due: now)
      for _ in 0..<2 { setup.service.will(EventAnswer(status: 503)) }
      let first = await setup.pages.attempt(item)
      #expect(first == .failed(item, retryAfter: nil))
      setup.gateway.clock.advance(seconds: Limits.pageRetractionTime)
      let last = await setup.pages.attempt(item)
      #expect(last == .done && setup.pages.meter.failed.total == 2)
    }
  }

  @Test func `a retraction is posted after an error of the storage`() async throws {
    try await run(allowsQuiet: true) { setup in
      let (now, path) = (setup.gateway.clock.seconds * 1000, setup.folder.file("push.sqlite"))
      let item = PageQueue.Item(device: setup.device.id, content: .retraction(.number(1), topic: nil), due: now)
      try await RefusedWrites.begin("push_service_key", in: path)
      let failed = await setup.pages.attempt(item)
      #expect(failed == .failed(item, retryAfter: nil) && setup.service.count == 0)
      try await RefusedWrites.end("push_service_key", in: path)
      let posted = await setup.pages.attempt(item)
      #expect(posted == .done && setup.service.count == 1)
    }
  }

  @Test func `without a subscription there is no queue`() async throws {
    try await run { setup in
      try await setup.subscriptions.remove(setup.device.id)
      #expect(!setup.pages.hasSubscriptions)
      setup.pages.note([MailboxEntry(seq: 1, push: samplePush(1, to: setup.device.id))])
      #expect(setup.pages.queued == 0)
    }
  }

  @Test func `pushes of a device with a subscription are queued, and forgotten with it`() async throws {
    try await run { setup in
      let entries = [
        MailboxEntry(seq: 1, push: samplePush(1, to: setup.device.id)),
        MailboxEntry(seq: 1, push: samplePush(2, to: 999)),
        MailboxEntry(seq: 0, push: samplePush(3, to: setup.device.id)),
      ]
      setup.pages.note(entries)
      #expect(setup.pages.queued == 1)
      setup.pages.forget([setup.device.id])
      #expect(setup.pages.queued == 0 && !setup.pages.hasSubscriptions)
    }
  }
}
