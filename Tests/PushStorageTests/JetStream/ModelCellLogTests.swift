import GRDB
import NATSClient
import NATSTesting
import PushTesting
import Synchronization
import Testing

@testable import PushCluster
@testable import PushCore
@testable import PushStorage

/// The log of a cell on a model of the engine.
@Suite(.timeLimit(.minutes(5))) struct ModelCellLogTests {
  /// How often something happened.
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
    let engine = JetStream(
      FaultyTransport(
        model.connect(),
        answer: { subject, answer in
          subject == CellLog.subject && answers.next() == 1 ? .failure(.timedOut) : answer
        }))
    _ = try await engine.ensureStream(CellLog.configuration(replicas: replicas))
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("one"), durability: .normal)
    try await store.becomeReplica(of: "cell")
    let log = CellLog(engine, store: store, snapshotIsDue: {}, failed: { _ in })
    try await log.start()
    defer { log.stop() }
    store.replica.join(log)
    let number = try await store.write { database in
      try database.execute(sql: "INSERT INTO team VALUES ('T')")
      return runs.next()
    }
    #expect(number == 1)
    #expect(model.count(of: CellLog.subject) == 1)
    #expect(try await store.pool.read { try String.fetchAll($0, sql: "SELECT id FROM team") } == ["T"])
  }
}
