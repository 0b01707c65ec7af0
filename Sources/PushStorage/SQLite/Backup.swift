package import Foundation
import GRDB
import Glibc
package import PushCore

/// One file that holds a whole gateway: its database, and beside it what else is in the state folder.
///
/// It is an SQLite database itself; the other files are rows of `backup_file`.
package enum Backup {
  /// What a backup holds.
  package struct Summary: Codable, Sendable {
    package var path: String
    /// Size of the file.
    package var bytes: Int
    /// When it was made, RFC 3339.
    package var created: String
    /// Pushes that waited then.
    package var waiting: Int
    package var devices: Int
    /// Certificates, keys and settings.
    package var files: Int
  }

  /// What is never saved: what belongs to a running gateway, or is saved as tables.
  private static let omitted: Set<String> = ["lock", "admin.sock", "listening", "ballast", "backup-draft"]

  /// Saves a gateway, which goes on meanwhile: the file shows one moment between two commits.
  ///
  /// The file appears as a whole, is on disk when this returns, and can be read by its owner only: it holds keys.
  package static func write(_ store: SQLiteStore, _ folder: StateFolder, to path: String, now: Date) throws -> Summary {
    try requireReplaceable(path)
    try write(database: store.path, folder, to: path, now: now)
    return try summary(of: path)
  }

  /// Saves a gateway that does not run, whatever its database's version; its folder is claimed.
  package static func write(stopped folder: StateFolder, to path: String, now: Date) throws -> Summary {
    try requireReplaceable(path)
    try write(database: folder.databasePath, folder, to: path, now: now)
    return try summary(of: path)
  }

  /// Saves a gateway of a cell: what the cell shares, as of one moment, and then what waits elsewhere.
  ///
  /// What was accepted before this was called is in the file, unless its device has acknowledged it meanwhile.
  ///
  /// - Parameter fill: adds what waits.
  /// - Throws: ``StoreError`` also where gateways of a later version have shared what this one has no place for.
  package static func write(
    _ store: SQLiteStore, _ folder: StateFolder, to path: String, now: Date,
    waiting fill: (BackupMailbox) async throws -> Void
  ) async throws -> Summary {
    try requireReplaceable(path)
    guard try await !store.isPartialReplica() else {
      throw StoreError(
        "other gateways of this cluster run a newer version, and this one lacks its new fields: make the backup on one "
          + "of them, or upgrade this gateway first")
    }
    let draft = try begin(folder, path)
    defer { try? removeDraft(of: folder) }
    do {
      try await store.copy(to: draft)
      let mailbox = try BackupMailbox(draft)
      try await fill(mailbox)
      try mailbox.close()
      try save(folder, into: draft, now: now)
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
    try finish(draft, path)
    return try summary(of: path)
  }

  /// Saves a database of any version, and beside it the folder's other files, to a path that is written over.
  static func write(database: String, _ folder: StateFolder, to path: String, now: Date) throws {
    let draft = try begin(folder, path)
    defer { try? removeDraft(of: folder) }
    do {
      let source = try SQLiteStore.reader(database)
      try source.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [draft]) }
      try save(folder, into: draft, now: now)
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
    try finish(draft, path)
  }

  /// Makes an empty file beside the one that is to be, and notes it in the folder.
  private static func begin(_ folder: StateFolder, _ path: String) throws -> String {
    // A name of its own: whatever else is there stays.
    let draft = path + "." + String(decoding: randomBytes(count: 8).map { hexDigit($0 & 15) }, as: UTF8.self) + ".new"
    try removeDraft(of: folder)
    try folder.write(Array(draft.utf8), to: folder.backupDraftPath, mode: 0o600)
    // Foundation would make it under a name of its own first, which nobody removes after a crash.
    let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw StoreError("\(path) can't be written: name a file in a folder that the gateway may write to")
    }
    close(file)
    return draft
  }

  /// Puts a file that is written in its place.
  private static func finish(_ draft: String, _ path: String) throws {
    guard synchronise(draft), unsafe rename(draft, path) == 0, synchronise(folderPath(of: path)) else {
      throw StoreError("\(path) can't be written: check the disk and the folder's permissions")
    }
  }

  /// Removes what a backup has begun that was not finished.
  package static func removeDraft(of folder: StateFolder) throws {
    let files = FileManager.default
    guard let bytes = files.contents(atPath: folder.backupDraftPath) else { return }
    let draft = String(decoding: bytes, as: UTF8.self)
    // Only what a backup makes, whatever was written into that file.
    if draft.hasPrefix("/"), draft.hasSuffix(".new") {
      for suffix in ["", "-journal"] { try? files.removeItem(atPath: draft + suffix) }
    }
    try files.removeItem(atPath: folder.backupDraftPath)
  }

  /// - Throws: ``StoreError`` when there is something at a path that is not a backup.
  private static func requireReplaceable(_ path: String) throws {
    // Of a link this is the link itself.
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return }
    guard attributes[.type] as? FileAttributeType == .typeRegular, (try? summary(of: path)) != nil else {
      throw StoreError("\(path) exists and is not a backup: name another file, or move that one away")
    }
  }

  /// Adds the folder's other files to a copy of its database.
  private static func save(_ folder: StateFolder, into draft: String, now: Date) throws {
    let copy = try DatabaseQueue(path: draft)
    try copy.write { db in
      try db.execute(
        sql: """
          CREATE TABLE backup_info (created TEXT NOT NULL);
          CREATE TABLE backup_file (path TEXT PRIMARY KEY, mode INTEGER NOT NULL, content BLOB NOT NULL);
          """)
      try db.execute(sql: "INSERT INTO backup_info VALUES (?)", arguments: [now.formatted(.iso8601)])
      try save(folder, into: db)
    }
    try copy.close()
  }

  private static func save(_ folder: StateFolder, into db: Database) throws {
    let files = FileManager.default
    for case let name as String in files.enumerator(atPath: folder.path) ?? FileManager.DirectoryEnumerator() {
      let path = folder.path + "/" + name
      let attributes = try files.attributesOfItem(atPath: path)
      guard attributes[.type] as? FileAttributeType == .typeRegular, !omitted.contains(name), !name.hasSuffix(".new"),
        !name.contains(".sqlite")
      else { continue }
      let size = (attributes[.size] as? NSNumber)?.intValue ?? 0
      guard size <= Limits.maximumSavedFileSize else {
        throw StoreError("\(path) has \(size) bytes, too many for a backup: move it out of the state folder")
      }
      guard let content = files.contents(atPath: path) else { continue }
      try db.execute(
        sql: "INSERT INTO backup_file VALUES (?, ?, ?)",
        arguments: [name, (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o600, content])
    }
  }

  /// What a file holds.
  ///
  /// - Throws: ``StoreError`` when it is no backup.
  package static func summary(of path: String) throws -> Summary {
    guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int else {
      throw StoreError("there is no file \(path)")
    }
    do {
      return try SQLiteStore.reader(path).read { db in
        guard try db.tableExists("backup_info"), try db.tableExists("mailbox") else {
          throw StoreError("\(path) is not a backup: `pushcli admin backup FILE` makes one")
        }
        func count(_ sql: String) throws -> Int { try Int.fetchOne(db, sql: sql) ?? 0 }
        return Summary(
          path: path, bytes: size, created: try String.fetchOne(db, sql: "SELECT created FROM backup_info") ?? "",
          waiting: try count(
            """
            SELECT count(*) FROM mailbox LEFT JOIN mailbox_state USING (device)
            WHERE payload IS NOT NULL AND seq > ifnull(acknowledged, 0)
            """),
          devices: try count("SELECT count(*) FROM device"), files: try count("SELECT count(*) FROM backup_file"))
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
      throw StoreError("\(path) is not a backup: `pushcli admin backup FILE` makes one")
    } catch {
      throw SQLiteStore.explain(error, path: path)
    }
  }

  /// Puts what a backup holds into a state folder that has no database.
  package static func restore(_ path: String, into folder: StateFolder) throws -> Summary {
    let summary = try summary(of: path)
    try RestoredBackup.refuseStrangers(path)
    let claim = try folder.claim()
    return try withExtendedLifetime(claim) {
      let files = FileManager.default
      guard !files.fileExists(atPath: folder.databasePath) else {
        throw StoreError("\(folder.path) holds a gateway already: name another folder with --state, or move that away")
      }
      let draft = folder.databasePath + ".restored"
      do {
        try? files.removeItem(atPath: draft)
        try files.copyItem(atPath: path, toPath: draft)
        let copy = try DatabaseQueue(path: draft)
        try copy.write { try takeFiles(out: $0, into: folder) }
        try copy.close()
        try SQLiteStore(path: draft, isCheckedWhole: true).close()
      } catch {
        throw explain(error, path)
      }
      // Last: a folder with a database is one that was restored as a whole.
      guard synchronise(draft), unsafe rename(draft, folder.databasePath) == 0, synchronise(folder.path) else {
        throw StoreError("\(folder.path) can't be written: check the disk and the folder's permissions")
      }
      for suffix in ["-wal", "-shm"] { try? files.removeItem(atPath: draft + suffix) }
      return summary
    }
  }

  /// Writes the files of a backup into a folder, and leaves in a copy of it what a gateway's database has.
  static func takeFiles(out db: Database, into folder: StateFolder) throws {
    let rows = try PreparedStatement(db, "SELECT path, mode, content FROM backup_file")
    while try rows.next() {
      try folder.restore(try rows.text(0), rows.blob(2), mode: Int(try rows.integer(1, in: 0...0o7777)))
    }
    rows.reset()
    try db.execute(sql: "DROP TABLE backup_file; DROP TABLE backup_info")
  }

  /// Why a backup can't be restored; no repair mends one.
  static func explain(_ error: any Error, _ path: String) -> StoreError {
    let words: String
    switch error {
    case let error as DatabaseError where SQLiteStore.isDamage(error): words = error.message ?? "unknown"
    case let error as StoreError where error.isDamage: words = "its pages fail their checksums"
    default: return SQLiteStore.explain(error, path: path)
    }
    return StoreError("the backup \(path) is damaged (\(words)): restore another one")
  }

  private static func folderPath(of path: String) -> String {
    let folder = (path as NSString).deletingLastPathComponent
    return folder.isEmpty ? "." : folder
  }

  /// Returns when a file or a folder is on disk.
  private static func synchronise(_ path: String) -> Bool {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return fsync(file) == 0
  }
}

extension StateFolder {
  /// Writes one file of a backup; a name that leads out of the folder is refused.
  func restore(_ name: String, _ content: [UInt8], mode: Int) throws {
    guard !name.hasPrefix("/"), !name.split(separator: "/").contains("..") else {
      throw StoreError("the backup names \(name), which is outside a state folder: it is not used")
    }
    let target = path + "/" + name
    try FileManager.default.createDirectory(
      atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    // Whatever the backup says: nobody but the owner has a use for any of these files.
    try write(content, to: target, mode: mode & 0o600)
    guard target == developmentPath else { return }
    // It names the key's place, which is another now.
    var development = try decodeJSON(Development.self, from: content)
    development.keyPath = absolute((development.keyPath as NSString).lastPathComponent)
    try write(controlJSON(development), to: target, mode: mode)
  }
}
