package import Foundation
import GRDB
import Glibc
package import PushCore

/// One file that holds a whole gateway: its database and the other files of the state folder.
///
/// It is an SQLite database itself; the other files are rows of `backup_file`.
package enum Backup {
  /// The contents of a backup.
  package struct Summary: Codable, Sendable {
    package var path: String
    /// The size of the file in bytes.
    package var bytes: Int
    /// The time at which the backup was made (RFC 3339).
    package var created: String
    /// The number of pushes that were pending at that time.
    package var waiting: Int
    package var devices: Int
    /// The number of other files: certificates, keys and settings.
    package var files: Int
  }

  /// The files that are never saved: they belong to a running gateway, or are saved as tables.
  private static let omitted: Set<String> = ["lock", "admin.sock", "listening", "ballast", "backup-draft"]

  /// Saves a running gateway: the file shows its state between two commits.
  ///
  /// The file appears as a whole and is on disk when this returns. Only its owner can read it, because it holds keys.
  package static func write(_ store: SQLiteStore, _ folder: StateFolder, to path: String, now: Date) throws -> Summary {
    try requireReplaceable(path)
    try write(database: store.path, folder, to: path, now: now)
    return try summary(of: path)
  }

  /// Saves a gateway that does not run, with any version of the database. The caller has claimed the folder.
  package static func write(stopped folder: StateFolder, to path: String, now: Date) throws -> Summary {
    try requireReplaceable(path)
    try write(database: folder.databasePath, folder, to: path, now: now)
    return try summary(of: path)
  }

  /// Saves a gateway of a cluster: first the data that the cluster shares, as of one moment, then the pending pushes
  /// from the brokers.
  ///
  /// The file contains everything that was accepted before this call, except pushes that their devices acknowledge
  /// during it.
  ///
  /// - Parameter fill: adds the pending pushes.
  /// - Throws: ``StoreError``, also if gateways of a later version share data that this version can't store.
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

  /// Saves a database of any version and the folder's other files to a path, and overwrites the file at that path.
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

  /// Creates an empty draft next to the future backup, and records its path in the folder.
  private static func begin(_ folder: StateFolder, _ path: String) throws -> String {
    // A unique name: other files of the folder stay untouched.
    let draft = path + "." + String(decoding: randomBytes(count: 8).map { hexDigit($0 & 15) }, as: UTF8.self) + ".new"
    try removeDraft(of: folder)
    try folder.write(Array(draft.utf8), to: folder.backupDraftPath, mode: 0o600)
    // Foundation would create the file under a temporary name first, which would remain after a crash.
    let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw StoreError("\(path) can't be written: name a file in a folder that the gateway may write to")
    }
    close(file)
    return draft
  }

  /// Moves a finished draft to the path of the backup.
  private static func finish(_ draft: String, _ path: String) throws {
    guard synchronize(draft), unsafe rename(draft, path) == 0, synchronize(folderPath(of: path)) else {
      throw StoreError("\(path) can't be written: check the disk and the folder's permissions")
    }
  }

  /// Removes the draft of a backup that was not finished.
  package static func removeDraft(of folder: StateFolder) throws {
    let files = FileManager.default
    guard let bytes = files.contents(atPath: folder.backupDraftPath) else { return }
    let draft = String(decoding: bytes, as: UTF8.self)
    // Only a draft that a backup makes is removed, whatever path the file contains.
    if draft.hasPrefix("/"), draft.hasSuffix(".new") {
      for suffix in ["", "-journal"] { try? files.removeItem(atPath: draft + suffix) }
    }
    try files.removeItem(atPath: folder.backupDraftPath)
  }

  /// Checks that a path is free or holds a backup.
  ///
  /// - Throws: ``StoreError`` if the path holds anything else.
  private static func requireReplaceable(_ path: String) throws {
    // For a symbolic link, these are the attributes of the link itself.
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
      try db.execute(sql: "INSERT INTO backup_info VALUES (?)", arguments: [Timestamp.text(now, .seconds)])
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

  /// Returns a summary of the contents of a backup.
  ///
  /// - Throws: ``StoreError`` if the file is not a backup.
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

  /// Writes the contents of a backup into a state folder that has no database.
  package static func restore(_ path: String, into folder: StateFolder) throws -> Summary {
    let summary = try summary(of: path)
    try RestoredBackup.refuseUnknownObjects(path)
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
      // The database is renamed last: a folder with a database is one that was restored completely.
      guard synchronize(draft), unsafe rename(draft, folder.databasePath) == 0, synchronize(folder.path) else {
        throw StoreError("\(folder.path) can't be written: check the disk and the folder's permissions")
      }
      for suffix in ["-wal", "-shm"] { try? files.removeItem(atPath: draft + suffix) }
      return summary
    }
  }

  /// Writes the files of a backup into a folder, and removes their tables from `db`, a copy of the backup, so that
  /// only the tables of a gateway remain.
  static func takeFiles(out db: Database, into folder: StateFolder) throws {
    let rows = try PreparedStatement(db, "SELECT path, mode, content FROM backup_file")
    while try rows.next() {
      try folder.restore(try rows.text(0), rows.blob(2), mode: Int(try rows.integer(1, in: 0...0o7777)))
    }
    rows.reset()
    try db.execute(sql: "DROP TABLE backup_file; DROP TABLE backup_info")
  }

  /// Returns the reason why a backup can't be restored. There is no repair for a damaged backup.
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

  /// Flushes a file or a folder to disk. Returns true on success.
  private static func synchronize(_ path: String) -> Bool {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return fsync(file) == 0
  }
}

extension StateFolder {
  /// Writes one file of a backup. A name that leads out of the folder is refused.
  func restore(_ name: String, _ content: [UInt8], mode: Int) throws {
    guard !name.hasPrefix("/"), !name.split(separator: "/").contains("..") else {
      throw StoreError("the backup names \(name), which is outside a state folder: it is not used")
    }
    let target = path + "/" + name
    try FileManager.default.createDirectory(
      atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    // The mode of the backup is limited: only the owner needs access to these files.
    let mode = mode & 0o600
    try write(content, to: target, mode: mode)
    guard target == developmentPath else { return }
    // The file contains the path of the key, which differs in this folder.
    var development = try decodeJSON(Development.self, from: content)
    development.keyPath = absolute((development.keyPath as NSString).lastPathComponent)
    try write(controlJSON(development), to: target, mode: mode)
  }
}
