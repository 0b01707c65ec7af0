import NATSClient
import NATSTesting
import PushCluster
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

/// The interactions of two gateways of a cluster, on a model of JetStream.
@Suite(.timeLimit(.minutes(5))) struct ModelCellTests {
  private struct Gateway: Sendable {
    let mailbox: JetStreamMailbox
    let removals = SQLiteHome.Removals()
    let link: ModelLink

    init(
      _ engine: ModelEngine, _ clock: TestClock, _ transport: (ModelLink) -> any NATSTransport = { $0 }
    ) async throws {
      link = engine.connect()
      mailbox = JetStreamMailbox(
        .patient(transport(link)), partitions: 1, replicas: 3, cap: 100, logger: .silent, now: { clock.seconds },
        removed: { [removals] in removals.add($0) })
      try await mailbox.start()
    }
  }

  private let clock = TestClock()
  private let engine: ModelEngine

  init() { engine = ModelEngine { [clock] in .seconds(clock.seconds) } }

  private func pair() async throws -> (Gateway, Gateway) {
    (try await Gateway(engine, clock), try await Gateway(engine, clock))
  }

  @Test func `an acknowledgement takes also what another gateway stored before`() async throws {
    let (one, other) = try await pair()
    let first = try #require(await one.mailbox.append([samplePush()]).first?.seq)
    // From now on this gateway has read the pushes that others stored.
    one.mailbox.acknowledge(1, through: first)
    await eventually { engine.count(of: "mb.000.1") == 0 }
    _ = await other.mailbox.append([samplePush(), samplePush()])
    let last = try #require(await one.mailbox.append([samplePush()]).first?.seq)
    one.mailbox.acknowledge(1, through: last)
    await eventually { engine.count(of: "mb.000.1") == 0 }
    #expect(try await other.mailbox.waiting() == [])
  }

  @Test func `what can't be taken out is said to wait still`() async throws {
    let gateway = try await Gateway(engine, clock) { link in
      FaultyTransport(link, refusal: { $0.contains("MSG.DELETE") ? .closed : nil })
    }
    let seq = try #require(await gateway.mailbox.append([samplePush(1)]).first?.seq)
    let isDurable = await withCheckedContinuation { continuation in
      gateway.mailbox.retract(.number(1), app: nil, from: [1]) { continuation.resume(returning: $0) }
    }
    #expect(!isDurable)
    #expect(gateway.removals.all.isEmpty)
    #expect(try await gateway.mailbox.waiting() == [seq])
  }

  /// Sets up a push that was acknowledged at another gateway and whose id the stream has forgotten.
  private func acknowledgedElsewhere(_ one: Gateway, _ other: Gateway) async throws {
    let first = try #require(await one.mailbox.append([samplePush(1)]).first?.seq)
    other.mailbox.acknowledge(1, through: first)
    #expect(try await other.mailbox.waiting() == [])
    await eventually { engine.count(of: "mb.000.1") == 0 }
    clock.advance(seconds: Int64(Limits.duplicateWindow))
  }

  @Test func `an id that was acknowledged at another gateway is taken again`() async throws {
    let (one, other) = try await pair()
    try await acknowledgedElsewhere(one, other)
    let again = try #require(await one.mailbox.append([samplePush(1, at: clock.seconds)]).first)
    let seq = try #require(again.seq)
    #expect(try await one.mailbox.waiting() == [seq])
    #expect(await one.mailbox.append([samplePush(1, at: clock.seconds)]).map(\.isDuplicate) == [true])
  }

  @Test func `a push is no retry of one that was acknowledged at another gateway`() async throws {
    let (one, other) = try await pair()
    try await acknowledgedElsewhere(one, other)
    let seq = try #require(await other.mailbox.append([samplePush(1, at: clock.seconds)]).first?.seq)
    let later = try #require(await other.mailbox.append([samplePush(2, at: clock.seconds)]).first?.seq)
    #expect(try await one.mailbox.waiting() == [seq, later])
    #expect(engine.count(of: "mb.000.1") == 2)
  }
}
