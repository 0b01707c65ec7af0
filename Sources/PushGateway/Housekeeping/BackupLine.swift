import Dispatch
import Foundation
import PushCore
import PushStorage
import Synchronization

/// Makes backups of a gateway, one after another: of two at a time each would remove what the other has begun.
final class BackupLine: Sendable {
  private let queue = DispatchQueue(label: "backups")
  private let store: SQLiteStore
  private let folder: StateFolder
  private let saveCell: SaveCell?
  /// The last of a cell that was asked for.
  private let last = Mutex<Task<Backup.Summary, any Error>?>(nil)

  /// Saves a cell, whose replica and folder are named.
  typealias SaveCell = @Sendable (SQLiteStore, StateFolder, _ path: String) async throws -> Backup.Summary

  /// - Parameter saveCell: for a gateway of a cell, which has what waits; nil: the database has it.
  init(_ store: SQLiteStore, _ folder: StateFolder, saveCell: SaveCell?) {
    (self.store, self.folder, self.saveCell) = (store, folder, saveCell)
  }

  /// Saves the gateway into a file, with all that its cell has.
  func save(to path: String) async throws -> Backup.Summary {
    if let saveCell { return try await save(to: path, by: saveCell) }
    // On a thread that may take its time.
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { [store, folder] in
        continuation.resume(with: Result { try Backup.write(store, folder, to: path, now: Date()) })
      }
    }
  }

  private func save(to path: String, by saveCell: @escaping SaveCell) async throws -> Backup.Summary {
    let turn = last.withLock { last in
      let before = last
      let task = Task.detached { [store, folder] in
        _ = await before?.result
        return try await saveCell(store, folder, path)
      }
      last = task
      return task
    }
    return try await turn.value
  }
}
