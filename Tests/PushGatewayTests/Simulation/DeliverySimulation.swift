import PushTesting
import Synchronization

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// A simulation of providers, a gateway and devices, with a clock, a network and a disk that fail, all from one seed.
///
/// The parts of the gateway are real: ``MailboxEngine`` and ``DeviceStreamState``. All other parts are simple enough to
/// be obviously right.
final class DeliverySimulation {
  /// The error if an invariant is violated.
  struct Violation: Error, CustomStringConvertible {
    var description: String
  }

  private enum Line {
    case push(MailboxEntry)
    case gap(MailboxGap)
    case caughtUp
  }

  /// An open stream, with the lines in transit in both directions, in order.
  private struct Session {
    var state = DeviceStreamState()
    var toDevice: [Line] = []
    var acknowledgements: [UInt64] = []
    /// The position of a read of the mailbox that has not finished.
    var reading: UInt64?
    /// The result of a read that has not arrived at the stream.
    var found: PendingPushes?
    /// The cursor in the device's hello: the gateway may send only pushes after it.
    var hello: UInt64
    /// True while the device accepts lines.
    var hasCapacity = true
  }

  private struct Device {
    let id: DeviceID
    /// The cursor on the device's disk.
    var cursor: UInt64 = 0
    /// The pushes that the user has seen, in order.
    var seen: [APNSID] = []
    var session: Session?
    /// The number of pushes that the limit dropped, by the start of each announced gap. A gap may be announced again
    /// with a greater number.
    var announcedGaps: [UInt64: Int] = [:]
  }

  private struct Sent {
    var push: StoredPush
    var isAccepted = false
    /// The sequence number from acceptance; 0 before.
    var seq: UInt64 = 0
  }

  private struct Outcomes {
    var pushes: [StoredPush]
    var outcomes: [AppendOutcome]
  }

  /// The state that the gateway's closures read and write.
  private final class Ledger: Sendable {
    /// Seconds since 1970.
    let clock = Mutex<Int64>(1_800_000_000)
    let finished = Mutex<[Outcomes]>([])
    let removals = Mutex<[MailboxRemoval]>([])
  }

  private var random: SplitMix64
  private let ledger = Ledger()
  private var disk = SimulatedDisk()
  private var engine: MailboxEngine
  private var pendingWrites = MailboxEngine.PendingWrites()
  private var operations: [MailboxOperation] = []
  private var devices: [Device]
  private var sent: [APNSID: Sent] = [:]
  private var order: [APNSID] = []
  private var fate = SimulatedDisk.Fate.kept
  /// The events of a run, to examine a seed.
  private(set) var trace: [String] = []
  private let cap: Int
  /// The latest time of the clock so far. A push that expired by then stays expired if the clock goes back.
  private var latest: Int64 = 1_800_000_000

  private let isTraced: Bool
  /// The number of steps so far.
  private var count = 0

  init(seed: UInt64, isTraced: Bool = false) {
    self.isTraced = isTraced
    random = SplitMix64(state: seed)
    cap = Int.random(in: 3...30, using: &random)
    devices = (1...3).map { Device(id: DeviceID(row: $0)) }
    engine = MailboxEngine(index: MailboxIndex(), cap: 0, now: { 0 }, removed: { _ in })
    engine = makeEngine(MailboxIndex())
  }

  /// Runs `steps` steps with faults, then runs without faults until nothing changes, and checks the invariants.
  func run(steps: Int) throws {
    for _ in 0..<steps { try step(faults: true) }
    fate = .kept
    for _ in 0..<20 {
      operations.append(.expire(now))
      for index in devices.indices {
        if devices[index].session == nil { connect(index) }
        devices[index].session?.hasCapacity = true
      }
      for _ in 0..<200 { try step(faults: false) }
    }
    try checkRest()
  }

  // MARK: Steps

  private func step(faults: Bool) throws {
    try move(faults: faults)
    // The checks of one device's queue run after each change. The check of all queues takes longer.
    count += 1
    guard count % 16 == 0, let broken = engine.index.withLock({ $0.brokenInvariant() }) else { return }
    throw Violation(description: broken)
  }

  private func move(faults: Bool) throws {
    let index = devices.indices.randomElement(using: &random) ?? 0
    switch Int.random(in: 0..<(faults ? 100 : 60), using: &random) {
    case 0..<12: try turn()
    case 12..<30: try carryToDevice(index)
    case 30..<42: carryAcknowledgement(index)
    case 42..<54: try readMailbox(index)
    case 54..<60: makeRoom(index)
    case 60..<78: send(to: index)
    case 78..<82: retry()
    case 82..<87: connect(index)
    case 87..<90: devices[index].session = nil
    case 90..<92: devices[index].session?.hasCapacity = false
    case 92..<94: operations.append(.expire(now))
    case 94..<97: passTime()
    case 97: fate = [.full, .crashBefore, .crashAfter].randomElement(using: &random) ?? .full
    default: crash()
    }
  }

  private func note(_ text: @autoclosure () -> String) {
    if isTraced { trace.append(text()) }
  }

  private var now: Int64 { ledger.clock.withLock { $0 } }

