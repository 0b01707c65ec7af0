import Dispatch
import Foundation
import PushCore
import PushStorage
import Synchronization

/// The queue of backups: they run one after another, since two at the same time would remove each other's drafts.
final class BackupQueue: Sendable {
  private let queue = DispatchQueue(label: "backups")
  private let store: SQLiteStore
  private let folder: StateFolder
  private let saveCluster: SaveCluster?
  /// The last requested backup of a cluster.
  private let last = Mutex<Task<Backup.Summary, any Error>?>(nil)

  /// Saves a cluster, given its local database, the state folder and the path of the backup.
  typealias SaveCluster = @Sendable (SQLiteStore, StateFolder, _ path: String) async throws -> Backup.Summary

  /// - Parameter saveCell: for a gateway of a cluster, which has the pending pushes; nil if the database has them.
  init(_ store: SQLiteStore, _ folder: StateFolder, saveCluster: SaveCluster?) {
    (self.store, self.folder, self.saveCluster) = (store, folder, saveCluster)
  }

  /// Saves the gateway to a file, with all data of its cluster.
  func save(to path: String) async throws -> Backup.Summary {
    if let saveCluster { return try await save(to: path, by: saveCluster) }
    // On a separate thread, since it may take long.
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { [store, folder] in
        continuation.resume(with: Result { try Backup.write(store, folder, to: path, now: Date()) })
      }
    }
  }

  private func save(to path: String, by saveCluster: @escaping SaveCluster) async throws -> Backup.Summary {
    let turn = last.withLock { last in
      let before = last
      let task = Task.detached { [store, folder] in
        _ = await before?.result
        return try await saveCluster(store, folder, path)
      }
      last = task
      return task
    }
    return try await turn.value
  }
}
