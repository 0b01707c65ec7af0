import Foundation
import GatewayProtocol
import HTTP2Transport
import PushTesting
import Synchronization
import Testing

@testable import GatewayClient
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// A gateway on another storage backend: the APIs do not depend on the backend.
@Suite(.timeLimit(.minutes(5))) struct GatewayBackendTests {
  let clock = TestClock()
  let folder: TemporaryFolder
  let removals = SQLiteHome.Removals()

  init() throws { folder = try TemporaryFolder() }

  /// Returns a backend with all data in memory.
  func backend(
    _ router: any PushRouter = DeviceStreamRegistry(), epoch: String? = nil, gateways: [GatewayAddress] = [],
    isCurrent: @escaping @Sendable () -> Bool = { true },
    becomeCurrent: @escaping @Sendable () async throws -> Void = {}, onClose: @escaping @Sendable () -> Void = {}
  ) -> GatewayBackend {
    GatewayBackend(
      registrations: MemoryRegistrations(),
      mailbox: MemoryMailbox(clock: clock, removed: { [removals] in removals.add($0) }), router: router,
      durability: DurabilityLevel(name: "memory", words: "in memory: survives nothing"),
      epoch: epoch.flatMap(NumberingEpoch.init), gateways: { gateways }, isCurrent: isCurrent,
      becomeCurrent: becomeCurrent, close: onClose)
  }

  @Test func `a push is accepted, delivered and acknowledged`() async throws {
    try await TestGateway.run(backend: backend()) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      #expect(try await gateway.push(client, to: device.token, [(.apnsID, SampleRequest.id)]).status == 200)
      #expect(try await gateway.push(client, to: device.token, [(.apnsID, SampleRequest.id)]).status == 200)
      let stream = try await TestStream.open(client, device)
      #expect(try await stream.lines(upTo: "caught-up").map(\.type) == ["welcome", "push", "caught-up"])
      #expect(try await gateway.push(client, to: device.token).status == 200)
      #expect(try await stream.next()?.seq == 2)
      stream.acknowledge(1)
      stream.finish()
      _ = try await stream.lines(upTo: "never")
      await gateway.parts.mailbox.settle()
      #expect(try await gateway.parts.mailbox.waiting(device.id) == [2])
      let again = try await TestStream.open(client, device)
      #expect(try await again.lines(upTo: "caught-up").map(\.seq) == [0, 2, 2])
    }
  }

  @Test func `a gateway that was stopped delivers no push that was retracted at another one`() async throws {
    let isCurrent = Mutex(true)
    let missed = Mutex<(@Sendable () async throws -> Void)?>(nil)
    let stopped = backend(
      isCurrent: { isCurrent.withLock { $0 } },
      becomeCurrent: {
        guard let change = missed.withLock({ $0.take() }) else { return }
        try await change()
        isCurrent.withLock { $0 = true }
      })
    try await TestGateway.run(backend: stopped) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      let (id, retractions) = (try #require(APNSID(SampleRequest.id)), gateway.parts.retractions)
      let app = try #require(gateway.registrations.registrations(of: device.id).first?.1.id)
      let person = try #require(gateway.registrations.device(device.id)?.person)
      let now = gateway.clock.seconds * 1000
      missed.withLock { $0 = { _ = try await retractions.add(id, app: app, from: [person], at: now) } }
      isCurrent.withLock { $0 = false }
      #expect(try await gateway.push(client, to: device.token, [(.apnsID, SampleRequest.id)]).status == 200)
      #expect(try await gateway.push(client, to: device.token).status == 200)
      #expect(try await stream.next()?.seq == 2)
    }
  }

  @Test(arguments: [(nil, 3), ("cell-0", 3), ("cell-1", 1)] as [(String?, Int)])
  func `a number counts in its own numbering alone`(_ epoch: String?, _ expected: Int) async throws {
    try await TestGateway.run(backend: backend(epoch: "cell-1")) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for _ in 0..<3 { _ = try await gateway.push(client, to: device.token) }
      let hello = DeviceLine.hello(cursor: 2, epoch: epoch.flatMap(NumberingEpoch.init), isSilent: false)
      let stream = try await TestStream.open(client, device, hello: hello.text)
      let lines = try await stream.lines(upTo: "caught-up")
      #expect(lines.first?.json["epoch"] as? String == "cell-1")
      #expect(lines.count { $0.type == "push" } == expected)
      await gateway.parts.mailbox.settle()
      #expect(try await gateway.parts.mailbox.waiting(device.id).count == expected)
    }
  }

  @Test func `a stream of events names its numbering, and an acknowledgement has to`() async throws {
    try await TestGateway.run(backend: backend(epoch: "cell-1")) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for _ in 0..<3 { _ = try await gateway.push(client, to: device.token) }
      for (last, expected) in [("2", ["1", "2", "3"]), ("cell-1:2", ["3"])] {
        let opened = try await client.stream("GET", "/v1/device/stream", [device.authorization, (.lastEventID, last)])
        var ids: [String] = []
        for try await line in opened.lines {
          let line = String(decoding: line, as: UTF8.self)
          if line.hasPrefix("id: ") { ids.append(String(line.dropFirst(4))) }
          if line.hasPrefix(#"data: {"type":"caught-up"#) { break }
        }
        #expect(ids == expected.map { "cell-1:" + $0 })
      }
      for (body, status) in [
        (#"{"seq":3}"#, 409), (#"{"seq":3,"epoch":"x"}"#, 409), (#"{"seq":3,"epoch":"cell-1"}"#, 204),
      ] {
        let answer = try await client.request(
          "POST", "/v1/device/acknowledgements", [device.authorization], body: Array(body.utf8))
        #expect(answer.status == status)
      }
      await gateway.parts.mailbox.settle()
      #expect(try await gateway.parts.mailbox.waiting(device.id).isEmpty)
    }
  }

  @Test func `devices hear of the other gateways when they come, and when this one ends`() async throws {
    let others = [GatewayAddress(host: "b.example", port: 2197), GatewayAddress(host: "c.example", port: 2197)]
    let gateway = try await TestGateway(backend: backend(gateways: others))
    let (client, device) = (try await gateway.client(), try await gateway.enroll())
    let stream = try await TestStream.open(client, device)
    let welcome = try #require(try await stream.lines(upTo: "caught-up").first)
    #expect(welcome.json["gateways"] as? [String] == others.map(\.description))
    #expect(welcome.json["epoch"] == nil)
    async let stopping: Void = gateway.stop()
    #expect(
      try await stream.next()?.text
        == #"{"type":"bye","reason":"shutdown","gateways":["b.example:2197","c.example:2197"]}"#)
    await stopping
  }

  @Test func `health says what the backend promises, and what it can't do`() async throws {
    let problem = HealthProblem(part: "link", problem: "nobody answers", since: 7)
    let sound = backend()
    let isBroken = Mutex(false)
    let backend = GatewayBackend(
      registrations: sound.registrations, mailbox: sound.mailbox, router: sound.router, durability: sound.durability,
      problems: { isBroken.withLock { $0 } ? [problem] : [] }, close: sound.close)
    try await TestGateway.run(backend: backend) { gateway in
      let client = try await gateway.client()
      for (isNowBroken, status, problems) in [(false, 200, []), (true, 503, [problem]), (false, 200, [])] {
        isBroken.withLock { $0 = isNowBroken }
        let answer = try await client.request("GET", "/v1/health")
        #expect(answer.status == status)
        let health = try JSONDecoder().decode(Health.self, from: Data(answer.body))
        #expect(health == Health(durability: backend.durability, problems: problems))
        #expect(health.durability == "memory")
      }
    }
  }

  @Test func `a stream that was told nothing finds everything when it is asked to read again`() async throws {
    let router = FaultyRouter(.losesDeliveries)
    try await TestGateway.run(backend: backend(router)) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      for _ in 0..<3 { _ = try await gateway.push(client, to: device.token) }
      router.resync()
      for seq in UInt64(1)...3 { #expect(try await stream.next()?.seq == seq) }
    }
  }

  @Test func `a push that was not told goes out before the next one`() async throws {
    try await TestGateway.run(backend: backend(FaultyRouter(.losesEveryOther))) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      for _ in 0..<6 { _ = try await gateway.push(client, to: device.token) }
      for seq in UInt64(1)...6 { #expect(try await stream.next()?.seq == seq) }
    }
  }

  @Test func `a whole gateway runs on another backend, and closes it at its end`() async throws {
    let closed = Mutex(0)
    let configuration = try Configuration(
      state: folder.file("state"), flags: ["listen": "127.0.0.1:0", "loops": "1"], file: nil, environment: [:])
    let made = backend(onClose: { closed.withLock { $0 += 1 } })
    let gateway = try await Gateway.start(configuration, logger: .silent) { _ in made }
    #expect(made.registrations.apps.map(\.topic) == ["com.example.news"])
    let own = try SQLiteRegistrations(store: try SQLiteStore(path: StateFolder(configuration.state).databasePath))
    #expect(own.apps.isEmpty)
    #expect(closed.withLock { $0 } == 0)
    await gateway.stop()
    #expect(closed.withLock { $0 } == 1)
  }

  @Test func `a gateway that stops closes its backend after the current round of maintenance`() async throws {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let (endless, source) = AsyncStream.makeStream(of: Void.self)
    let steps = Mutex<[String]>([])
    var made = backend(onClose: { steps.withLock { $0.append("closed") } })
    made.tend = { [folder] in
      begin.yield()
      // Ends when the round is canceled.
      for await _ in endless {}
      for index in 0..<10 { _ = try? SQLiteStore(path: folder.file("\(index).sqlite")) }
      steps.withLock { $0.append("round ended") }
    }
    let configuration = try Configuration(
      state: folder.file("state"), flags: ["listen": "127.0.0.1:0", "loops": "1"], file: nil, environment: [:])
    let gateway = try await Gateway.start(configuration, logger: .silent) { [made] _ in made }
    for await _ in begun { break }
    await gateway.stop()
    withExtendedLifetime(source) {}
    #expect(steps.withLock { $0 } == ["round ended", "closed"])
  }
}