  /// Advances the clock: mostly a little, sometimes by hours, and sometimes back.
  private func passTime() {
    // A retry in progress would leave the duplicate window if the clock advanced by hours.
    let canLeap = operations.isEmpty
    let change =
      switch Int.random(in: 0..<10, using: &random) {
      case 0 where canLeap: Int64.random(in: 600...90_000, using: &random)
      case 1: Int64.random(in: -60 ... -1, using: &random)
      default: Int64.random(in: 1...20, using: &random)
      }
    ledger.clock.withLock { $0 += change }
    latest = max(latest, now)
    note("time \(now - 1_800_000_000)")
  }

  private func makeEngine(_ index: sending MailboxIndex) -> MailboxEngine {
    MailboxEngine(
      index: index, cap: cap, now: { [ledger] in ledger.clock.withLock { $0 } },
      removed: { [ledger] removed in ledger.removals.withLock { $0 += removed } })
  }

  // MARK: Provider

  private func send(to index: Int) {
    let lifetime: Int64 = Int.random(in: 0..<8, using: &random) == 0 ? 30 : 86_400 * 20
    let collapse = Int.random(in: 0..<5, using: &random) == 0 ? ["a", "b"].randomElement(using: &random) ?? "" : ""
    let push = StoredPush(
      device: devices[index].id, app: AppID(row: 1), id: APNSID(using: &random),
      isSenderID: Bool.random(using: &random), uniqueID: APNSID(using: &random), received: now * 1000,
      expires: now + lifetime, priority: 10, collapseID: collapse, payload: [])
    sent[push.id] = Sent(push: push)
    order.append(push.id)
    submit([push])
  }

  /// Sends a push again with the same id, as a sender does that lost its connection or got no answer.
  private func retry() {
    guard let id = order.suffix(20).randomElement(using: &random), let push = sent[id]?.push, push.isSenderID,
      latest - push.received / 1000 < Int64(Limits.duplicateWindow) - 30
    else { return }
    submit([push])
  }

  private func submit(_ pushes: [StoredPush]) {
    for push in pushes { note("sent \(push.id), ends \(push.expires - 1_800_000_000), collapses '\(push.collapseID)'") }
    operations.append(
      .append(pushes) { [ledger] outcomes in
        ledger.finished.withLock { $0.append(Outcomes(pushes: pushes, outcomes: outcomes)) }
      })
  }

  // MARK: Gateway

  /// One iteration of the mailbox's writer, with its effects.
  private func turn() throws {
    let (taken, fate) = (operations, fate)
    operations = []
    self.fate = .kept
    let isDue = Bool.random(using: &random)
    let failure = engine.process(taken, &pendingWrites, isDue: isDue) { try disk.commit($0, fate: fate) }
    if failure is SimulatedDisk.Crash { return crash() }
    let outcomes = ledger.finished.withLock { finished in
      defer { finished = [] }
      return finished
    }
    for batch in outcomes {
      for (push, outcome) in zip(batch.pushes, batch.outcomes) {
        switch outcome {
        case .queued(let seq, _):
          note("queued \(seq) \(push.id) for \(push.device.row)")
          sent[push.id]?.isAccepted = true
          sent[push.id]?.seq = seq
          deliver(MailboxEntry(seq: seq, push: push))
        case .duplicate:
          note("duplicate \(push.id)")
          sent[push.id]?.isAccepted = true
        case .unavailable, .failed: break
        }
      }
    }
  }

  private func deliver(_ entry: MailboxEntry) {
    for index in devices.indices where devices[index].id == entry.push.device {
      guard var session = devices[index].session else { continue }
      if let action = session.state.stored(entry, hasCapacity: session.hasCapacity) { perform(action, &session, index) }
      devices[index].session = session
    }
  }

  private func perform(_ action: DeviceStreamState.Action, _ session: inout Session, _ index: Int) {
    switch action {
    case .read(let seq): session.reading = seq
    case .send(let entry): if entry.push.expires > now { session.toDevice.append(.push(entry)) }
    case .drop: break
    case .announceGap(let gap): session.toDevice.append(.gap(gap))
    case .announceCaughtUp: session.toDevice.append(.caughtUp)
    case .acknowledge(let seq):
      note("device \(devices[index].id.row) acknowledges \(seq)")
      operations.append(.acknowledge(devices[index].id, seq))
    }
  }

  /// Reads the mailbox in two steps, so that the result may be stale when it arrives.
  private func readMailbox(_ index: Int) throws {
    guard var session = devices[index].session else { return }
    if let found = session.found {
      session.found = nil
      for action in session.state.found(found) { perform(action, &session, index) }
      if let action = session.state.performed(found, hasCapacity: session.hasCapacity) {
        perform(action, &session, index)
      }
    } else if let seq = session.reading {
      session.reading = nil
      let (gap, rows, isComplete) = engine.index.withLock { mailbox in
        MailboxIndex.select(mailbox.queues[devices[index].id], after: seq, limit: 4, now: now)
      }
      let entries = rows.compactMap(disk.entry)
      if entries.contains(where: isReplaced) { throw Violation(description: "a replaced push was found again") }
      session.found = PendingPushes(gap: gap, entries: entries, isComplete: isComplete)
    }
    devices[index].session = session
  }

