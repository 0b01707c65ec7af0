import Foundation
import HTTP2Transport
import NIOCore
import NIOEmbedded
import NIOPosix
import PushPolicy
import PushTesting
import Synchronization
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Only the device that was sent a push can make claims about it.
@Suite(.timeLimit(.minutes(5))) struct OwnershipTests {
  static let question = #"{"aps":{"alert":{"title":"Deploy?"},"category":"DEPLOY"}}"#

  /// A device, and a line of it about the push to `me`.
  struct Claim: Sendable, CustomTestStringConvertible {
    var device: String
    var line: String
    /// The event in the log, or nil if the claim is refused.
    var event: DeliveryEvent?

    init(_ device: String, _ line: String, _ event: DeliveryEvent? = nil) {
      (self.device, self.line, self.event) = (device, line, event)
    }

    var testDescription: String { "\(device): \(line)" }

    /// Returns the line with the id of the push.
    func text(_ id: String) -> String { line.replacing("ID", with: id) }
  }

  static func answer(_ action: String) -> String { #"{"type":"answer","id":"ID","action":"\#(action)"}"# }
  static let presented = #"{"type":"presented","id":"ID","parts":["alert"]}"#

  /// `me` is the device that received the push, `mine` is another device of the same user, and `mallory` a device of
  /// another user.
  static let claims: [Claim] = [
    Claim("me", answer("approve"), .action), Claim("me", answer("view"), .viewed), Claim("me", answer("ok"), .closed),
    Claim("me", answer("close"), .closed), Claim("me", presented, .presented), Claim("me", answer("REPLY")),
    Claim("me", answer("")), Claim("me", answer(String(repeating: "a", count: 33))), Claim("mine", answer("approve")),
    Claim("mine", answer("view")), Claim("mine", presented), Claim("mallory", answer("approve")),
    Claim("mallory", answer("view")), Claim("mallory", answer("close")), Claim("mallory", presented),
  ]

  /// The source in which the gateway finds that the device was sent the push.
  enum Place: CaseIterable { case stream, history, log }

  @Test(arguments: claims, Place.allCases)
  func `a device is believed of what it was sent, and of that alone`(_ claim: Claim, _ place: Place) async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let app = try gateway.registrations.app(topic: SampleRequest.topic)
      try await gateway.registrations.putCategory(app.id, "DEPLOY", [AlertAction(id: "approve", title: "Approve")])
      let devices = [
        "me": try await gateway.enroll("me", person: "ada"), "mine": try await gateway.enroll("mine", person: "ada"),
        "mallory": try await gateway.enroll("mallory", person: "mallory"),
      ]
      let me = try #require(devices["me"])
      let answer = try await gateway.push(
        client, to: me.token, [(.apnsID, SampleRequest.id)], payload: OwnershipTests.question)
      #expect(answer.status == 200)
      let id = try #require(APNSID(SampleRequest.id))
      var stream = try await TestStream.open(client, me)
      #expect(try await stream.lines(upTo: "caught-up").map(\.type) == ["welcome", "push", "caught-up"])
      if place != .stream {
        stream.acknowledge(1)
        stream.finish()
        _ = try await stream.lines(upTo: "bye")
        if place == .log { gateway.parts.histories.forget(me.id) }
        stream = try await TestStream.caughtUp(client, me, cursor: 1)
      }
      if claim.device != "me" {
        stream = try await TestStream.caughtUp(client, try #require(devices[claim.device]))
      }
      stream.send(claim.text(SampleRequest.id))
      // Lookups keep their order: when this claim is in the log, so is the one before.
      try await gateway.say(stream, as: claim.device == "me" ? me : try #require(devices[claim.device]), client)
      let said = try await gateway.events(of: id).filter {
        [.action, .viewed, .closed, .presented].contains($0)
      }
      #expect(said == (claim.event.map { [$0] } ?? []))
    }
  }

  @Test func `the first answer counts, and an action that is not offered is none`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      _ = try await gateway.push(client, to: device.token, [(.apnsID, SampleRequest.id)])
      _ = try await stream.next()
      for action in ["approve", "close", "view"] {
        stream.send(OwnershipTests.answer(action).replacing("ID", with: SampleRequest.id))
      }
      try await gateway.say(stream, as: device, client)
      let events = try await gateway.events(of: try #require(APNSID(SampleRequest.id)))
      #expect(events.filter { [.action, .viewed, .closed].contains($0) } == [.closed])
    }
  }

  @Test func `a device is told which answer counts, and that what it was never sent is none`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let (me, mine) = (try await gateway.enroll("me", person: "ada"), try await gateway.enroll("mine", person: "ada"))
      for device in [me, mine] { _ = try await gateway.push(client, to: device.token, [(.apnsID, SampleRequest.id)]) }
      let told = #"{"type":"answered","id":"\#(SampleRequest.id)","action":"view"}"#
      for (device, action) in [(me, "view"), (me, "view"), (mine, "close")] {
        let stream = try await TestStream.caughtUp(client, device)
        stream.send(OwnershipTests.answer(action).replacing("ID", with: SampleRequest.id))
        #expect(try await stream.lines(upTo: "answered").last?.text == told)
        let strange = "00000000-0000-4000-8000-0000000000aa"
        stream.send(OwnershipTests.answer("view").replacing("ID", with: strange))
        #expect(try await stream.lines(upTo: "answered").last?.text == #"{"type":"answered","id":"\#(strange)"}"#)
      }
    }
  }

  @Test func `an answer that the delivery log has lost in a crash is logged when the gateway starts`() async throws {
    try await TestGateway.run { gateway in
      let now = gateway.clock.seconds * 1000
      func answer(_ number: Int, at time: Int64) -> Answer {
        Answer(id: .number(number), person: PersonID(row: 1), action: "view", device: 1, app: 1, at: time)
      }
      let answers = [answer(1, at: now - 60_000), answer(2, at: now), answer(3, at: now)]
      for answer in answers {
        await withCheckedContinuation { done in gateway.parts.answers.take(answer) { _ in done.resume() } }
      }
      gateway.parts.log.append([answers[0].row, answers[2].row])
      try await gateway.parts.pushes.restoreAnswers()
      for number in 1...3 { #expect(try await gateway.events(of: .number(number)) == [.viewed], "\(number)") }
    }
  }

  @Test func `an answer whose row the disk refused is logged again after the loss`() async throws {
    try await TestGateway.run { gateway in
      let now = gateway.clock.seconds * 1000
      let answers = [now - 3_600_000, now].enumerated().map { number, time in
        Answer(id: .number(number), person: PersonID(row: 1), action: "view", device: 1, app: 1, at: time)
      }
      for answer in answers {
        await withCheckedContinuation { done in gateway.parts.answers.take(answer) { _ in done.resume() } }
      }
      // The log can lack an earlier answer than its last one.
      gateway.parts.log.append([answers[1].row])
      try await gateway.parts.pushes.logAnswers(afterLoss: now - 3_600_000)
      for number in 0...1 { #expect(try await gateway.events(of: .number(number)) == [.viewed], "\(number)") }
    }
  }

  @Test func `a person reports what their device was sent, and nothing else`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let (me, mallory) = (try await gateway.enroll("me"), try await gateway.enroll("mallory"))
      _ = try await gateway.push(client, to: me.token, [(.apnsID, SampleRequest.id)])
      let body = Array(#"{"id":"\#(SampleRequest.id)","topic":"\#(SampleRequest.topic)"}"#.utf8)
      for (device, status) in [(mallory, 404), (me, 204)] {
        let answer = try await client.request(
          "POST", "/v1/device/ads/reports", [device.authorization], body: body)
        #expect(answer.status == status)
      }
      #expect(try await gateway.registrations.adReports(of: nil, limit: 10, before: nil).map(\.device) == [me.id])
    }
  }

  @Test func `whoever subscribes to a channel is believed of its messages, stored or not`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let (me, mallory) = (try await gateway.enroll("me"), try await gateway.enroll("mallory"))
      let app = try gateway.registrations.app(topic: SampleRequest.topic)
      let channel = try #require(
        try await gateway.parts.channels.create(
          app: app.id, environment: .development, policy: .mostRecentMessage, now: 0
        ).first)
      try await gateway.parts.channels.subscribe([me.id], to: channel)
      let ids = [1, 2].map(APNSID.number)
      for (id, number) in zip(ids, [0, 1] as [UInt64]) {
        let message = BroadcastMessage(
          channel: channel, app: app.id, number: number, id: id, uniqueID: id, received: TestClock.start * 1000,
          expires: TestClock.start + 60, priority: 10, payload: Array(#"{"aps":{"alert":"goal"}}"#.utf8))
        gateway.parts.liveChannels.publish(message)
      }
      for (device, isBelieved) in [(mallory, false), (me, true)] {
        let stream = try await TestStream.caughtUp(client, device)
        for id in ids { stream.send(OwnershipTests.presented.replacing("ID", with: id.description)) }
        try await gateway.say(stream, as: device, client)
        for id in ids { #expect(try await gateway.events(of: id).contains(.presented) == isBelieved) }
      }
    }
  }

  @Test func `what waits for a device is its own, also where nothing else remembers it`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let (me, mallory) = (try await gateway.enroll("me"), try await gateway.enroll("mallory"))
      for number in 0...Limits.pendingBatch {
        _ = try await gateway.push(
          client, to: me.token, [(.apnsID, APNSID.number(number).description)], payload: OwnershipTests.question)
      }
      let pushes = gateway.parts.pushes
      for number in [0, Limits.pendingBatch] {
        let found = try #require(try await pushes.find(.number(number), sentTo: me.id))
        #expect(found.category == "DEPLOY")
        #expect(try await pushes.find(.number(number), sentTo: mallory.id) == nil)
      }
      #expect(try await pushes.find(.number(Limits.pendingBatch + 1), sentTo: me.id) == nil)
    }
  }

  /// Claims that are looked up on their own loop, and their results.
  final class Claims: Sendable {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let looked = Mutex(0)
    let accepted = Mutex(0)
    private let claims: NIOLoopBound<DeviceReports>

    /// - Parameter known: Returns true if a push with this id was sent.
    init(known: @escaping @Sendable (APNSID) -> Bool) async throws {
      let handlers = Mutex<(@Sendable () -> Void, @Sendable () -> Void)>(({}, {}))
      let loop = loop
      claims = try await loop.submit {
        let claims = DeviceReports(
          loop: loop,
          find: { id in
            handlers.withLock { $0.0 }()
            return known(id) ? SentPush(id: id, app: 1) : nil
          }, accept: { _, _ in handlers.withLock { $0.1 }() }, refuse: { _ in })
        return NIOLoopBound(claims, eventLoop: loop)
      }.get()
      handlers.withLock { handlers in
        handlers = (
          { [unowned self] in looked.withLock { $0 += 1 } }, { [unowned self] in accepted.withLock { $0 += 1 } }
        )
      }
    }

    /// Makes claims at once, and returns when all have been processed.
    func make(_ numbers: some Sequence<Int> & Sendable) async throws {
      try await loop.submit { [claims] in
        for number in numbers {
          claims.value.add(DeviceReport(id: .number(number), kind: .answered("view"), at: 0))
        }
      }.get()
      while try await !loop.submit({ [claims] in claims.value.isEmpty }).get() {}
    }
  }

  @Test func `a device that invents pushes is looked up a bounded number of times`() async throws {
    let claims = try await Claims { $0 == .number(1) }
    for _ in 0..<10 { try await claims.make([1]) }
    #expect(claims.accepted.withLock { $0 } == 10)
    for number in 0..<2 * Limits.maximumUnknownReports { try await claims.make([number + 2]) }
    #expect(claims.looked.withLock { $0 } == 10 + Limits.maximumUnknownReports)
    try await claims.make([1])
    #expect(claims.accepted.withLock { $0 } == 10)
  }

  @Test func `what is not known while another gateway is away is looked up again until it is there`() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let (isAway, looks) = (Shared(true), Shared(0))
    let (accepted, refused) = (Shared<[APNSID]>([]), Shared<[APNSID]>([]))
    let claims = try await loop.submit {
      let claims = DeviceReports(
        loop: loop,
        find: { id in
          looks.change { $0 += 1 }
          if isAway.change({ $0 }) { throw StoreError("away") }
          return id == .number(3) ? nil : SentPush(id: id, app: 1)
        }, accept: { claim, _ in accepted.change { $0.append(claim.id) } },
        refuse: { claim in refused.change { $0.append(claim.id) } })
      return NIOLoopBound(claims, eventLoop: loop)
    }.get()
    func add(_ number: Int) async throws {
      try await loop.submit {
        claims.value.add(DeviceReport(id: .number(number), kind: .answered("view"), at: 0))
      }.get()
    }
    /// Advances the clock of the loop by the pause between lookups until a condition is true.
    func untilPassed(_ condition: () async throws -> Bool) async throws {
      try await eventually {
        await loop.advanceTime(by: .seconds(2))
        return try await condition()
      }
    }
    try await add(1)
    try await add(2)
    try await untilPassed { looks.change { $0 >= 6 } }
    #expect(accepted.change { $0 }.isEmpty && refused.change { $0 }.isEmpty)
    isAway.change { $0 = false }
    try await add(3)
    try await untilPassed { try await loop.submit { claims.value.isEmpty }.get() }
    #expect(Set(accepted.change { $0 }) == [.number(1), .number(2)] && refused.change { $0 } == [.number(3)])
    // The log stays unavailable: the claim is dropped, and the device gets no answer.
    isAway.change { $0 = true }
    try await add(1)
    try await untilPassed { try await loop.submit { claims.value.isEmpty }.get() }
    #expect(accepted.change { $0.count } == 2 && refused.change { $0.count } == 1)
    await loop.shutdownGracefully()
  }

  private final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }

    @discardableResult
    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
      value.withLock { value in
        var copy = value
        defer { value = copy }
        return body(&copy)
      }
    }
  }

  @Test func `what waits to be looked up has a bound`() async throws {
    let claims = try await Claims { _ in true }
    try await claims.make(0..<3 * Limits.maximumUnverifiedReports)
    #expect(claims.accepted.withLock { $0 } == Limits.maximumUnverifiedReports)
    #expect(claims.looked.withLock { $0 } == Limits.maximumUnverifiedReports)
  }

  @Test func `histories of devices that left are bounded, those of connected ones stay`() {
    let histories = DeviceHistories()
    let here = histories.open(DeviceID(row: 0))
    here.change { $0.add(SentPush(id: .number(1), app: 1)) }
    for number in 1...(2 * Limits.maximumDepartedHistories) {
      let device = DeviceID(row: Int64(number))
      _ = histories.open(device)
      histories.close(device)
    }
    #expect(histories.count == 1 + Limits.maximumDepartedHistories)
    #expect(histories.push(.number(1), of: DeviceID(row: 0)) == SentPush(id: .number(1), app: 1))
  }

  @Test func `a history holds the last pushes`() {
    let history = DeviceHistory()
    for number in 1...(3 * Limits.rememberedPushes) {
      history.change { $0.add(SentPush(id: .number(number), app: 1)) }
    }
    let kept = (1...(3 * Limits.rememberedPushes)).filter { history.push(.number($0)) != nil }
    #expect(kept == Array((2 * Limits.rememberedPushes + 1)...(3 * Limits.rememberedPushes)))
  }
}

extension TestGateway {
  /// Returns when the gateway has processed all earlier lines of a stream: sends the device a push and waits for its
  /// claim.
  func say(_ stream: TestStream, as device: TestDevice, _ client: Client) async throws {
    let answer = try await push(client, to: device.token)
    let id = try #require(answer.apnsID.flatMap { APNSID($0) })
    while let line = try await stream.next() {
      if line.type == "push", line.json["id"] as? String == id.description { break }
    }
    stream.send(#"{"type":"presented","id":"\#(id)","parts":[]}"#)
    stream.send(#"{"type":"answer","id":"\#(id)","action":"close"}"#)
    while let line = try await stream.next() {
      if line.type == "answered", line.json["id"] as? String == id.description { break }
    }
  }
}
