import Dispatch
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
      _ engine: ModelEngine, _ clock: TestClock, _ environment: MailboxEnvironment = MailboxEnvironment(),
      _ transport: (ModelLink) -> any NATSTransport = { $0 }
    ) async throws {
      link = engine.connect()
      mailbox = JetStreamMailbox(
        .patient(transport(link)), partitions: 1, replicas: 3, cap: 100, logger: .silent, now: { clock.seconds },
        removed: { [removals] in removals.add($0) }, environment: environment)
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

  @Test func `a push that was acknowledged at another gateway is not returned by a replica that lags`() async throws {
    let atOnce = MailboxEnvironment(after: { _, body in DispatchQueue.global().async(execute: body) })
    let (one, other) = (try await Gateway(engine, clock), try await Gateway(engine, clock, atOnce))
    var faults = ModelFaults.none
    faults.staleReads = 1
    engine.set(faults)
    let numbers = await one.mailbox.append([samplePush(), samplePush()]).compactMap(\.seq)
    try #require(numbers.count == 2)
    one.mailbox.acknowledge(1, through: numbers[0])
    await eventually { engine.count(of: "mb.000.1") == 1 }
    for _ in 0..<20 {
      let found = try await other.mailbox.waiting()
      #expect(found == [] || found == [numbers[1]])
    }
    engine.set(.none)
    #expect(try await other.mailbox.waiting() == [numbers[1]])
  }

  @Test func `a gateway without a majority of the brokers returns no pending push`() async throws {
    let one = try await Gateway(engine, clock)
    let other = try await Gateway(engine, clock) { link in
      FaultyTransport(link, refusal: { $0 == "slot.000.mark" ? .closed : nil })
    }
    // An empty mailbox needs no write.
    #expect(try await other.mailbox.waiting() == [])
    #expect(await one.mailbox.append([samplePush()]).compactMap(\.seq).count == 1)
    await #expect(throws: StoreError.self) { try await other.mailbox.waiting() }
    #expect(try await one.mailbox.waiting().count == 1)
    #expect(engine.count(of: "slot.000.mark") == 1)
  }

  @Test func `an acknowledgement is not lost when the leader's last number is outdated`() async throws {
    let one = try await Gateway(engine, clock)
    let other = try await Gateway(engine, clock) { link in
      FaultyTransport(
        link,
        answer: { subject, answer in
          guard subject == "$JS.API.STREAM.INFO.MB_000", case .success(var message) = answer else { return answer }
          message.body = Array(
            String(decoding: message.body, as: UTF8.self)
              .replacing(#""last_seq":"#, with: #""last_seq":1,"other":"#).utf8)
          return .success(message)
        })
    }
    let seq = try #require(await one.mailbox.append([samplePush()]).first?.seq)
    other.mailbox.acknowledge(1, through: seq)
    await eventually { engine.count(of: "mb.000.1") == 0 }
    #expect(try await other.mailbox.waiting() == [])
  }
}
