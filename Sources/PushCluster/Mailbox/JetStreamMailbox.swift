import Dispatch
package import Logging
package import NATSClient
package import PushCore
package import PushStorage
import Synchronization

/// The mailbox of a cell: streams of JetStream, which every gateway of the cell writes and reads.
///
/// - A device has one subject in one stream. A push is a message of it, and its number is the message's: increasing, with
///   holes that the pushes of other devices fill. Numbers of a new stream begin with the time, so that they are higher than
///   any that a device has from a stream that was lost.
/// - An append is done when the stream acknowledged it. A retry within ``Limits/duplicateWindow`` is known by the stream, by
///   its own clock; a later one of a push that still waits, by whoever stored or read the first.
/// - What is acknowledged, replaced, dropped or taken back is a message that is deleted: whoever deletes it tells of it.
/// - What this gateway stored, read or was told live it remembers, within bounds; what it does not know it looks for.
package final class JetStreamMailbox: Sendable {
  struct State {
    var boxes: [DeviceID: MailboxCache] = [:]
    var known = 0
    /// What expires, by time; with some that has left.
    var expiring: [Int64: [(device: DeviceID, seq: UInt64)]] = [:]
    /// How much that is.
    var expiringCount = 0
    /// The highest number of each stream that was seen.
    var highest: [UInt64]
    var slots: [String: [CollapseRequest]] = [:]
    /// Devices of which something was acknowledged, and its deletion failed.
    var unswept: Set<DeviceID> = []
    var inFlight = (count: 0, size: 0)
    var problem: HealthProblem?
    /// When the streams refused last, in seconds since 1970.
    var lastFailure: Int64 = 0
    var isClosed = false
    /// The ids of pushes that have left.
    var left = LeftIDs()
    /// Pushes that have left, by partition, until their ids are in the stream.
    var untold: [Int: [LeftPush]] = [:]
    /// The partitions for which a message with ids is scheduled.
    var telling: Set<Int> = []
    /// The subscription to the ids that other gateways write.
    var heard: (any EngineSubscription)?
  }

  /// What is remembered at most, in pushes.
  static let maximumKnown = 1_000_000
  static let maximumInFlight = (count: Limits.maximumUncommitted, size: 128 << 20)
  /// How many devices are looked at together where a deletion failed.
  static let sweptAtOnce = 256
  /// How many messages are read at once.
  static let pageSize = 256
  /// How long a failure is a problem when nothing failed since, in seconds.
  static let problemTime: Int64 = 10
  /// Seconds of ``State/expiring`` that are looked at together.
  static let expirySlice: Int64 = 64

  let engine: JetStream
  let streams: MailboxStreams
  let cap: Int
  let logger: Logger
  let now: @Sendable () -> Int64
  let removed: @Sendable ([MailboxRemoval]) -> Void
  let state: Mutex<State>
  let environment: MailboxEnvironment
  /// Appends begin and end here, one after another.
  let queue: DispatchQueue
  let tickets = OrderedCompletions()
  /// The last word of the subject to which this process writes ids: each process has another.
  let name = randomUUID()
  let replicas: Int

  /// - Parameters:
  ///   - partitions: how many streams there are; never changed while one of them has anything.
  ///   - cap: how many pushes wait for a device at most.
  ///   - now: seconds since 1970.
  ///   - removed: hears of what left without an acknowledgement, when this gateway took it out.
  package init(
    _ engine: JetStream, partitions: Int, replicas: Int, cap: Int, logger: Logger,
    now: @escaping @Sendable () -> Int64, removed: @escaping @Sendable ([MailboxRemoval]) -> Void,
    environment: MailboxEnvironment = MailboxEnvironment()
  ) {
    self.engine = engine
    self.replicas = replicas
    self.cap = cap
    self.logger = logger
    self.now = now
    self.removed = removed
    self.environment = environment
    queue = DispatchQueue(label: "pushgateway.mailbox", target: environment.queue)
    streams = MailboxStreams(partitions: partitions)
    state = Mutex(State(highest: Array(repeating: 0, count: streams.partitions)))
  }

  /// Takes nothing more.
  package func close() {
    let heard = state.withLock { state in
      state.isClosed = true
      return state.heard.take()
    }
    heard?.cancel()
  }

  package func partition(of device: DeviceID) -> Int { streams.partition(of: device) }

  /// Where a push is published again when it was stored.
  package static func liveSubject(_ device: DeviceID, partitions: Int) -> String {
    MailboxStreams(partitions: partitions).live(of: device)
  }

  /// A push that a stream published again when it stored it; nil: it is none, has left, or is a retry of one that waits.
  ///
  /// It is remembered, so that an acknowledgement of it finds it.
  package func entry(live message: NATSMessage, of device: DeviceID) -> MailboxEntry? {
    guard let seq = message.sequence, let push = PushHeaders.read(message.headers, message.body, of: device)
    else { return nil }
    let previous = message.header("Nats-Last-Sequence").flatMap { UInt64($0) }
    if let previous { change(device) { $0.noteComplete(after: previous, through: seq) } }
    switch learn(seq, push) {
    case .new(let isDue): return isDue ? MailboxEntry(seq: seq, previous: previous ?? 0, push: push) : nil
    case .retry(let first):
      settleSoon(seq, push, after: first)
      return nil
    }
  }

  package var problem: HealthProblem? {
    if !engine.transport.link.isConnected { note(JetStreamError.link(.disconnected)) }
    return state.withLock { state in
      // Where nobody sends any longer because of it, nothing else would end it.
      if now() - state.lastFailure > Self.problemTime { state.problem = nil }
      return state.problem
    }
  }

  /// As far as this gateway knows: what it accepted, or read for a stream, and saw leave.
  package func waitingCount(for device: DeviceID) -> Int { state.withLock { $0.boxes[device]?.count ?? 0 } }

  /// What the streams hold: a push that has just left may still be counted. Of several devices it is what this gateway
  /// knows where a stream has more than ``countedSubjects``, all of which a broker would have to list.
  package func waitingCounts(of devices: [DeviceID]) async -> [DeviceID: Int] {
    await withTaskGroup(of: [(DeviceID, Int)].self) { group in
      for (partition, devices) in Dictionary(grouping: devices, by: streams.partition) {
        group.addTask { [self] in
          let counts = try? await counts(in: partition, ofOne: devices.count == 1 ? devices[0] : nil)
          return devices.map { device in
            let count = counts.map { $0[streams.pushes(of: device)].map { Int(clamping: $0) } ?? 0 }
            return (device, count ?? waitingCount(for: device))
          }
        }
      }
      return await group.reduce(into: [:]) { all, some in for (device, count) in some { all[device] = count } }
    }
  }

  private static let countedSubjects = 20_000

  /// - Returns: the counts of pushes by subject; nil when there are too many.
  private func counts(in partition: Int, ofOne device: DeviceID?) async throws -> [String: UInt64]? {
    let stream = streams.stream(partition)
    if device == nil {
      guard let info = try await engine.streamInfo(stream), info.state.subjectCount ?? 0 <= Self.countedSubjects else {
        return nil
      }
    }
    let filter = device.map(streams.pushes) ?? streams.pushes(in: partition)
    return try await engine.streamInfo(stream, subjects: filter)?.state.subjects ?? [:]
  }

  /// As far as this gateway knows: what others stored for devices that were never here is not counted. So no
  /// metric shows it.
  package var backlog: MailboxBacklog {
    state.withLock { MailboxBacklog(waiting: $0.known, oldest: nil, uncommitted: $0.inFlight.count) }
  }

  // MARK: What is known

  /// What a push is of which one hears.
  enum ReadResult {
    /// It is remembered, if it waits, and is to be sent unless it has left or ended.
    case new(isDue: Bool)
    /// It has the id of one that is known to wait, and may have left through another gateway.
    case retry(of: UInt64)
  }

  /// Remembers a push that waits.
  func learn(_ seq: UInt64, _ push: StoredPush) -> ReadResult {
    let partition = partition(of: push.device)
    let learned = state.withLock { state -> ReadResult in
      state.highest[partition] = max(state.highest[partition], seq)
      var box = state.boxes.removeValue(forKey: push.device) ?? MailboxCache()
      defer { state.boxes[push.device] = box }
      if box.isGone(seq) { return .new(isDue: false) }
      if let first = waiting(push, in: box), first < seq { return .retry(of: first) }
      if box.learn(seq, push) {
        state.known += 1
        state.expiring[push.expires / Self.expirySlice, default: []].append((push.device, seq))
        state.expiringCount += 1
      }
      return .new(isDue: push.expires > now())
    }
    state.withLock { state in
      state.forgetSome()
      state.forgetWhatLeft()
    }
    return learned
  }

  func note(_ sequence: UInt64, in partition: Int) {
    state.withLock { $0.highest[partition] = max($0.highest[partition], sequence) }
  }

  /// Changes what is known of a device.
  func change<Value>(_ device: DeviceID, _ body: (inout MailboxCache) -> sending Value) -> sending Value {
    state.withLock { state in
      var box = state.boxes.removeValue(forKey: device) ?? MailboxCache()
      let before = box.count
      defer {
        state.known += box.count - before
        state.boxes[device] = box
      }
      return body(&box)
    }
  }

  /// Starts what has its turn, on the queue.
  func take(_ turn: PerDeviceQueue.Turn, of device: DeviceID) {
    for start in change(device, { $0.turns.add(turn) }) { start() }
  }

  /// Says whether the streams can be reached.
  func note(_ error: JetStreamError?) {
    state.withLock { state in
      guard let error else {
        if state.problem != nil { state.problem = nil }
        return
      }
      state.lastFailure = now()
      guard state.problem == nil else { return }
      state.problem = HealthProblem(
        part: HealthProblem.storing, problem: "the cluster accepts no pushes: \(error)", since: now())
    }
  }
}

extension JetStreamMailbox.State {
  /// Forgets devices while too much is remembered; what is asked of them then is looked up.
  mutating func forgetSome() {
    guard known > JetStreamMailbox.maximumKnown || boxes.count > JetStreamMailbox.maximumKnown else { return }
    // Chosen first: as long as they are looked at, a change would copy all of them.
    for (device, count) in boxes.prefix(1000).filter(\.value.isIdle).map({ ($0.key, $0.value.count) }) {
      boxes[device] = nil
      known -= count
    }
  }

  /// Forgets when pushes would expire that have left, once those are most: else each would stay until its time.
  mutating func forgetWhatLeft() {
    guard expiringCount > 2 * known + 10_000 else { return }
    expiring = expiring.compactMapValues { [boxes] items in
      let rest = items.filter { boxes[$0.device]?.pushes[$0.seq] != nil }
      return rest.isEmpty ? nil : rest
    }
    expiringCount = expiring.values.reduce(0) { $0 + $1.count }
  }
}
