package import PushStorage
import Synchronization

/// The log of a cluster as a list in memory, for replicas in one process.
package final class MemoryReplicationLog: Sendable {
  private let entries = Mutex<[ChangeSet]>([])

  package init() {}

  package var count: Int { entries.withLock { $0.count } }

  /// Makes a database a replica of this log's cluster.
  package func join(_ store: SQLiteStore) async throws -> Member {
    if try ReplicaFile(store.path) == nil { try await store.becomeReplica(of: "cell") }
    let member = Member(log: self, store: store)
    store.replica.join(member)
    try await member.catchUp()
    return member
  }

  /// The access of one replica to the log.
  package final class Member: ReplicationLog {
    fileprivate let log: MemoryReplicationLog
    private let store: SQLiteStore

    fileprivate init(log: MemoryReplicationLog, store: SQLiteStore) { (self.log, self.store) = (log, store) }

    package func append(_ changes: ChangeSet, after position: UInt64) throws -> UInt64 {
      let changes = try ChangeSet(encoded: changes.encoded())
      return try log.entries.withLock { entries throws(ReplicationConflict) in
        guard entries.count == Int(position) else { throw ReplicationConflict() }
        entries.append(changes)
        return UInt64(entries.count)
      }
    }

    package func catchUp() async throws {
      let position = Int(try await store.replicaPosition())
      let new = log.entries.withLock { Array($0[position...].enumerated()) }
      for (index, entry) in new { try await store.apply(entry, at: UInt64(position + index + 1)) }
    }
  }
}
