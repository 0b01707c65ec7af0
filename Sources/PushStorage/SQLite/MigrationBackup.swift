import Foundation

/// The backup that is made at the start before a database is migrated to a newer schema. Restoring it allows to go
/// back to the older program. One backup is kept, in the folder `backups` of the state folder.
package enum MigrationBackup {
  /// Returns the error for a database of a newer version. It names the backup that was made before that version's
  /// start.
  static func refusal(_ path: String) -> StoreError {
    let backups = folder(beside: path)
    guard let name = names(in: backups).max(by: { made(backups + "/" + $0) < made(backups + "/" + $1) }) else {
      return StoreError("\(path) was written by a newer pushcli: start that one, or restore an older backup")
    }
    return StoreError(
      "\(path) was written by a newer pushcli: start that one, or restore the previous backup with `pushcli admin restore \(backups)/\(name) --state NEW-FOLDER`"
    )
  }

  /// Returns the name of the backup that a version makes at its start.
  static func name(of version: String) -> String { prefix + version + suffix }

  private static let prefix = "before-"
  /// Backups omit files with the suffix of a database, and so also these backups.
  private static let suffix = ".sqlite"

  static func folder(beside path: String) -> String {
    (path as NSString).deletingLastPathComponent + "/backups"
  }

  static func names(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }
  }

  private static func made(_ path: String) -> Date {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.modificationDate] as? Date ?? .distantPast
  }
}
