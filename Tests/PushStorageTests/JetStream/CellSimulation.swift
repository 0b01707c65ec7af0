import NATSClient
import NATSTesting
import PushTesting

@testable import PushCluster
@testable import PushCore
@testable import PushStorage

/// A simulation of two gateways of a cluster, devices that move between them, and a failing model of JetStream: random
/// steps from a seed.
///
/// All work runs on the queue of the simulated time, so the state has no lock.
final class CellSimulation: @unchecked Sendable {
  struct Plan {
    var faults = ModelFaults.all
    var steps = 150
    /// Wraps the link between a gateway and the model.
    var transport: @Sendable (ModelLink) -> any NATSTransport = { $0 }
    /// Returns the sequence number that is acknowledged instead of `seq`.
    var acknowledges: @Sendable (UInt64) -> UInt64 = { $0 }
  }

  private struct Gateway {
    let link: ModelLink
    let mailbox: JetStreamMailbox
  }

  /// The position of a device.
  private struct Device {
    var gateway = 0
    var cursor: UInt64 = 0
    var received: Set<UInt64> = []

    mutating func take(_ seq: UInt64) {
      received.insert(seq)
      cursor = max(cursor, seq)
    }
  }

  static let devices: [DeviceID] = [1, 2, 3]
  private static let partitions = 2

  private let time = SimulatedTime()
  private let engine: ModelEngine
  private let plan: Plan
  private let cap: Int
  private var random: SplitMix64
  private var gateways: [Gateway] = []
  private var generation = 0
  private var ledger = CellLedger()
  private var held: [DeviceID: Device] = [:]
  private var inFlight = 0
  private var violation: CellLedger.Violation?
  /// The number of accepted pushes.
  private(set) var accepted = 0

  init(seed: UInt64, _ plan: Plan = Plan()) {
    random = SplitMix64(state: seed)
    cap = Int.random(in: 4...12, using: &random)
    self.plan = plan
    engine = ModelEngine(time, seed: seed &* 31)
  }

  var seconds: Int64 { TestClock.start + time.now.components.seconds }

  /// - Throws: ``CellLedger/Violation``.
  func run() async throws { try await time.run { try await self.simulate() } }

  private func simulate() async throws {
    // No work of the gateways continues after the simulation.
    defer { for gateway in gateways { gateway.mailbox.close() } }
    for index in 0..<2 { gateways.append(try await open(index)) }
    for device in Self.devices { held[device] = Device() }
    engine.set(plan.faults)
    for _ in 0..<plan.steps {
      try await step()
      if let violation { throw violation }
    }
    try await finish()
  }

  private func open(_ index: Int) async throws -> Gateway {
    let link = engine.connect()
    let transport = plan.transport(link)
    generation += 1
    let own = generation
    let mailbox = JetStreamMailbox(
      JetStream(transport), partitions: Self.partitions, replicas: 3, cap: cap, logger: .silent,
      now: { [time] in TestClock.start + time.now.components.seconds },
      removed: { [weak self] removals in
        guard let self else { return }
        ledger.noteRemovals(removals, at: gateways.indices.contains(index) && own == generations[index] ? index : -1)
      },
      environment: MailboxEnvironment(
        queue: time.queue, executor: time, now: { [time] in time.instant }, after: { [time] in time.after($0, $1) }))
    generations[index] = own
    try await mailbox.start()
    for device in Self.devices {
      _ = try transport.subscribe(JetStreamMailbox.liveSubject(device, partitions: Self.partitions), queue: nil) {
        [weak self] in self?.live($0, device, index, mailbox)
      }
    }
    return Gateway(link: link, mailbox: mailbox)
  }

  private var generations: [Int: Int] = [:]

  // MARK: Steps