  private func makeRoom(_ index: Int) {
    guard var session = devices[index].session else { return }
    session.hasCapacity = true
    if session.toDevice.isEmpty, let action = session.state.drained() { perform(action, &session, index) }
    devices[index].session = session
  }

  /// Ends the process and starts it again, without the state that is not on disk.
  private func crash() {
    note("crash")
    pendingWrites = MailboxEngine.PendingWrites()
    operations = []
    ledger.finished.withLock { $0 = [] }
    fate = .kept
    for index in devices.indices { devices[index].session = nil }
    // The disk may fail during a start, which is then repeated.
    let fates: [SimulatedDisk.Fate] = [.kept, .kept, .kept, .full, .crashBefore, .crashAfter]
    while !start(fates.randomElement(using: &random) ?? .kept) {}
  }

  /// Reads the disk and takes what it holds; returns false if the disk fails.
  private func start(_ fate: SimulatedDisk.Fate) -> Bool {
    var (changes, removals): ([MailboxIndex.RowChange], [MailboxRemoval]) = ([], [])
    var index = disk.rebuild(now: now, changes: &changes, removals: &removals)
    engine = makeEngine(MailboxIndex())
    do {
      try engine.start(with: &index, changes: changes, removals: removals) {
        try disk.commit($0, fate: fate)
      }
      note("has read")
      return true
    } catch {
      note("can't start: \(error)")
      return false
    }
  }

  // MARK: Devices

  private func connect(_ index: Int) {
    guard devices[index].session == nil else { return }
    note("device \(devices[index].id.row) connects at \(devices[index].cursor)")
    var session = Session(hello: devices[index].cursor)
    for action in session.state.hello(cursor: devices[index].cursor) { perform(action, &session, index) }
    devices[index].session = session
  }

  private func carryToDevice(_ index: Int) throws {
    guard var device = devices[index].session.map({ _ in devices[index] }), var session = device.session,
      !session.toDevice.isEmpty
    else { return }
    switch session.toDevice.removeFirst() {
    case .caughtUp: break
    case .gap(let gap):
      note("device \(device.id.row) is told of gap \(gap)")
      device.announcedGaps[gap.from] = gap.dropped
    case .push(let entry):
      if entry.seq <= session.hello { throw Violation(description: "sent again what the device said it had") }
      note("device \(device.id.row) receives \(entry.seq) \(entry.push.id), has \(device.cursor)")
      // The device stores the push together with its sequence number, and then acknowledges it.
      if entry.seq > device.cursor {
        device.cursor = entry.seq
        if device.seen.contains(entry.push.id) { throw Violation(description: "the person saw a push twice") }
        device.seen.append(entry.push.id)
      }
      session.acknowledgements.append(device.cursor)
    }
    device.session = session
    devices[index] = device
  }

  /// Returns true if a push with the same collapse id was accepted after this one.
  private func isReplaced(_ entry: MailboxEntry) -> Bool {
    let push = entry.push
    guard !push.collapseID.isEmpty else { return false }
    return sent.values.contains { other in
      other.seq > entry.seq && other.push.device == push.device && other.push.collapseID == push.collapseID
    }
  }

  private func carryAcknowledgement(_ index: Int) {
    guard var session = devices[index].session, !session.acknowledgements.isEmpty else { return }
    let seq = session.acknowledgements.removeFirst()
    perform(session.state.acknowledged(seq), &session, index)
    devices[index].session = session
  }

  // MARK: Invariants

  private func checkRest() throws {
    let removed = ledger.removals.withLock { $0 }
    for device in devices {
      let waiting = engine.index.withLock { $0.queues[device.id]?.count ?? 0 }
      if waiting > 0 { throw Violation(description: "\(waiting) pushes still wait when all is at rest") }
    }
    for id in order {
      guard let sent = sent[id], sent.isAccepted else { continue }
      let push = sent.push
      guard let device = devices.first(where: { $0.id == push.device }) else { continue }
      if device.seen.contains(id) || push.expires <= latest { continue }
      if removed.contains(where: { $0.device == push.device && $0.id == id }) { continue }
      throw Violation(
        description: "lost \(id) of device \(push.device.row): accepted, neither expired, removed nor seen")
    }
    try checkGaps(removed)
  }

  /// Checks that pushes that the limit dropped are in announced gaps. A push that a crash brought back and that was
  /// then removed for another reason is no such push.
  private func checkGaps(_ removed: [MailboxRemoval]) throws {
    var causes: [APNSID: RemovalCause] = [:]
    for removal in removed { causes[removal.id] = removal.cause }
    for device in devices {
      let dropped = order.filter { id in
        guard let push = sent[id]?.push, causes[id] == .overflow else { return false }
        return push.device == device.id && push.expires > latest && !device.seen.contains(id)
      }
      let told = device.announcedGaps.values.reduce(0, +)
      if told < dropped.count { throw Violation(description: "\(dropped.count) were dropped, and \(told) told") }
    }
  }
}
