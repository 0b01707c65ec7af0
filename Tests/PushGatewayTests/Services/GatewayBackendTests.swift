import Foundation
import PushTesting
import Synchronization
import Testing

@testable import GatewayClient
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// A gateway on another backend: its APIs know nothing of it.
@Suite(.timeLimit(.minutes(5))) struct GatewayBackendTests {
  let clock = TestClock()
  let folder: TemporaryFolder
  let removals = SQLiteHome.Removals()

  init() throws { folder = try TemporaryFolder() }

  /// Everything in memory.
  func backend(
    _ router: any PushRouter = SubscriptionRegistry(), onClose: @escaping @Sendable () -> Void = {}
  ) -> GatewayBackend {
    GatewayBackend(
      registrations: MemoryRegistrations(),
      mailbox: MemoryMailbox(clock: clock, removed: { [removals] in removals.add($0) }), router: router,
      promise: DurabilityPromise(name: "memory", words: "in memory: survives nothing"), close: onClose)
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
      await gateway.services.mailbox.settle()
      #expect(try await gateway.services.mailbox.waiting(device.id) == [2])
      let again = try await TestStream.open(client, device)
      #expect(try await again.lines(upTo: "caught-up").map(\.seq) == [0, 2, 2])
    }
  }

  @Test func `health says what the backend promises, and what it can't do`() async throws {
    let problem = HealthProblem(part: "link", problem: "nobody answers", since: 7)
    let sound = backend()
    let isBroken = Mutex(false)
    let backend = GatewayBackend(
      registrations: sound.registrations, mailbox: sound.mailbox, router: sound.router, promise: sound.promise,
      problems: { isBroken.withLock { $0 } ? [problem] : [] }, close: sound.close)
    try await TestGateway.run(backend: backend) { gateway in
      let client = try await gateway.client()
      for (isNowBroken, status, problems) in [(false, 200, []), (true, 503, [problem]), (false, 200, [])] {
        isBroken.withLock { $0 = isNowBroken }
        let answer = try await client.request("GET", "/v1/health")
        #expect(answer.status == status)
        let health = try JSONDecoder().decode(Health.self, from: Data(answer.body))
        #expect(health == Health(promise: backend.promise, problems: problems))
        #expect(health.durability == "memory")
      }
    }
  }

  @Test func `a stream that was told nothing finds everything when it is asked to read again`() async throws {
    let router = FaultyRouter(.losesDeliveries)
    try await TestGateway.run(backend: backend(router)) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.open(client, device)
      _ = try await stream.lines(upTo: "caught-up")
      for _ in 0..<3 { _ = try await gateway.push(client, to: device.token) }
      router.resync()
      for seq in UInt64(1)...3 { #expect(try await stream.next()?.seq == seq) }
    }
  }

  @Test func `a push that was not told goes out before the next one`() async throws {
    try await TestGateway.run(backend: backend(FaultyRouter(.losesEveryOther))) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.open(client, device)
      _ = try await stream.lines(upTo: "caught-up")
      for _ in 0..<6 { _ = try await gateway.push(client, to: device.token) }
      for seq in UInt64(1)...6 { #expect(try await stream.next()?.seq == seq) }
    }
  }

  @Test func `a whole gateway runs on another backend, and closes it at its end`() async throws {
    let closed = Mutex(0)
    let configuration = try Configuration(
      state: folder.file("state"), flags: ["listen": "127.0.0.1:0", "loops": "1"], file: nil, environment: [:])
    let made = backend { closed.withLock { $0 += 1 } }
    let gateway = try await Gateway.start(configuration, logger: .silent) { _ in made }
    #expect(made.registrations.apps.map(\.topic) == ["com.example.news"])
    let own = try SQLiteRegistrations(store: try SQLiteStore(path: StateFolder(configuration.state).databasePath))
    #expect(own.apps.isEmpty)
    #expect(closed.withLock { $0 } == 0)
    await gateway.stop()
    #expect(closed.withLock { $0 } == 1)
  }
}
