import Dispatch
import Foundation
import PushCore
import PushStorage

/// Makes backups of a gateway, one after another: of two at a time each would remove what the other has begun.
final class BackupLine: Sendable {
  private let queue = DispatchQueue(label: "backups")
  private let store: SQLiteStore
  private let folder: StateFolder

  init(_ store: SQLiteStore, _ folder: StateFolder) { (self.store, self.folder) = (store, folder) }

  /// Saves the gateway into a file, on a thread that may take its time.
  func save(to path: String) async throws -> Backup.Summary {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [store, folder] in
        continuation.resume(with: Result { try Backup.write(store, folder, to: path, now: Date()) })
      }
    }
  }
}
