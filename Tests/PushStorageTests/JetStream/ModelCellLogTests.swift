import GRDB
import NATSClient
import NATSTesting
import PushTesting
import Synchronization
import Testing

@testable import PushCluster
@testable import PushCore
@testable import PushStorage

/// The log of a cluster on a model of JetStream.
@Suite(.timeLimit(.minutes(5))) struct ModelCellLogTests {
  /// A counter of events.
  private final class Count: Sendable {
    private let value = Mutex(0)
    func next() -> Int {
      value.withLock { value in
        value += 1
        return value
      }
    }
  }

  @Test(arguments: [1, 3])
  func `an entry whose answer was lost is added once, and its change is made once`(_ replicas: Int) async throws {
    let model = ModelEngine()
    let (answers, runs) = (Count(), Count())
    let engine = JetStream.patient(
      FaultyTransport(
        model.connect(),
        answer: { subject, answer in
          subject == ClusterLog.subject && answers.next() == 1 ? .failure(.timedOut) : answer
        }))
    _ = try await engine.ensureStream(ClusterLog.configuration(replicas: replicas))
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("one"), durability: .normal)
    try await store.becomeReplica(of: "cell")
    let log = ClusterLog(engine, store: store, snapshotIsDue: {}, failed: { _ in })
    try await log.start()
    defer { log.stop() }
    store.replica.join(log)
    let number = try await store.write { database in
      try database.execute(sql: "INSERT INTO team VALUES ('T')")
      return runs.next()
    }
    #expect(number == 1)
    #expect(model.count(of: ClusterLog.subject) == 1)
    #expect(try await store.pool.read { try String.fetchAll($0, sql: "SELECT id FROM team") } == ["T"])
  }

  @Test func `an entry that a new leader does not return yet is not added again`() async throws {
    let model = ModelEngine()
    let (publishes, reads, runs) = (Count(), Count(), Count())
    let engine = JetStream.patient(
      FaultyTransport(
        model.connect(),
        answer: { subject, answer in
          if subject == ClusterLog.subject, publishes.next() == 1 { return .failure(.timedOut) }
          guard subject == "$JS.API.STREAM.MSG.GET.CELL", reads.next() == 1 else { return answer }
          let missing = #"{"error":{"code":404,"err_code":10037,"description":"no message found"}}"#
          return .success(NATSMessage(subject: "", body: Array(missing.utf8)))
        }))
    _ = try await engine.ensureStream(ClusterLog.configuration(replicas: 1))
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("one"), durability: .normal)
    try await store.becomeReplica(of: "cell")
    let log = ClusterLog(engine, store: store, snapshotIsDue: {}, failed: { _ in })
    try await log.start()
    defer { log.stop() }
    store.replica.join(log)
    let number = try await store.write { database in
      try database.execute(sql: "INSERT INTO team VALUES ('T')")
      return runs.next()
    }
    #expect(number == 1)
    #expect(model.count(of: ClusterLog.subject) == 1)
  }

  @Test func `an entry that this gateway could not store is taken over when it can`() async throws {
    let model = ModelEngine()
    let folder = try TemporaryFolder()
    var members: [(store: SQLiteStore, log: ClusterLog)] = []
    for name in ["one", "two"] {
      let engine = JetStream.patient(model.connect())
      _ = try await engine.ensureStream(ClusterLog.configuration(replicas: 1))
      let store = try SQLiteStore(path: folder.file(name), durability: .normal)
      try await store.becomeReplica(of: "cell")
      let log = ClusterLog(engine, store: store, snapshotIsDue: {}, failed: { _ in })
      try await log.start()
      store.replica.join(log)
      members.append((store, log))
    }
    defer { for member in members { member.log.stop() } }
    // A disk that is full for a while.
    let isFull = Mutex(true)
    members[1].store.replica.onChange(of: ["team"]) { _, _ in
      if isFull.withLock({ $0 }) { throw DatabaseError(resultCode: .SQLITE_FULL) }
    }
    for team in ["T1", "T2"] {
      try await members[0].store.write { try $0.execute(sql: "INSERT INTO team VALUES (?)", arguments: [team]) }
      await #expect(throws: StoreError.self) { try await members[1].log.catchUp() }
      #expect(members[1].log.problem != nil)
    }
    isFull.withLock { $0 = false }
    try await members[1].log.catchUp()
    #expect(
      try await members[1].store.pool.read { try String.fetchAll($0, sql: "SELECT id FROM team") } == ["T1", "T2"])
    #expect(members[1].log.problem == nil)
  }

  @Test func `a stopped log appends no entry and waits for none`() async throws {
    let model = ModelEngine()
    let engine = JetStream.patient(model.connect())
    _ = try await engine.ensureStream(ClusterLog.configuration(replicas: 1))
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("one"), durability: .normal)
    try await store.becomeReplica(of: "cell")
    let log = ClusterLog(engine, store: store, snapshotIsDue: {}, failed: { _ in })
    try await log.start()
    store.replica.join(log)
    log.stop()
    let wait = await #expect(throws: StoreError.self) { try await log.catchUp() }
    #expect(wait?.description == "the gateway ends")
    let change = await #expect(throws: StoreError.self) {
      try await store.write { try $0.execute(sql: "INSERT INTO team VALUES ('T')") }
    }
    #expect(change?.description == "the gateway ends")
    #expect(model.count(of: ClusterLog.subject) == 0)
  }

  @Test func `a stop ends the repetition of an append`() async throws {
    let attempts = Count()
    let running = Mutex<ClusterLog?>(nil)
    let engine = JetStream.patient(
      FaultyTransport(
        ModelEngine().connect(),
        answer: { subject, answer in
          guard subject == ClusterLog.subject else { return answer }
          _ = attempts.next()
          running.withLock { $0 }?.stop()
          return .failure(.timedOut)
        }))
    _ = try await engine.ensureStream(ClusterLog.configuration(replicas: 1))
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("one"), durability: .normal)
    try await store.becomeReplica(of: "cell")
    let log = ClusterLog(engine, store: store, snapshotIsDue: {}, failed: { _ in })
    running.withLock { $0 = log }
    try await log.start()
    store.replica.join(log)
    let change = await #expect(throws: StoreError.self) {
      try await store.write { try $0.execute(sql: "INSERT INTO team VALUES ('T')") }
    }
    #expect(change?.description == "the gateway ends")
    #expect(attempts.next() == 2)
  }

  @Test func `what no gateway wrote is passed over, and only a later version stops`() async throws {
    let engine = JetStream.patient(ModelEngine().connect())
    _ = try await engine.ensureStream(ClusterLog.configuration(replicas: 1))
    let schema = StoreSchema.current.version
    func add(_ entry: String) async throws {
      let stored: Result<PublishAcknowledgement, JetStreamError> = await withCheckedContinuation { continuation in
        engine.publish(ClusterLog.subject, Array(entry.utf8)) { continuation.resume(returning: $0) }
      }
      _ = try stored.get()
    }
    try await add("{")
    try await add(
      #"{"schema":\#(schema),"changes":[{"table":"scheduled","kind":"insert","key":{"number":1},"#
        + #""values":{"at":-9223372036854775808}}]}"#)
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("one"), durability: .normal)
    try await store.becomeReplica(of: "cell")
    let found = Mutex<[UInt64: String]>([:])
    let log = ClusterLog(
      engine, store: store, snapshotIsDue: {}, failed: { _ in },
      passedOver: { position, fault in found.withLock { $0[position] = fault } })
    try await log.start()
    defer { log.stop() }
    store.replica.join(log)
    #expect(found.withLock { $0.keys.sorted() } == [1, 2])
    #expect(found.withLock { $0[2]?.hasPrefix("scheduled.at is -9223372036854775808") } == true)
    try await store.write { try $0.execute(sql: "INSERT INTO team VALUES ('T')") }
    try await add("[]")
    try await log.catchUp()
    #expect(try await store.pool.read { try String.fetchAll($0, sql: "SELECT id FROM team") } == ["T"])
    #expect(log.problem == nil)
    try await add(#"{"schema":\#(schema + 1),"changes":0}"#)
    await #expect(throws: StoreError.self) { try await log.catchUp() }
    #expect(log.problem?.problem.contains("upgrade this gateway") == true)
  }

  @Test(arguments: [
    ("App", "-1"), ("App", "4294967296"), ("Received", "-9223372036854775808"), ("Received", "9223372036854775807"),
    ("Expires", "9223372036854775807"), ("Expires", "-1"), ("Priority", "256"),
  ])
  func `a push with a number that no gateway writes is none`(_ name: String, _ number: String) {
    let push = samplePush(1)
    let headers = PushHeaders.write(push, now: push.expires)
    let changed = headers.map { $0.name == name ? (name: name, value: number) : $0 }
    #expect(PushHeaders.read(headers, push.payload, of: 1)?.id == push.id)
    #expect(PushHeaders.read(changed, push.payload, of: 1) == nil)
    let broadcast = BroadcastMessage(
      channel: ChannelID(bytes: Array(repeating: 1, count: 16))!, app: 1, number: 0, id: .number(1),
      uniqueID: .number(2),
      received: push.received, expires: 0, priority: 10, payload: push.payload)
    let message = EphemeralMessages.message(of: broadcast)
    func read(_ headers: [(name: String, value: String)]) -> BroadcastMessage? {
      EphemeralMessages.broadcast(of: NATSMessage(subject: "s", headers: headers, body: message.body))
    }
    #expect(read(message.headers)?.id == .number(1))
    if name != "Expires" {
      #expect(read(message.headers.map { $0.name == name ? (name: name, value: number) : $0 }) == nil)
    }
  }
}
