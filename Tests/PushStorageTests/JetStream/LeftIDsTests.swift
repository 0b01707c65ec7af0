import Dispatch
import NATSClient
import NATSTesting
import PushTesting
import Testing

@testable import PushCluster
@testable import PushCore
@testable import PushStorage

/// Retries of removed pushes after a restart of all brokers, on a model.
@Suite(.timeLimit(.minutes(5))) struct LeftIDsTests {
  private let clock = TestClock()
  private let engine: ModelEngine

  init() { engine = ModelEngine { [clock] in .seconds(clock.seconds) } }

  /// Returns the mailbox of a gateway that publishes the ids of removed pushes at once.
  private func gateway() async throws -> JetStreamMailbox {
    let environment = MailboxEnvironment(after: { _, body in DispatchQueue.global().async(execute: body) })
    let mailbox = JetStreamMailbox(
      .patient(engine.connect()), partitions: 1, replicas: 3, cap: 100, logger: .silent,
      now: { [clock] in clock.seconds }, removed: { _ in }, environment: environment)
    try await mailbox.start()
    return mailbox
  }

  private var count: Int { engine.count(of: "mb.000.1") }

  /// Waits until the ids are in the stream.
  private func untilTold() async { await eventually { engine.count(of: "slot.000.left.*") > 0 } }

  @Test func `a retry of what was acknowledged is known at each gateway when all brokers were started again`()
    async throws
  {
    let (one, other) = (try await gateway(), try await gateway())
    let seq = try #require(await one.append([samplePush(1)]).first?.seq)
    one.acknowledge(1, through: seq)
    await eventually { count == 0 }
    await untilTold()
    engine.restart()
    await eventually { other.hasLeft(samplePush(1)) }
    for gateway in [one, other, try await gateway()] {
      #expect(await gateway.append([samplePush(1)]).map(\.isDuplicate) == [true])
    }
    #expect(count == 0 && other.knows(samplePush(1)) && !other.knows(samplePush(1, to: 2)))
    // Neither another id nor the same id for another device is a duplicate.
    #expect(await one.append([samplePush(2), samplePush(1, to: 2)]).map(\.isDuplicate) == [false, false])
    clock.advance(seconds: Int64(Limits.duplicateWindow))
    #expect(await one.append([samplePush(1, at: clock.seconds)]).map(\.isDuplicate) == [false])
  }

  @Test func `a retry of what was replaced drives nothing out when all brokers were started again`() async throws {
    let one = try await gateway()
    _ = await one.append([samplePush(1, collapse: "score")])
    let second = try #require(await one.append([samplePush(2, collapse: "score")]).first?.seq)
    await eventually { count == 1 }
    await untilTold()
    engine.restart()
    for gateway in [one, try await gateway()] {
      #expect(await gateway.append([samplePush(1, collapse: "score")]).map(\.isDuplicate) == [true])
      #expect(try await gateway.pending(for: 1, after: 0, limit: 9).entries.map(\.seq) == [second])
    }
  }

  @Test func `what was told while no broker was there is read when one is there again`() async throws {
    let one = try await gateway()
    let link = engine.connect()
    let other = JetStreamMailbox(
      .patient(link), partitions: 1, replicas: 3, cap: 100, logger: .silent, now: { [clock] in clock.seconds },
      removed: { _ in })
    try await other.start()
    link.set(.disconnected)
    var faults = ModelFaults.none
    faults.losses = 1
    engine.set(faults)
    let seq = try #require(await one.append([samplePush(1)]).first?.seq)
    one.acknowledge(1, through: seq)
    await untilTold()
    #expect(!other.hasLeft(samplePush(1)))
    link.set(.reconnected(server: "model"))
    await eventually { other.hasLeft(samplePush(1)) }
  }

  @Test func `ids are known until their time, and the oldest go where there are too many`() {
    var left = LeftIDs(capacity: 5)
    func key(_ number: Int) -> RecentIDs.Key { RecentIDs.Key(device: 1, app: 1, id: .number(number)) }
    let isNew = [(1, 200), (1, 200), (2, 100)].map { left.insert(key($0.0), dueBy: $0.1, now: 100) }
    #expect(isNew == [true, false, false])
    // An id is remembered no longer than the duplicate window, however late its given time is.
    _ = left.insert(key(3), dueBy: .max, now: 100)
    #expect(left.contains(key(1), now: 199) && !left.contains(key(1), now: 200))
    #expect(left.contains(key(3), now: 399) && !left.contains(key(3), now: 400))
    let isTakenAgain = left.insert(key(1), dueBy: 300, now: 250)
    #expect(isTakenAgain && left.contains(key(1), now: 299))
    for number in 10..<16 { _ = left.insert(key(number), dueBy: 900, now: 650) }
    #expect(left.count == 5 && !left.contains(key(10), now: 650) && left.contains(key(11), now: 650))
  }
}
