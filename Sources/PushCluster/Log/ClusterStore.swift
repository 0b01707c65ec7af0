import Foundation
package import NATSClient
package import PushStorage

/// Opens a gateway's replica of the data that a cluster shares.
package enum ClusterStore {
  /// Opens the replica of a state folder.
  ///
  /// A replica that is new, was offline for too long or has another version can't follow the log to its end. It is
  /// replaced by the cluster's newest snapshot, or by an empty replica.
  ///
  /// - Parameters:
  ///   - path: the database in the gateway's state folder.
  ///   - schema: the schema to which the replica is migrated.
  /// - Throws: ``StoreError`` when the database belongs to another cluster or to a single gateway, or when the
  ///   cluster's snapshot has a later version.
  package static func open(
    _ path: String, of cluster: ClusterIdentity, engine: JetStream, durability: Durability,
    schema: StoreSchema = .current
  ) async throws -> SQLiteStore {
    if let known = try ReplicaFile(path) {
      guard known.cluster.isEmpty || known.cluster == cluster.id else {
        throw StoreError(
          "\(path) is a replica of another cluster: name an empty folder with --state, or that cluster's brokers with --backend"
        )
      }
      if known.cluster == cluster.id, known.suits(schema), try await isFollowable(known.position, engine) {
        return try SQLiteStore(path: path, durability: durability, schema: schema)
      }
    } else if FileManager.default.fileExists(atPath: path) {
      // Refuses the database of a single gateway.
      try await begin(path, of: cluster, durability, schema).close()
    }
    let snapshots = ClusterSnapshots(engine)
    guard try await snapshots.isThere(for: schema) else {
      try remove(path)
      return try await begin(path, of: cluster, durability, schema)
    }
    try remove(path)
    try await snapshots.read(to: path)
    return try SQLiteStore(path: path, durability: durability, schema: schema)
  }

  /// Opens an empty database as a replica that has no entry of the log.
  private static func begin(
    _ path: String, of cluster: ClusterIdentity, _ durability: Durability, _ schema: StoreSchema
  ) async throws -> SQLiteStore {
    let store = try SQLiteStore(path: path, durability: durability, schema: schema)
    try await store.becomeReplica(of: cluster.id)
    return store
  }

  /// Returns true if the log has all entries after a position.
  private static func isFollowable(_ position: UInt64, _ engine: JetStream) async throws -> Bool {
    guard let info = try await engine.streamInfo(ClusterLog.stream) else { return true }
    return info.state.firstSequence <= position + 1 || info.state.lastSequence <= position
  }

  private static func remove(_ path: String) throws {
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.removeItem(atPath: path + suffix)
    }
  }
}
