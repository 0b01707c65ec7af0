package import Foundation
import GRDB
package import PushCore

extension MigrationBackup {
  /// The disk space in bytes that must remain free; otherwise no backup is made.
  private static let reserve = 64 << 20

  /// Makes the backup if this version will migrate the database at its start, and removes the backups of earlier
  /// versions.
  ///
  /// If a migration was interrupted, the backup made before it is not replaced.
  ///
  /// - Parameter version: the version of this program.
  /// - Returns: the path of the backup; nil if the database stays as it is or does not exist.
  /// - Throws: ``StoreError`` with the reason if the backup can't be made.
  package static func make(_ folder: StateFolder, version: String, now: Date) throws -> String? {
    // Opening a database that is damaged or of a newer version reports that later.
    guard let applied = migrations(of: folder.databasePath), case let all = Set(Schema.migrator.migrations),
      !applied.isEmpty, applied.isStrictSubset(of: all)
    else { return nil }
    let backups = MigrationBackup.folder(beside: folder.databasePath)
    let path = backups + "/" + MigrationBackup.name(of: version)
    if let earlier = migrations(of: path), earlier.isStrictSubset(of: applied) { return path }
    do {
      try PrivateFile.createFolder(backups)
    } catch {
      throw StoreError("\(backups) can't be made (\(error))")
    }
    try requireSpace(for: folder.databasePath)
    try Backup.write(database: folder.databasePath, folder, to: path, now: now)
    for name in MigrationBackup.names(in: backups) where backups + "/" + name != path {
      try? FileManager.default.removeItem(atPath: backups + "/" + name)
    }
    return path
  }

  /// Checks that this program can open the database of a folder. A gateway may use the database during the check.
  ///
  /// - Throws: ``StoreError`` if a newer version has migrated it.
  package static func refuseNewer(_ folder: StateFolder) throws(StoreError) {
    guard let applied = migrations(of: folder.databasePath), !applied.isSubset(of: Schema.migrator.migrations) else {
      return
    }
    throw MigrationBackup.refusal(folder.databasePath)
  }

  /// Returns the migrations of a database; nil if no database can be read, and for a replica, which is created again
  /// from the data of its cluster.
  private static func migrations(of path: String) -> Set<String>? {
    guard FileManager.default.fileExists(atPath: path), (try? ReplicaFile(path)) == nil else { return nil }
    return try? SQLiteStore.reader(path).read { try Schema.migrator.appliedIdentifiers($0) }
  }

  private static func requireSpace(for path: String) throws {
    let files = FileManager.default
    func bytes(_ value: Any?) -> Int { (value as? NSNumber)?.intValue ?? 0 }
    let size = bytes(try? files.attributesOfItem(atPath: path)[.size])
    let free = bytes(try? files.attributesOfFileSystem(forPath: path)[.systemFreeSize])
    guard free - reserve >= size else {
      throw StoreError("\(free >> 20) MiB are free on its disk, and \((size + reserve) >> 20) MiB are needed")
    }
  }
}
