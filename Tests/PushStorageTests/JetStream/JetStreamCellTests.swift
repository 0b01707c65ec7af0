import NATSClient
import NATSTesting
import PushCluster
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

/// The operations of several gateways on the same streams, and the effects of a broker's failure.
@Suite(.timeLimit(.minutes(5)), .enabled(if: BrokerCluster.isAvailable, "no nats-server found: set NATS_SERVER"))
struct JetStreamCellTests {
  /// A gateway's mailbox with its reported removals.
  private struct Gateway: Sendable {
    let mailbox: JetStreamMailbox
    let removals = SQLiteHome.Removals()
    let connection: NATSConnection

    /// - Parameter answerTime: The timeout after which a request is sent again.
    init(
      _ broker: NATSOptions, _ clock: TestClock, cap: Int = 1000, partitions: Int = 2, replicas: Int = 1,
      answerTime: Duration = .seconds(120)
    ) async throws {
      connection = try await NATSConnection.connect(broker)
      mailbox = JetStreamMailbox(
        JetStream(connection, timeout: answerTime), partitions: partitions, replicas: replicas, cap: cap,
        logger: .silent, now: { clock.seconds }, removed: { [removals] in removals.add($0) }, environment: .patient)
      try await mailbox.start()
    }

    /// Waits until the broker has completed earlier requests.
    func waitUntil(_ isDone: () async throws -> Bool) async throws {
      while try await !isDone() { await mailbox.settle() }
    }

    func stored(_ device: DeviceID) async throws -> UInt64 {
      let partition = mailbox.partition(of: device)
      let info = try await JetStream.patient(connection).streamInfo("MB_00\(partition)", subjects: "mb.*.\(device.row)")
      return info?.state.subjects?.values.reduce(0, +) ?? 0
    }
  }

  private func pair(_ broker: NATSOptions, _ clock: TestClock, cap: Int = 1000) async throws -> (Gateway, Gateway) {
    (try await Gateway(broker, clock, cap: cap), try await Gateway(broker, clock, cap: cap))
  }

  @Test func `what one gateway stored another reads and takes out`() async throws {
    let broker = try await BrokerCluster.account()
    let clock = TestClock()
    let (one, other) = try await pair(broker, clock)
    let numbers = await one.mailbox.append((1...5).map { samplePush($0) }).compactMap(\.seq)
    #expect(numbers.count == 5)
    #expect(try await other.mailbox.waiting() == numbers)
    #expect(await other.mailbox.append([samplePush(1)]).map(\.isDuplicate) == [true])
    // The third gateway has neither read nor stored the pushes.
    let third = try await Gateway(broker, clock)
    third.mailbox.acknowledge(1, through: numbers[2])
    #expect(try await third.mailbox.waiting() == Array(numbers[3...]))
    try await third.waitUntil { try await third.stored(1) == 2 }
    #expect(try await one.mailbox.waiting(after: numbers[2]) == Array(numbers[3...]))
    try await other.mailbox.purge([1], app: nil)
    #expect(try await one.mailbox.waiting() == [])
    #expect(other.removals.all.map(\.cause) == [.unregistered, .unregistered])
  }

  @Test func `an acknowledgement of what was never given out takes nothing`() async throws {
    let broker = try await BrokerCluster.account()
    let gateway = try await Gateway(broker, TestClock())
    let seq = try #require(await gateway.mailbox.append([samplePush()]).first?.seq)
    gateway.mailbox.acknowledge(1, through: seq + 1000)
    #expect(try await gateway.mailbox.waiting() == [seq])
    #expect(try await gateway.stored(1) == 1)
    gateway.mailbox.acknowledge(1, through: seq)
    try await gateway.waitUntil { try await gateway.stored(1) == 0 }
  }

