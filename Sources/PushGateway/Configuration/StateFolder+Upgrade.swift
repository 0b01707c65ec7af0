import Foundation
import Logging
import PushCore
import PushStorage

extension StateFolder {
  /// Saves everything before this version changes the database, and says where it is: that is the way back to the version
  /// before. A disk without room for that does not keep the gateway from starting.
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
