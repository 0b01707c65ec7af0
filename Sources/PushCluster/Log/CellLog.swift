import Dispatch
import Foundation
package import NATSClient
package import PushCore
package import PushStorage
import Synchronization

/// The log of a cell in a stream of JetStream: what its gateways share, as the changes that made it, in one order.
///
/// An entry is one transaction of one gateway. It is added right behind the last that the gateway has applied, or not at
/// all (`Nats-Expected-Last-Sequence`); the stream's numbers are the positions. An entry that is too large for one message
/// is several, one right behind the other; a run of parts that another entry interrupts was never finished and counts for
/// nothing, as does a message that no gateway wrote.
package final class CellLog: ReplicationLog {
  package static let stream = "CELL"
  static let subject = "cell.log"
  private static let live = "cell.live"

  /// What one message carries at most: brokers take 1 MB by default.
  private static let partSize = 512 << 10
  /// How long an entry is tried to be added, over an election.
  private static let patience = Duration.seconds(10)
  /// How long the log is waited for at first.
  private static let startTime = Duration.seconds(30)
  /// How often the stream is asked for what nobody told of.
  private static let lookInterval = Duration.seconds(2)
  private static let batch = 256

  private struct State {
    /// The last position that was looked at.
    var read: UInt64 = 0
    /// The last whose entry the replica has taken over.
    var applied: UInt64 = 0
    var parts = Chunks()
    /// Whether the replica takes an entry over that was read.
    var isApplying = false
    /// Why the log can't be read now, and since when, in seconds since 1970.
    var problem: HealthProblem?
    /// Entries that the stream has told of, and nobody has looked at.
    var told: [StoredMessage] = []
    var waiting: [CheckedContinuation<Result<Void, StoreError>, Never>] = []
    var subscription: (any EngineSubscription)?
    var work: Task<Void, Never>?
  }

  private let engine: JetStream
  private let store: SQLiteStore
  /// Hears why the replica can't go on.
  private let failed: @Sendable (StoreError) -> Void
  /// Hears once that an entry is of a later version, and of which schema.
  private let metLater: @Sendable (Int) -> Void
  private let hasMetLater = Atomic<Bool>(false)
  /// Receives the position of an entry that no gateway wrote, and what is wrong with it.
  private let passedOver: @Sendable (UInt64, String) -> Void
  private let state = Mutex(State())
  private let signal: AsyncStream<Void>
  private let wake: AsyncStream<Void>.Continuation
  /// Names this gateway's entries, so that one that was sent twice is stored once.
  private let writer: String
  private let written = Atomic<UInt64>(0)
  /// Called when so much was added that the next gateway should not have to read all of it.
  private let snapshotIsDue: @Sendable () -> Void

  private let snapshotInterval: UInt64

  /// - Parameter snapshotInterval: so many entries after a snapshot there is another one.
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

  /// How the stream is kept.
  package static func configuration(replicas: Int) -> StreamConfiguration {
    var configuration = StreamConfiguration(name: stream, subjects: [subject], replicas: replicas)
    configuration.duplicateWindow = Int64(Limits.duplicateWindow) * 1_000_000_000
    configuration.allowsDirect = true
    configuration.deniesDelete = true
    configuration.republish = StreamConfiguration.Republish(source: subject, destination: live)
    return configuration
  }

  /// Why what other gateways change is not taken over now; nil when it is.
  package var problem: HealthProblem? { state.withLock { $0.problem } }

  // MARK: Following

  /// Begins to follow; the replica has what it has. Returns when it has all that the log had; waits for a cluster that elects
  /// its leader.
  package func start() async throws {
    let position = try await store.replicaPosition()
    let subscription = try engine.transport.subscribe(CellLog.live, queue: nil) { [weak self] in self?.take($0) }
    let work = Task { [weak self, signal] in
      for await _ in signal { await self?.work() }
    }
    state.withLock { state in
      (state.read, state.applied) = (position, position)
      (state.subscription, state.work) = (subscription, work)
    }
    Task { [weak self] in
      while !Task.isCancelled, self != nil {
        self?.wake.yield()
        try? await Task.sleep(for: CellLog.lookInterval)
      }
    }
    let end = ContinuousClock.now + CellLog.startTime
    while true {
      do { return try await catchUp() } catch let error as StoreError where error.mayPass && .now < end {
        try await Task.sleep(for: .milliseconds(200))
      }
    }
  }

  /// Ends it: nothing is followed or added any longer.
  package func stop() {
    let state = state.withLock { state in
      defer { (state.subscription, state.work, state.waiting) = (nil, nil, []) }
      return state
    }
    state.subscription?.cancel()
    wake.finish()
    for continuation in state.waiting { continuation.resume(returning: .failure(StoreError("the gateway ends"))) }
  }

  package func catchUp() async throws {
    try await withCheckedContinuation { continuation in
      state.withLock { $0.waiting.append(continuation) }
      wake.yield()
    }.get()
  }

  private func take(_ message: NATSMessage) {
    guard let sequence = message.sequence else { return }
    let entry = StoredMessage(
      sequence: sequence, subject: message.subject, headers: message.headers, body: message.body, time: "")
    state.withLock { state in
      // What is beyond is read from the stream.
      if state.told.count < CellLog.batch { state.told.append(entry) }
    }
    wake.yield()
  }

  /// One round: takes what was told, reads what was not, and answers who waits for it.
  private func work() async {
    let (told, waiting) = state.withLock { state in
      defer { (state.told, state.waiting) = ([], []) }
      return (state.told, state.waiting)
    }
    do {
      for entry in told where entry.sequence == state.withLock({ $0.read + 1 }) { try await follow(entry) }
      if waiting.isEmpty {
        if told.isEmpty || told.contains(where: { $0.sequence > state.withLock { $0.read } }) { try await read() }
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

  /// Reads what any replica of the stream has.
  private func read() async throws {
    while true {
      let next = state.withLock { $0.read + 1 }
      let found = try await engine.messages(CellLog.stream, subject: CellLog.subject, from: next, limit: CellLog.batch)
      for entry in found.messages { try await follow(entry) }
      if found.remaining == 0 || found.messages.isEmpty { return }
    }
  }

  /// Reads until nothing is missing that the stream's leader has now.
  private func readAll() async throws {
    guard let info = try await engine.streamInfo(CellLog.stream) else {
      throw StoreError("the cluster's log was deleted")
    }
    let end = ContinuousClock.now + CellLog.patience
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
      guard entry.sequence > state.read else { return [UInt8]?.none }
      guard entry.sequence == state.read + 1 else {
        throw CellLog.tooFarBehind
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
      // It is read again: nothing behind it may come before it.
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

  /// What a failure means, in one line; what no retry mends ends the gateway.
  private func explain(_ error: any Error) async -> StoreError {
    switch error {
    case let error as ReplicaDiverged:
      try? await store.giveUpReplica()
      let failure = StoreError(
        "this gateway's copy of the cluster's data is wrong (\(error)): restart it, and it copies the cluster's data"
      )
      failed(failure)
      return failure
    case let error as StoreError where error.description == CellLog.tooFarBehind.description:
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
    let parts = Chunks.split(bytes, size: CellLog.partSize)
    let number = written.add(1, ordering: .relaxed).newValue
    let deadline = ContinuousClock.now + CellLog.patience
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

  /// The end of the log as far as it was read, when that is right behind what a replica has, or only parts that were never
  /// finished lie between.
  private func end(behind position: UInt64) throws(ReplicationConflict) -> UInt64 {
    try state.withLock { state throws(ReplicationConflict) in
      if state.isApplying { throw ReplicationConflict() }
      return max(position, state.read)
    }
  }

  /// Adds one message; where nobody answers it is sent again with the same id, so that it is there once.
  private func add(
    _ part: [UInt8], _ headers: [(name: String, value: String)], behind last: UInt64,
    until deadline: ContinuousClock.Instant
  ) throws -> UInt64 {
    var isUncertain = false
    while true {
      let answer = Answer<PublishAcknowledgement>()
      engine.publish(CellLog.subject, headers: headers, part) { answer.give($0) }
      do {
        return try answer.wait().sequence
      } catch {
        if error.isConflict {
          // A broker that is alone compares before it looks for the id: what comes first may be this one.
          if isUncertain, try isStored(headers, at: last + 1) { return last + 1 }
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

  /// Whether the message with a number is the one with these headers.
  private func isStored(_ headers: [(name: String, value: String)], at sequence: UInt64) throws(StoreError) -> Bool {
    let answer = Answer<StoredMessage?>()
    Task { [engine] in
      do throws(JetStreamError) {
        answer.give(.success(try await engine.leaderMessage(CellLog.stream, sequence: sequence)))
      } catch { answer.give(.failure(error)) }
    }
    do {
      let id = headers.first { $0.name == "Nats-Msg-Id" }?.value
      return try answer.wait()?.header("Nats-Msg-Id") == id
    } catch { throw StoreError("the cluster's log does not answer: \(error)", mayPass: error.mayPass) }
  }

  /// An answer that a thread waits for.
  private final class Answer<Value: Sendable>: Sendable {
    private let given = DispatchSemaphore(value: 0)
    private let result = Mutex<Result<Value, JetStreamError>>(.failure(.link(.closed)))

    func give(_ result: Result<Value, JetStreamError>) {
      self.result.withLock { $0 = result }
      given.signal()
    }

    func wait() throws(JetStreamError) -> Value {
      given.wait()
      return try result.withLock { $0 }.get()
    }
  }
}
