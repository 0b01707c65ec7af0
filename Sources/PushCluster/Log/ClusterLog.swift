import Foundation
package import NATSClient
package import PushCore
package import PushStorage
import Synchronization

/// The log of a cluster in a JetStream stream: the gateways' shared data as changes in one total order.
///
/// An entry is one transaction of one gateway. It is appended only if it directly follows the last entry that the
/// gateway has applied (`Nats-Expected-Last-Sequence`). The stream's sequence numbers are the positions.
///
/// An entry that is too large for one message consists of several consecutive messages. Parts that another entry
/// interrupts are incomplete and ignored, as is a message that no gateway wrote.
package final class ClusterLog: ReplicationLog {
  package static let stream = "CELL"
  static let subject = "cell.log"
  private static let live = "cell.live"

  /// The maximum size of a message in bytes; brokers accept 1 MB by default.
  private static let partSize = 512 << 10
  /// The time for which an append is retried, to bridge an election.
  private static let retryTime = Duration.seconds(10)
  /// The time for which the first read is retried at start.
  private static let startTime = Duration.seconds(30)
  /// The interval at which the stream is read for entries without a notification.
  private static let lookInterval = Duration.seconds(2)
  private static let batch = 256

  private struct State {
    /// The last position that was read.
    var read: UInt64 = 0
    /// The position of the last entry that the replica has applied.
    var applied: UInt64 = 0
    var parts = Chunks()
    /// True after ``ClusterLog/stop()``.
    var isStopped = false
    /// True while the replica applies an entry that was read.
    var isApplying = false
    /// The reason why the log can't be read now, with its start in seconds since 1970; nil if it can be read.
    var problem: HealthProblem?
    /// The entries that the stream republished and that were not processed yet.
    var republished: [StoredMessage] = []
    var waiting: [CheckedContinuation<Result<Void, StoreError>, Never>] = []
    /// Cancels the subscription to republished entries.
    var cancel: (@Sendable () -> Void)?
  }

  private let engine: JetStream
  private let store: SQLiteStore
  /// Receives the reason why the replica can't continue.
  private let failed: @Sendable (StoreError) -> Void
  /// Called once with the schema of an entry of a later version.
  private let metLater: @Sendable (Int) -> Void
  private let hasMetLater = Atomic<Bool>(false)
  /// Receives the position of an entry that no gateway wrote, and the fault in it.
  private let passedOver: @Sendable (UInt64, String) -> Void
  private let state = Mutex(State())
  private let signal: AsyncStream<Void>
  private let wake: AsyncStream<Void>.Continuation
  /// A prefix of the ids of this gateway's messages, so that a message that was sent twice is stored once.
  private let writer: String
  private let written = Atomic<UInt64>(0)
  /// Called when so many entries were appended that a new gateway should start from a newer snapshot.
  private let snapshotIsDue: @Sendable () -> Void

  private let snapshotInterval: UInt64

  /// - Parameter snapshotInterval: the number of entries between two snapshots.
  package init(
    _ engine: JetStream, store: SQLiteStore, snapshotInterval: UInt64 = 5_000,
    snapshotIsDue: @escaping @Sendable () -> Void, failed: @escaping @Sendable (StoreError) -> Void,
    metLater: @escaping @Sendable (Int) -> Void = { _ in },
    passedOver: @escaping @Sendable (UInt64, String) -> Void = { _, _ in }
  ) {
    (self.snapshotInterval, self.metLater, self.passedOver) = (snapshotInterval, metLater, passedOver)
    (self.engine, self.store, self.failed, self.snapshotIsDue) = (engine, store, failed, snapshotIsDue)
    (signal, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    writer = randomUUID()
  }

  package static func configuration(replicas: Int) -> StreamConfiguration {
    var configuration = StreamConfiguration(name: stream, subjects: [subject], replicas: replicas)
    configuration.duplicateWindow = Int64(Limits.duplicateWindow) * 1_000_000_000
    configuration.allowsDirect = true
    configuration.deniesDelete = true
    configuration.republish = StreamConfiguration.Republish(source: subject, destination: live)
    return configuration
  }

  /// The reason why the changes of other gateways can't be applied now; nil while they can.
  package var problem: HealthProblem? { state.withLock { $0.problem } }

  // MARK: Following

  /// Starts following the log from the replica's position.
  ///
  /// Returns when the replica has all entries that the log had at the call; retries while the cluster
  /// elects its leader.
  package func start() async throws {
    let position = try await store.replicaPosition()
    let cancel = try engine.transport.subscribe(ClusterLog.live, queue: nil) { [weak self] in self?.take($0) }
    Task { [weak self, signal] in
      for await _ in signal { await self?.work() }
    }
    state.withLock { state in
      (state.read, state.applied) = (position, position)
      state.cancel = cancel
    }
    Task { [weak self] in
      while self?.isStopped == false {
        self?.wake.yield()
        try? await Task.sleep(for: ClusterLog.lookInterval)
      }
    }
    let end = ContinuousClock.now + ClusterLog.startTime
    while true {
      do { return try await catchUp() } catch let error as StoreError where error.mayPass && .now < end {
        try await Task.sleep(for: .milliseconds(200))
      }
    }
  }

  /// Stops: no entry is read or appended any longer.
  package func stop() {
    let state = state.withLock { state in
      state.isStopped = true
      defer { (state.cancel, state.waiting) = (nil, []) }
      return state
    }
    state.cancel?()
    wake.finish()
    for continuation in state.waiting { continuation.resume(returning: .failure(ClusterLog.ended)) }
  }

  private static let ended = StoreError("the gateway ends")

  private var isStopped: Bool { state.withLock { $0.isStopped } }

  package func catchUp() async throws {
    try await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, StoreError>, Never>) in
      let isStopped = state.withLock { state in
        if !state.isStopped { state.waiting.append(continuation) }
        return state.isStopped
      }
      if isStopped { continuation.resume(returning: .failure(ClusterLog.ended)) } else { wake.yield() }
    }.get()
  }

  private func take(_ message: NATSMessage) {
    guard let sequence = message.sequence else { return }
    let entry = StoredMessage(
      sequence: sequence, subject: message.subject, headers: message.headers, body: message.body)
    state.withLock { state in
      // Entries beyond the batch are read from the stream.
      if state.republished.count < ClusterLog.batch { state.republished.append(entry) }
    }
    wake.yield()
  }

  /// Runs one iteration: applies republished entries, reads missing ones, and resumes the callers of ``catchUp()``.
  private func work() async {
    let (republished, waiting) = state.withLock { state in
      defer { (state.republished, state.waiting) = ([], []) }
      return (state.republished, state.waiting)
    }
    do {
      for entry in republished where entry.sequence == state.withLock({ $0.read + 1 }) { try await follow(entry) }
      if waiting.isEmpty {
        if republished.isEmpty || republished.contains(where: { $0.sequence > state.withLock { $0.read } }) {
          try await read()
        }
      } else {
        try await readAll()
      }
      state.withLock { $0.problem = nil }
      for continuation in waiting { continuation.resume(returning: .success(())) }
    } catch {
      let failure = await explain(error)
      let now = WallClock.system.seconds
      state.withLock { state in
        state.problem = HealthProblem(
          part: "cell", problem: failure.description, since: state.problem?.since ?? now)
      }
      for continuation in waiting { continuation.resume(returning: .failure(failure)) }
    }
  }

  /// Reads the entries of any replica of the stream.
  private func read() async throws {
    while true {
      let next = state.withLock { $0.read + 1 }
      let found = try await engine.messages(
        ClusterLog.stream, subject: ClusterLog.subject, from: next, limit: ClusterLog.batch)
      for entry in found.messages { try await follow(entry) }
      if found.remaining == 0 || found.messages.isEmpty { return }
    }
  }

  /// Reads until no entry that the stream's leader has now is missing.
  private func readAll() async throws {
    guard let info = try await engine.streamInfo(ClusterLog.stream) else {
      throw StoreError("the cluster's log was deleted")
    }
    let end = ContinuousClock.now + ClusterLog.retryTime
    while state.withLock({ $0.read }) < info.state.lastSequence {
      try await read()
      if state.withLock({ $0.read }) >= info.state.lastSequence { return }
      // The replica of the stream that answered lags behind its leader.
      guard ContinuousClock.now < end else {
        throw StoreError("a replica of the cluster's log is behind: try again", mayPass: true)
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  private func follow(_ entry: StoredMessage) async throws {
    let finished = try state.withLock { state throws(StoreError) in
      guard !state.isStopped else { throw ClusterLog.ended }
      guard entry.sequence > state.read else { return [UInt8]?.none }
      guard entry.sequence == state.read + 1 else {
        throw ClusterLog.tooFarBehind
      }
      state.read = entry.sequence
      let finished = state.parts.add(entry.body, entry.header(Chunks.header))
      state.isApplying = finished != nil
      return finished
    }
    guard let finished else { return }
    do {
      try await apply(finished, at: entry.sequence)
    } catch {
      // The entry is read again: no later entry may be applied before it.
      state.withLock { state in
        (state.read, state.parts, state.isApplying) = (state.applied, Chunks(), false)
      }
      throw error
    }
    state.withLock { ($0.applied, $0.isApplying) = (entry.sequence, false) }
  }

  private func apply(_ entry: [UInt8], at position: UInt64) async throws {
    guard let changes = try changes(entry, position) else { return }
    if changes.schema > store.schema.version, !hasMetLater.exchange(true, ordering: .relaxed) {
      metLater(changes.schema)
    }
    try await store.apply(changes, at: position)
  }

  /// Decodes an entry.
  ///
  /// - Returns: nil for an entry that no gateway wrote.
  private func changes(_ entry: [UInt8], _ position: UInt64) throws(StoreError) -> ChangeSet? {
    let fault: String
    do {
      let changes = try ChangeSet(encoded: entry)
      guard changes.schema <= store.schema.version, let found = changes.fault else { return changes }
      fault = found
    } catch {
      guard ChangeSet.schema(of: entry) ?? 0 <= store.schema.version else {
        throw StoreError(
          "entry \(position) of the cluster's log has a newer version and can't be read (\(error)): upgrade this gateway"
        )
      }
      fault = "\(error)"
    }
    passedOver(position, fault)
    return nil
  }

  private static let tooFarBehind = StoreError(
    "the cluster's log has discarded entries that this gateway missed: restart it, and it copies the cluster's data"
  )

  /// Returns the one-line error for a failure; ends the gateway if no retry can repair it.
  private func explain(_ error: any Error) async -> StoreError {
    switch error {
    case let error as ReplicaDiverged:
      try? await store.giveUpReplica()
      let failure = StoreError(
        "this gateway's copy of the cluster's data is wrong (\(error)): restart it, and it copies the cluster's data"
      )
      failed(failure)
      return failure
    case let error as StoreError where error.description == ClusterLog.tooFarBehind.description:
      try? await store.giveUpReplica()
      failed(error)
      return error
    case let error as StoreError: return error
    case let error as JetStreamError:
      return StoreError("the cluster's log does not answer: \(error)", mayPass: error.mayPass)
    default: return SQLiteStore.explain(error, path: store.path)
    }
  }

  // MARK: Adding

  package func append(_ changes: ChangeSet, after position: UInt64) throws -> UInt64 {
    let bytes = try changes.encoded()
    guard bytes.count <= Chunks.maximumSize else {
      throw StoreError(
        "this change has \(bytes.count) bytes, the cluster's log accepts \(Chunks.maximumSize): make it in parts")
    }
    let parts = Chunks.split(bytes, size: ClusterLog.partSize)
    let number = written.add(1, ordering: .relaxed).newValue
    let deadline = ContinuousClock.now + ClusterLog.retryTime
    var last = try end(behind: position)
    for (index, part) in parts.enumerated() {
      let headers = [
        (name: "Nats-Msg-Id", value: "\(writer)-\(number)-\(index)"),
        (name: "Nats-Expected-Last-Sequence", value: "\(last)"),
        (name: Chunks.header, value: "\(index + 1)/\(parts.count)"),
      ]
      last = try add(part, headers, behind: last, until: deadline)
    }
    if last / snapshotInterval != position / snapshotInterval { snapshotIsDue() }
    return last
  }

  /// Returns the end of the log as far as it was read. Only incomplete parts may lie between the replica's
  /// position and the end.
  ///
  /// - Throws: ``ReplicationConflict`` while an entry that was read is being applied.
  private func end(behind position: UInt64) throws(ReplicationConflict) -> UInt64 {
    try state.withLock { state throws(ReplicationConflict) in
      if state.isApplying { throw ReplicationConflict() }
      return max(position, state.read)
    }
  }

  /// Appends one message. Without an answer it is sent again with the same id, so that it is stored once.
  private func add(
    _ part: [UInt8], _ headers: [(name: String, value: String)], behind last: UInt64,
    until deadline: ContinuousClock.Instant
  ) throws -> UInt64 {
    var isUncertain = false
    while true {
      guard !isStopped else { throw ClusterLog.ended }
      let answer = BlockingAnswer<PublishAcknowledgement>()
      engine.publish(ClusterLog.subject, headers: headers, part) { answer.give($0) }
      do {
        return try answer.wait().sequence
      } catch {
        if error.isConflict {
          // A broker without a cluster compares the sequence before the id, so the next message may be this one.
          if isUncertain, try isStored(headers, at: last + 1, until: deadline) { return last + 1 }
          throw ReplicationConflict()
        }
        isUncertain = isUncertain || error.leavesDoubt
        guard ContinuousClock.now < deadline else {
          throw StoreError("the cluster's log does not answer: \(error)", mayPass: error.mayPass)
        }
        // An election takes some seconds.
        Thread.sleep(forTimeInterval: 0.1)
      }
    }
  }

  /// Returns true if the message with a sequence number has the message id of these headers.
  ///
  /// The message exists, because the stream's last number is not lower. A new leader may not return it yet; if that
  /// counted as the entry of another gateway, the change would be made twice.
  private func isStored(
    _ headers: [(name: String, value: String)], at sequence: UInt64, until deadline: ContinuousClock.Instant
  ) throws(StoreError) -> Bool {
    let id = headers.first { $0.name == "Nats-Msg-Id" }?.value
    while true {
      guard !isStopped else { throw ClusterLog.ended }
      let answer = BlockingAnswer<StoredMessage?>()
      Task { [engine] in
        do throws(JetStreamError) {
          answer.give(.success(try await engine.leaderMessage(ClusterLog.stream, sequence: sequence)))
        } catch { answer.give(.failure(error)) }
      }
      let found: StoredMessage?
      do { found = try answer.wait() } catch {
        guard error.mayPass, ContinuousClock.now < deadline else {
          throw StoreError("the cluster's log does not answer: \(error)", mayPass: error.mayPass)
        }
        Thread.sleep(forTimeInterval: 0.1)
        continue
      }
      if let found { return found.header("Nats-Msg-Id") == id }
      guard ContinuousClock.now < deadline else {
        throw StoreError("the leader of the cluster's log is behind: try again", mayPass: true)
      }
      Thread.sleep(forTimeInterval: 0.1)
    }
  }
}