  @Test func `a collapse id replaces across gateways, and one of them tells`() async throws {
    let broker = try await BrokerCluster.account()
    let (one, other) = try await pair(broker, TestClock())
    async let first = one.mailbox.append((1...40).map { samplePush($0, collapse: "a") })
    async let second = other.mailbox.append((41...80).map { samplePush($0, collapse: "a") })
    let outcomes = await first + second
    let last = try #require(outcomes.compactMap(\.seq).max())
    #expect(try await one.mailbox.waiting() == [last])
    let told = one.removals.all + other.removals.all
    #expect(told.count == 79)
    #expect(Set(told.map(\.id)).count == 79)
    #expect(told.allSatisfy { $0.cause == .collapsed })
  }

  @Test func `the cap holds for what several gateways store`() async throws {
    let broker = try await BrokerCluster.account()
    let (one, other) = try await pair(broker, TestClock(), cap: 20)
    var numbers: [UInt64] = []
    for round in 0..<10 {
      let gateway = round.isMultiple(of: 2) ? one : other
      numbers += await gateway.mailbox.append((0..<4).map { _ in samplePush() }).compactMap(\.seq)
    }
    for gateway in [one, other] {
      let pending = try await gateway.mailbox.pending(for: 1, after: 0, limit: .max)
      #expect(pending.entries.map(\.seq) == Array(numbers[20...]))
      #expect(pending.gap == MailboxGap(from: numbers[0], to: numbers[19], dropped: 20))
    }
    #expect((one.removals.all + other.removals.all).filter { $0.cause == .overflow }.count == 20)
    for gateway in [one, other] { #expect(await gateway.mailbox.waitingCounts(of: [1, 2]) == [1: 20, 2: 0]) }
    // Both gateways have reported dropped pushes. The device acknowledges the gap at one of them.
    one.mailbox.acknowledge(1, through: numbers[30])
    try await other.waitUntil { try await other.mailbox.pending(for: 1, after: 0, limit: .max).gap == nil }
    try await other.waitUntil { await other.mailbox.waitingCounts(of: [1]) == [1: 9] }
  }

  @Test func `a retry that the stream forgot is sent once`() async throws {
    let broker = try await BrokerCluster.account()
    let gateway = try await Gateway(broker, TestClock())
    let engine = JetStream.patient(gateway.connection)
    let subject = "mb.00\(gateway.mailbox.partition(of: 1)).1"
    let seq = try #require(await gateway.mailbox.append([samplePush(1)]).first?.seq)
    let stored = try #require(
      try await engine.message("MB_00\(gateway.mailbox.partition(of: 1))", sequence: seq))
    // A second copy, as another gateway would store it after the stream has forgotten the id.
    let headers = stored.headers.filter { !$0.name.hasPrefix("Nats-") }
    _ = try await engine.publish(subject, headers: headers, stored.body)
    #expect(try await gateway.stored(1) == 2)
    #expect(try await gateway.mailbox.waiting() == [seq])
    try await gateway.waitUntil { try await gateway.stored(1) == 1 }
    #expect(await gateway.mailbox.append([samplePush(1)]).map(\.isDuplicate) == [true])
  }

