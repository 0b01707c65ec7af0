import Foundation
package import NATSClient
package import PushStorage

/// Opens a gateway's replica of what a cell shares.
package enum CellStore {
  /// Opens the replica, with all that a snapshot has where it is new or was away for too long.
  ///
  /// - Parameter path: the database in the gateway's state folder.
  /// - Throws: ``StoreError`` when it is another cell's, or a gateway's that was alone.
  package static func open(
    _ path: String, of cell: CellIdentity, engine: JetStream, durability: Durability
  ) async throws -> SQLiteStore {
    let snapshots = CellSnapshots(engine)
    if FileManager.default.fileExists(atPath: path) {
      let store = try SQLiteStore(path: path, durability: durability)
      if let known = try await store.replicaOf() {
        if known.cell == cell.id, try await isFollowable(known.position, engine) { return store }
        guard known.cell.isEmpty || known.cell == cell.id else {
          throw StoreError(
            "\(path) is a replica of another cell: name an empty folder with --state, or this cell's brokers with --backend"
          )
        }
        try store.close()
        try remove(path)
      } else {
        try await store.becomeReplica(of: cell.id)
        if try await isFollowable(0, engine) { return store }
        try store.close()
        try remove(path)
      }
    }
    if try await snapshots.position() != nil {
      try await snapshots.read(to: path)
      return try SQLiteStore(path: path, durability: durability)
    }
    let store = try SQLiteStore(path: path, durability: durability)
    try await store.becomeReplica(of: cell.id)
    return store
  }

  /// Whether the log has all that comes after a position.
  private static func isFollowable(_ position: UInt64, _ engine: JetStream) async throws -> Bool {
    guard let info = try await engine.streamInfo(CellLog.stream) else { return true }
    return info.state.firstSequence <= position + 1 || info.state.lastSequence <= position
  }

  private static func remove(_ path: String) throws {
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.removeItem(atPath: path + suffix)
    }
  }
}
