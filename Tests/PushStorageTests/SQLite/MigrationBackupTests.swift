import Foundation
import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct MigrationBackupTests {
  static let earlier = ReleasedSchemas.steps.dropLast().map(\.migration)

  private let target: TemporaryFolder
  private let folder: StateFolder

  init() throws {
    target = try TemporaryFolder()
    folder = StateFolder(target.file("state"))
    try PrivateFile.createFolder(folder.path)
  }

  private func makeDatabase(after migration: String) throws {
    let queue = try DatabaseQueue(path: folder.databasePath)
    try queue.writeWithoutTransaction { try $0.execute(sql: ReleasedSchemas.dump(after: migration)) }
    try queue.close()
  }

  private func make(_ version: String = "0.2.0") throws -> String? {
    try MigrationBackup.make(folder, version: version, now: Date(timeIntervalSince1970: 0))
  }

  private func applied(_ path: String) throws -> [String] {
    try SQLiteStore.reader(path).read { try Schema.migrator.appliedMigrations($0) }
  }

  @Test(arguments: earlier)
  func `a database of an earlier version is saved as it was, with the folder's files, before it is changed`(
    _ migration: String
  ) throws {
    try makeDatabase(after: migration)
    // A replica of a cluster has no such backup.
    try DatabaseQueue(path: folder.databasePath).write { db in
      if try db.tableExists("replica") { try db.execute(sql: "DELETE FROM replica") }
    }
    try folder.write(Array("key".utf8), to: folder.path + "/AuthKey_X.p8", mode: 0o600)
    let before = try applied(folder.databasePath)
    let path = try #require(try make())
    #expect(path == folder.path + "/backups/before-0.2.0.sqlite")
    try SQLiteStore(path: folder.databasePath).close()
    #expect(try applied(path) == before)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
    #expect(mode?.intValue == 0o600)

    let restored = StateFolder(target.file("restored"))
    #expect(try Backup.restore(path, into: restored).files == 1)
    #expect(FileManager.default.contents(atPath: restored.path + "/AuthKey_X.p8") == Data("key".utf8))
  }

  @Test func `nothing is saved of a replica, which its cell has`() throws {
    try makeDatabase(after: "replica")
    #expect(try make() == nil)
    try MigrationBackup.refuseNewer(folder)
  }

  @Test func `nothing is saved of a new folder, nor of a database that stays as it is`() throws {
    #expect(try make() == nil)
    try SQLiteStore(path: folder.databasePath).close()
    #expect(try make() == nil)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/backups"))
  }

  @Test func `one backup is kept, and no backup holds another`() throws {
    try makeDatabase(after: "1")
    let first = try #require(try make("0.2.0"))
    let second = try #require(try make("0.3.0"))
    #expect(!FileManager.default.fileExists(atPath: first))
    #expect(try Backup.restore(second, into: StateFolder(target.file("restored"))).files == 0)
  }

  @Test func `a start after one that was killed between two changes keeps what was there before the first`() throws {
    try makeDatabase(after: "1")
    let path = try #require(try make())
    let queue = try DatabaseQueue(path: folder.databasePath)
    try Schema.migrator.migrate(queue, upTo: "digests")
    try queue.close()
    #expect(try make() == path)
    #expect(try applied(path) == ["1"])
  }

  @Test func `another upgrade from the same version replaces the backup`() throws {
    try makeDatabase(after: "1")
    let path = try #require(try make())
    let queue = try DatabaseQueue(path: folder.databasePath)
    try queue.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO team VALUES ('TEAM000077')") }
    try queue.close()
    #expect(try make() == path)
    let teams = try SQLiteStore.reader(path).read { try String.fetchAll($0, sql: "SELECT id FROM team") }
    #expect(teams.contains("TEAM000077"))
  }

  @Test func `an older version names the newest backup in its refusal`() throws {
    try MigrationBackup.refuseNewer(folder)
    try SQLiteStore(path: folder.databasePath).close()
    try MigrationBackup.refuseNewer(folder)
    let queue = try DatabaseQueue(path: folder.databasePath)
    try queue.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
    try queue.close()
    func refusal() -> String? {
      #expect(throws: StoreError.self) { try SQLiteStore(path: folder.databasePath) }?.description
    }
    #expect(throws: StoreError.self) { try MigrationBackup.refuseNewer(folder) }
    let start = "\(folder.databasePath) was written by a newer pushcli: start that one, or "
    #expect(refusal() == start + "restore an older backup")
    let backups = folder.path + "/backups"
    try PrivateFile.createFolder(backups)
    for (name, age) in [("before-0.3.0.sqlite", 50.0), ("before-0.9.0.sqlite", 100), ("other.sqlite", 0)] {
      _ = FileManager.default.createFile(
        atPath: backups + "/" + name, contents: nil, attributes: [.modificationDate: Date(timeIntervalSinceNow: -age)])
    }
    #expect(
      refusal() == start
        + "restore the previous backup with `pushcli admin restore \(backups)/before-0.3.0.sqlite --state NEW-FOLDER`"
    )
  }
}