  @Test func `a push is told live with what was before it`() async throws {
    let broker = try await BrokerCluster.account()
    let (one, other) = try await pair(broker, TestClock())
    let live = AsyncStream<NATSMessage>.makeStream()
    _ = try other.connection.subscribe(JetStreamMailbox.liveSubject(1, partitions: 2), queue: nil) {
      live.continuation.yield($0)
    }
    _ = try await other.connection.request("$JS.API.INFO", [], timeout: .seconds(120))
    let sent = [samplePush(1, collapse: "é"), samplePush(2), samplePush(3, to: 2), samplePush(4)]
    let numbers = await one.mailbox.append(sent).compactMap(\.seq)
    try #require(numbers.count == 4)
    var entries: [MailboxEntry] = []
    for await message in live.stream {
      entries.append(try #require(other.mailbox.entry(live: message, of: 1)))
      if entries.count == 3 { break }
    }
    #expect(entries.map(\.seq) == [numbers[0], numbers[1], numbers[3]])
    #expect(entries.map(\.previous) == [0, numbers[0], numbers[1]])
    #expect(entries.map(\.push.id) == [1, 2, 4].map(APNSID.number))
    #expect(entries.first?.push.collapseID == "é")
    // The gateway has read the pushes since, so it can find them when they are acknowledged.
    #expect(other.mailbox.waitingCount(for: 1) == 3)
    other.mailbox.acknowledge(1, through: numbers[1])
    try await other.waitUntil { try await other.stored(1) == 1 }
    #expect(other.mailbox.entry(live: NATSMessage(subject: "live.000.1"), of: 1) == nil)
  }

  @Test func `what is appended while the broker is away is stored once when it is back`() async throws {
    let broker = try await BrokerCluster.start()
    let gateway = try await Gateway(broker.options, TestClock())
    #expect(gateway.mailbox.problem == nil)
    await broker.kill(0)
    async let outcomes = gateway.mailbox.append((1...50).map { samplePush($0) })
    await gateway.connection.waitUntilDisconnected()
    #expect(gateway.mailbox.problem?.part == HealthProblem.storing)
    try await broker.start(0)
    #expect(await outcomes.compactMap(\.seq).count == 50)
    #expect(gateway.mailbox.problem == nil)
    let waiting = try await gateway.mailbox.pending(for: 1, after: 0, limit: .max).entries
    #expect(Set(waiting.map(\.push.id)).count == 50)
    #expect(waiting.count == 50)
    #expect(await gateway.mailbox.append((1...50).map { samplePush($0) }).allSatisfy(\.isDuplicate))
  }

  /// Appends pushes for three devices, in batches.
  ///
  /// - Returns: The ids of the stored pushes.
  private func appended(
    _ count: Int, from number: Int, _ gateway: Gateway, round: @Sendable (Int) async -> Void = { _ in }
  ) async -> [APNSID] {
    var stored: [APNSID] = []
    for batch in 0..<count / 10 {
      let pushes = (0..<10).map { samplePush(number + batch * 10 + $0, to: DeviceID(row: Int64(1 + $0 % 3))) }
      for (push, outcome) in zip(pushes, await gateway.mailbox.append(pushes)) where outcome.seq != nil {
        stored.append(push.id)
      }
      await round(batch)
    }
    return stored
  }

  @Test func `three brokers lose nothing with one of them`() async throws {
    let brokers = try await BrokerCluster.start(count: 3)
    let clock = TestClock()
    let one = try await Gateway(brokers.options, clock, replicas: 3, answerTime: .seconds(10))
    let other = try await Gateway(brokers.options, clock, replicas: 3, answerTime: .seconds(10))
    let total = 600
    async let first = appended(total / 2, from: 1, one) { if $0 == 5 { await brokers.kill(1) } }
    async let second = appended(total / 2, from: 10_001, other)
    let queued = await first + second
    #expect(queued.count == total)
    // A replica may lag, and a read may fail.
    let mailbox = other.mailbox
    var found: [APNSID] = []
    while found.count < queued.count {
      found = []
      for device in [1, 2, 3] as [DeviceID] {
        let entries = (try? await mailbox.pending(for: device, after: 0, limit: .max).entries) ?? []
        #expect(entries.map(\.seq) == entries.map(\.seq).sorted())
        found += entries.map(\.push.id)
      }
    }
    #expect(Set(found) == Set(queued))
    #expect(found.count == queued.count)
  }

  @Test func `a closed mailbox takes nothing, and a broker that is away hands out nothing`() async throws {
    let broker = try await BrokerCluster.start()
    let gateway = try await Gateway(broker.options, TestClock())
    await broker.kill(0)
    await gateway.connection.waitUntilDisconnected()
    await #expect(throws: StoreError.self) { try await gateway.mailbox.waiting() }
    gateway.mailbox.close()
    #expect(await gateway.mailbox.append([samplePush()]).map(\.isUnavailable) == [true])
  }
}
