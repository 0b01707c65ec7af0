import Dispatch
package import Logging
package import NATSClient
package import PushCore
package import PushStorage
import Synchronization

/// The mailbox of a cluster: JetStream streams that every gateway of the cluster writes and reads.
///
/// - A device has one subject in one stream. A push is a message of it, and its number is the message's: increasing,
///   with holes that the pushes of other devices fill. Numbers of a new stream begin with the time, so that they are
///   higher than any number that a device has from a lost stream.
/// - An append is done when the stream has acknowledged it. The stream recognizes a retry within
///   ``Limits/duplicateWindow``, by its own clock. A later retry of a push that is still pending is recognized by a
///   gateway that stored or read the first one.
/// - An acknowledged, replaced, dropped or retracted push is a message that is deleted: the gateway that deletes it
///   reports its removal.
/// - This gateway caches the pushes that it stored, read or received live, up to a limit; it reads others
///   from the stream.
package final class JetStreamMailbox: Sendable {
  struct State {
    var caches: [DeviceID: MailboxCache] = [:]
    var known = 0
    /// The cached pushes by expiration, in slices of ``expirySlice`` seconds; it also contains some that have left.
    var expiring: [Int64: [(device: DeviceID, seq: UInt64)]] = [:]
    /// The number of elements in ``expiring``.
    var expiringCount = 0
    /// The highest sequence number of each stream that this gateway has seen.
    var highest: [UInt64]
    /// The pushes that replace the previous push of their collapse id, by the subject of the id. `done` receives the id
    /// of the replaced push.
    var slots: [String: [(push: StoredPush, seq: UInt64, done: @Sendable (APNSID?) -> Void)]] = [:]
    /// The devices with acknowledged pushes whose deletion failed.
    var unswept: Set<DeviceID> = []
    var inFlight = (count: 0, size: 0)
    var problem: HealthProblem?
    /// The time of the streams' last refusal, in seconds since 1970.
    var lastFailure: Int64 = 0
    var isClosed = false
    /// The ids of pushes that have left.
    var left = LeftIDs()
    /// The pushes that have left, by partition, until their ids are in the stream.
    var unreported: [Int: [LeftPush]] = [:]
    /// The partitions for which a message with ids is scheduled.
    var reporting: Set<Int> = []
    /// Cancels the subscription to the ids that other gateways write.
    var cancelOthers: (@Sendable () -> Void)?
  }

  /// The maximum number of cached pushes.
  static let maximumKnown = 1_000_000
  static let maximumInFlight = (count: Limits.maximumUncommitted, size: 128 << 20)
  /// The maximum number of devices whose failed deletions are repeated together.
  static let sweptAtOnce = 256
  /// The maximum number of messages in one read.
  static let pageSize = 256
  /// The time after the last failure for which a problem is reported, in seconds.
  static let problemTime: Int64 = 10
  /// The length of a slice of ``State/expiring`` in seconds.
  static let expirySlice: Int64 = 64

  let engine: JetStream
  let streams: MailboxStreams
  let cap: Int
  let logger: Logger
  let now: @Sendable () -> Int64
  let removed: @Sendable ([MailboxRemoval]) -> Void
  let state: Mutex<State>
  let environment: MailboxEnvironment
  /// The queue on which appends begin and end, one after another.
  let queue: DispatchQueue
  let tickets = OrderedCompletions()
  /// The last token of the subject to which this process writes ids: each process has its own.
  let name = randomUUID()
  let replicas: Int

  /// - Parameters:
  ///   - partitions: the number of streams; never changed while one of them has messages.
  ///   - cap: the maximum number of pending pushes of a device.
  ///   - now: returns the time in seconds since 1970.
  ///   - removed: receives the pushes that this gateway removed without an acknowledgement.
  package init(
    _ engine: JetStream, partitions: Int, replicas: Int, cap: Int, logger: Logger,
    now: @escaping @Sendable () -> Int64, removed: @escaping @Sendable ([MailboxRemoval]) -> Void,
    environment: MailboxEnvironment = MailboxEnvironment()
  ) {
    (self.engine, self.replicas, self.cap, self.logger) = (engine, replicas, cap, logger)
    (self.now, self.removed, self.environment) = (now, removed, environment)
    queue = DispatchQueue(label: "pushgateway.mailbox", target: environment.queue)
    streams = MailboxStreams(partitions: partitions)
    state = Mutex(State(highest: Array(repeating: 0, count: streams.partitions)))
  }

  /// Accepts no more pushes.
  package func close() {
    let cancel = state.withLock { state in
      state.isClosed = true
      return state.cancelOthers.take()
    }
    cancel?()
  }

  package func partition(of device: DeviceID) -> Int { streams.partition(of: device) }

  /// Returns the subject to which a stream republishes the stored pushes of a device.
  package static func liveSubject(_ device: DeviceID, partitions: Int) -> String {
    MailboxStreams(partitions: partitions).live(of: device)
  }

  /// Returns the push that a stream republished after storing it; nil if the message is not a push, has left, or is
  /// a retry of a pending one.
  ///
  /// The push is cached, so that an acknowledgement can delete it.
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
      // Ends an old problem: callers that stop sending because of it would never clear it.
      if now() - state.lastFailure > Self.problemTime { state.problem = nil }
      return state.problem
    }
  }

  /// Returns the number of cached pending pushes, which this gateway accepted, or read for a stream.
  package func waitingCount(for device: DeviceID) -> Int { state.withLock { $0.caches[device]?.count ?? 0 } }

  /// Returns the numbers of stored pushes; a push that has just left may still be counted.
  ///
  /// A stream with more than ``countedSubjects`` subjects is not asked for several devices, because the broker would
  /// list all subjects. The cached numbers are returned instead.
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

  /// Returns the numbers of stored pushes by subject.
  ///
  /// - Returns: nil when the stream has too many subjects.
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

  // MARK: The cache

  /// The result of ``learn(_:_:)``.
  enum ReadResult {
    /// The push is cached if it is pending. `isDue` is true unless it has left or expired; it is then sent
    /// to the device.
    case new(isDue: Bool)
    /// The push has the id of a cached pending push, which another gateway may have removed.
    case retry(of: UInt64)
  }

  /// Caches a pending push.
  func learn(_ seq: UInt64, _ push: StoredPush) -> ReadResult {
    let partition = partition(of: push.device)
    let learned = state.withLock { state -> ReadResult in
      state.highest[partition] = max(state.highest[partition], seq)
      var cache = state.caches.removeValue(forKey: push.device) ?? MailboxCache()
      defer { state.caches[push.device] = cache }
      if cache.isGone(seq) { return .new(isDue: false) }
      if let first = waiting(push, in: cache), first < seq { return .retry(of: first) }
      if cache.learn(seq, push) {
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

  func change<Value>(_ device: DeviceID, _ body: (inout MailboxCache) -> sending Value) -> sending Value {
    state.withLock { state in
      var cache = state.caches.removeValue(forKey: device) ?? MailboxCache()
      let before = cache.count
      defer {
        state.known += cache.count - before
        state.caches[device] = cache
      }
      return body(&cache)
    }
  }

  /// Queues an operation of a device and starts the operations that may run; called on the queue.
  func take(_ turn: PerDeviceQueue.Turn, of device: DeviceID) {
    for start in change(device, { $0.turns.add(turn) }) { start() }
  }

  /// Records whether the streams accepted a request.
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
  /// Removes devices from the cache while it is too large; their pushes are read from the stream when needed.
  mutating func forgetSome() {
    guard known > JetStreamMailbox.maximumKnown || caches.count > JetStreamMailbox.maximumKnown else { return }
    // Selected first: a change during the iteration would copy the whole cache.
    for (device, count) in caches.prefix(1000).filter(\.value.isIdle).map({ ($0.key, $0.value.count) }) {
      caches[device] = nil
      known -= count
    }
  }

  /// Removes the expirations of pushes that have left, once these are the majority: else each would stay
  /// until its time.
  mutating func forgetWhatLeft() {
    guard expiringCount > 2 * known + 10_000 else { return }
    expiring = expiring.compactMapValues { [caches] items in
      let rest = items.filter { caches[$0.device]?.pushes[$0.seq] != nil }
      return rest.isEmpty ? nil : rest
    }
    expiringCount = expiring.values.reduce(0) { $0 + $1.count }
  }
}
