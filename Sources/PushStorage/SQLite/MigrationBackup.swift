package import Foundation
import GRDB
package import PushCore

/// The backup that a start makes before it brings a database to a newer schema: what to restore for going back to the older
/// program. One is kept, in the state folder's `backups`.
package enum MigrationBackup {
  /// What is left free on the disk at least, in bytes: without that much there is no backup.
  private static let reserve = 64 << 20

  /// Makes the backup where a start of this version will change the database, and forgets those of earlier versions.
  ///
  /// A start that was killed half-way through the changes does not replace the backup that it made before them.
  ///
  /// - Parameter version: this program's.
  /// - Returns: its path; nil where the database stays as it is, or there is none.
  /// - Throws: ``StoreError`` where it can't be made, with the reason.
  package static func make(_ folder: StateFolder, version: String, now: Date) throws -> String? {
    // What is damaged, or of a newer version, is told by whoever opens it.
    guard let applied = migrations(of: folder.databasePath), case let all = Set(Schema.migrator.migrations),
      !applied.isEmpty, applied.isStrictSubset(of: all)
    else { return nil }
    let backups = MigrationBackups.folder(beside: folder.databasePath)
    let path = backups + "/" + MigrationBackups.name(of: version)
    if let earlier = migrations(of: path), earlier.isStrictSubset(of: applied) { return path }
    do {
      try PrivateFile.createFolder(backups)
    } catch {
      throw StoreError("\(backups) can't be made (\(error))")
    }
    try requireRoom(for: folder.databasePath)
    try Backup.write(database: folder.databasePath, folder, to: path, now: now)
    for name in MigrationBackups.names(in: backups) where backups + "/" + name != path {
      try? FileManager.default.removeItem(atPath: backups + "/" + name)
    }
    return path
  }

  /// Sees whether this program opens the database of a folder, which a gateway may have in use.
  ///
  /// - Throws: ``StoreError`` when a newer version has changed it.
  package static func refuseNewer(_ folder: StateFolder) throws(StoreError) {
    guard let applied = migrations(of: folder.databasePath), !applied.isSubset(of: Schema.migrator.migrations) else {
      return
    }
    throw MigrationBackups.refusal(folder.databasePath)
  }

  /// What a database was brought to; nil where there is none that can be read, and for a replica, which is made anew from
  /// what its cell has.
  private static func migrations(of path: String) -> Set<String>? {
    guard FileManager.default.fileExists(atPath: path), (try? ReplicaFile(path)) == nil else { return nil }
    return try? SQLiteStore.reader(path).read { try Schema.migrator.appliedIdentifiers($0) }
  }

  private static func requireRoom(for path: String) throws {
    let files = FileManager.default
    func bytes(_ value: Any?) -> Int { (value as? NSNumber)?.intValue ?? 0 }
    let size = bytes(try? files.attributesOfItem(atPath: path)[.size])
    let free = bytes(try? files.attributesOfFileSystem(forPath: path)[.systemFreeSize])
    guard free - reserve >= size else {
      throw StoreError("\(free >> 20) MiB are free on its disk, and \((size + reserve) >> 20) MiB are needed")
    }
  }
}