  private func step() async throws {
    switch Int.random(in: 0..<40, using: &random) {
    case 0..<14: await append()
    case 14..<22: acknowledge()
    case 22..<28: try await receive()
    case 28..<31: try await readAll()
    case 31: await remove()
    case 32..<35: await grow(by: .seconds(Int.random(in: 1...200, using: &random)))
    case 35: engine.elect(for: .milliseconds(Int.random(in: 200...6000, using: &random)))
    case 36 where Int.random(in: 0..<4, using: &random) == 0:
      engine.restart()
      ledger.restart(at: time.now)
    case 37 where Int.random(in: 0..<4, using: &random) == 0: try await replace()
    default: await time.pause(.milliseconds(Int.random(in: 1...3000, using: &random)))
    }
  }

  private func anyDevice() -> DeviceID { Self.devices.randomElement(using: &random) ?? 1 }
  private func anyGateway() -> Int { Int.random(in: 0..<gateways.count, using: &random) }

  private func append() async {
    let pushes = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      MailboxSimulationTests.randomPush(at: seconds, using: &random)
    }
    let waits = Int.random(in: 0..<3, using: &random) > 0
    let mailbox = gateways[anyGateway()].mailbox
    for push in pushes { ledger.begin(push, at: time.now) }
    inFlight += 1
    await withCheckedContinuation { continuation in
      mailbox.append(pushes) { [self] outcomes in
        inFlight -= 1
        for (push, outcome) in zip(pushes, outcomes) { end(push, outcome) }
        if waits { continuation.resume() }
      }
      if !waits { continuation.resume() }
    }
  }

  private func end(_ push: StoredPush, _ outcome: AppendOutcome) {
    if outcome.seq != nil { accepted += 1 }
    do throws(CellLedger.Violation) { try ledger.end(push, outcome, at: time.now) } catch { violation = error }
    let id = PushHeaders.write(push, now: seconds).first { $0.name == "Nats-Msg-Id" }?.value ?? ""
    if outcome.isDuplicate, !engine.hasStored(id) {
      violation = CellLedger.Violation("\(push.id) is a duplicate of nothing")
    }
  }

  /// Acknowledges all or some of the pushes of a device, or a sequence number that does not exist.
  private func acknowledge() {
    let (device, gateway) = (anyDevice(), anyGateway())
    let mailbox = gateways[gateway].mailbox
    guard let seq = held[device]?.received.sorted().randomElement(using: &random) else {
      return mailbox.acknowledge(device, through: .max)
    }
    ledger.acknowledge(device, through: seq, at: gateway)
    mailbox.acknowledge(device, through: plan.acknowledges(seq))
  }

  /// A device reads the pushes after its cursor, at any gateway.
  private func receive() async throws {
    let (device, gateway, limit) = (anyDevice(), anyGateway(), Int.random(in: 1...20, using: &random))
    held[device]?.gateway = gateway
    let cursor = held[device]?.cursor ?? 0
    guard let pending = try await read(device, gateway, after: cursor, limit: limit) else { return }
    for entry in pending.entries { take(entry, device) }
  }

  private func readAll() async throws { _ = try await read(anyDevice(), anyGateway(), after: 0, limit: .max) }

  /// - Returns: Nil if the cluster does not answer.
  private func read(_ device: DeviceID, _ gateway: Int, after seq: UInt64, limit: Int) async throws -> PendingPushes? {
    let known = ledger.known(device, at: gateway, now: seconds)
    let mailbox = gateways[gateway].mailbox
    let pending: PendingPushes
    do { pending = try await mailbox.pending(for: device, after: seq, limit: limit) } catch { return nil }
    try ledger.check(pending, after: seq, of: device, known)
    return pending
  }

  private func take(_ entry: MailboxEntry, _ device: DeviceID) {
    held[device]?.take(entry.seq)
  }

  /// A stream accepts an announced push if it has received all pushes before it.
  private func live(_ message: NATSMessage, _ device: DeviceID, _ gateway: Int, _ mailbox: JetStreamMailbox) {
    var known = ledger.known(device, at: gateway, now: seconds)
    // A push may be announced again: the device recognizes its sequence number.
    known.acknowledged = 0
    guard gateways.indices.contains(gateway), gateways[gateway].mailbox === mailbox,
      let entry = mailbox.entry(live: message, of: device)
    else { return }
    do throws(CellLedger.Violation) { try ledger.check(entry, known) } catch { violation = error }
    guard let held = held[device], held.gateway == gateway, entry.seq > held.cursor,
      entry.previous <= held.cursor
    else { return }
    take(entry, device)
  }

  private func remove() async {
    let (device, mailbox) = (anyDevice(), gateways[anyGateway()].mailbox)
    let app: AppID? = [nil, 1, 2].randomElement(using: &random) ?? nil
    let id: APNSID? = Bool.random(using: &random) ? .number(Int.random(in: 1...12, using: &random)) : nil
    let index = ledger.removing.count
    ledger.removing.append(CellLedger.Removing(device: device, app: app, id: id))
    let isDone: Bool = await withCheckedContinuation { continuation in
      if let id {
        mailbox.retract(id, app: app, from: [device]) { continuation.resume(returning: $0) }
      } else {
        mailbox.purge([device], app: app) { continuation.resume(returning: $0) }
      }
    }
    // An operation that failed may be done in part, or completed later.
    if isDone { ledger.removing[index].ended = time.now }
  }

  private func grow(by some: Duration) async {
    await time.pause(some)
    for gateway in gateways { gateway.mailbox.expire(now: seconds) }
  }

  /// Ends a gateway during its work and starts another one in its place. Its devices reconnect with their cursors.
  private func replace() async throws {
    let index = anyGateway()
    gateways[index].mailbox.close()
    gateways[index].link.close()
    ledger.replace(index)
    gateways[index] = try await open(index)
    for device in Self.devices { acknowledgeAgain(device, index) }
  }

  private func acknowledgeAgain(_ device: DeviceID, _ index: Int) {
    let seq = ledger.acknowledgedAnywhere[device] ?? 0
    ledger.acknowledge(device, through: seq, at: index)
    gateways[index].mailbox.acknowledge(device, through: plan.acknowledges(seq))
  }

  // MARK: The end

  /// Checks, without further faults of the model, that each accepted push is found or explained, at every gateway and
  /// at a new one.
  private func finish() async throws {
    var faults = plan.faults
    (faults.lostRequests, faults.lostAnswers, faults.doubtfulRefusals, faults.staleReads) = (0, 0, 0, 0)
    (faults.losses, faults.longDelays) = (0, 0)
    engine.set(faults)
    await time.pause(.seconds(30))
    gateways.append(try await open(2))
    for _ in 0..<3 { await grow(by: .seconds(5)) }
    if inFlight != 0 { throw CellLedger.Violation("\(inFlight) appends were never answered") }
    for device in Self.devices { try await finish(device) }
    if let violation { throw violation }
  }

  private func finish(_ device: DeviceID) async throws {
    let acknowledged = ledger.acknowledgedAnywhere[device] ?? 0
    let end = time.now.components.seconds + 60
    var found: [[UInt64]] = []
    for gateway in gateways.indices {
      guard let pending = try await read(device, gateway, after: 0, limit: .max) else {
        throw CellLedger.Violation("an engine that does not fail does not answer")
      }
      // Pushes that expire during these reads are found by only some of them.
      found.append(pending.entries.filter { $0.push.expires > TestClock.start + end }.map(\.seq))
    }
    guard let first = found.first, found.allSatisfy({ $0 == first }) else {
      throw CellLedger.Violation("gateways do not agree on device \(device.row): \(found)")
    }
    if let seq = first.first, seq <= acknowledged { throw CellLedger.Violation("\(seq) was acknowledged and is there") }
    if first.count > cap { throw CellLedger.Violation("\(first.count) wait, the cap is \(cap)") }
    let all = Set(first).union(held[device]?.received ?? [])
    if let lost = ledger.lost(device, found: all, now: TestClock.start + end).first {
      throw CellLedger.Violation("\(lost.seq ?? 0) of device \(device.row) is lost")
    }
  }
}
