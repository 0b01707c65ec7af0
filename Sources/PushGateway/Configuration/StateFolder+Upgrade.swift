import Foundation
import Logging
import PushCore
import PushStorage

extension StateFolder {
  /// Creates a backup before this version migrates the database, and logs its path: the previous version can be
  /// restored from it. The gateway also starts if the disk has no space for the backup.
  func saveBeforeUpgrade(_ logger: Logger) {
    do {
      guard let path = try MigrationBackup.make(self, version: Version.text, now: Date()) else { return }
      logger.log(
        .upgradeSaved, "the database is migrated to version \(Version.text); a backup has its previous state",
        metadata: ["path": "\(path)"])
    } catch {
      logger.log(
        .upgradeNotSaved,
        "the database is migrated to version \(Version.text) without a backup of its previous state: \(error)")
    }
  }
}
