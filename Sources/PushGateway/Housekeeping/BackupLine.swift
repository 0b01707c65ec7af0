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
  private let cell: (any GatewayCell)?
  /// The last of a cell that was asked for.
  private let last = Mutex<Task<Backup.Summary, any Error>?>(nil)

  /// - Parameter cell: which has what waits; nil: the database has it.
  init(_ store: SQLiteStore, _ folder: StateFolder, cell: (any GatewayCell)?) {
    (self.store, self.folder, self.cell) = (store, folder, cell)
  }

  /// Saves the gateway into a file, with all that its cell has.
  func save(to path: String) async throws -> Backup.Summary {
    if let cell { return try await save(cell, to: path) }
    // On a thread that may take its time.
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { [store, folder] in
        continuation.resume(with: Result { try Backup.write(store, folder, to: path, now: Date()) })
      }
    }
  }

  private func save(_ cell: any GatewayCell, to path: String) async throws -> Backup.Summary {
    let turn = last.withLock { last in
      let before = last
      let task = Task.detached { [store, folder] in
        _ = await before?.result
        // What others have shared before this was asked for is in it.
        try await cell.catchUp()
        return try await Backup.write(store, folder, to: path, now: Date(), waiting: cell.saveWaiting)
      }
      last = task
      return task
    }
    return try await turn.value
  }
}
