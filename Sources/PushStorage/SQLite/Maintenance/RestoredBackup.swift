import Foundation
import GRDB
package import PushCore

/// A backup that is being restored into a cluster: a copy whose database was checked, with pending pushes that are
/// read page by page.
///
/// Belongs to one task.
package final class RestoredBackup {
  package let summary: Backup.Summary
  private let source: String
  private let path: String
  private let copy: DatabaseQueue

  /// Copies a backup and checks all of it.
  ///
  /// - Parameter draft: the path of the copy; ``remove()`` removes it.
  /// - Throws: ``StoreError`` with a description of one line if the backup can't be restored.
  package init(_ source: String, draft: String) throws {
    summary = try Backup.summary(of: source)
    (self.source, path) = (source, draft)
    do {
      RestoredBackup.remove(draft)
      try FileManager.default.copyItem(atPath: source, toPath: draft)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: draft)
      try RestoredBackup.refuseUnknownObjects(draft)
      try SQLiteStore(path: draft, isCheckedWhole: true).close()
      copy = try DatabaseQueue(path: draft)
      try copy.read { db in
        guard try Int.fetchOne(db, sql: "SELECT count(*) FROM replica") == 0 else {
          throw StoreError(
            "\(source) is a local copy of a gateway in a cluster, without the pending pushes: restore a backup "
              + "that `pushcli admin backup` made")
        }
        try StoredRows.checkShared(db)
        try SQLiteMailbox.checkSums(db)
      }
      try copy.write { db in
        try db.execute(
          sql: """
            DROP TABLE IF EXISTS moved;
            CREATE TABLE moved (device INTEGER, "from" INTEGER, "to" INTEGER, PRIMARY KEY (device, "from")) WITHOUT ROWID
            """)
      }
    } catch {
      RestoredBackup.remove(draft)
      throw Backup.explain(error, source)
    }
  }

  package func remove() {
    try? copy.close()
    RestoredBackup.remove(path)
  }

  /// Refuses a backup with objects other than tables and indexes. A gateway creates no triggers or views, which would
  /// run when rows are changed or read.
  static func refuseUnknownObjects(_ path: String) throws {
    let name = try SQLiteStore.reader(path).read { db in
      try String.fetchOne(db, sql: "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index')")
    }
    guard let name else { return }
    throw StoreError("the backup has an unknown object \(name.prefix(64).debugDescription): it is not used")
  }

  private static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  // MARK: Pending pushes

  private static let isWaiting =
    """
    payload IS NOT NULL
      AND seq > ifnull((SELECT acknowledged FROM mailbox_state AS s WHERE s.device = mailbox.device), 0)
      AND device IN (SELECT id FROM device) AND app IN (SELECT id FROM app) AND expires > ?
    """

  /// Returns the largest number of pushes that are pending for one device.
  package func longestLine(now: Int64) throws -> Int {
    try read { db in
      try Int.fetchOne(
        db,
        sql: """
          SELECT count(*) FROM mailbox WHERE \(RestoredBackup.isWaiting) GROUP BY device ORDER BY 1 DESC LIMIT 1
          """, arguments: [now]) ?? 0
    }
  }

  /// Returns the pending pushes after a row, in their order, with their rows and sequence numbers in the backup.
  package func pushes(
    after row: Int64, limit: Int, now: Int64
  ) throws -> [(row: Int64, number: UInt64, push: StoredPush)] {
    try read { db in
      let rows = try PreparedStatement(
        db,
        """
        SELECT \(SQLiteMailbox.columns), device FROM mailbox WHERE id > ? AND \(RestoredBackup.isWaiting)
        ORDER BY id LIMIT ?
        """)
      defer { rows.reset() }
      for value in [row, now, Int64(limit)] { rows.bind(value) }
      var pushes: [(row: Int64, number: UInt64, push: StoredPush)] = []
      while try rows.next() {
        let push = try SQLiteMailbox.push(rows, of: DeviceID(row: try rows.integer(12)))
        let number = UInt64(try rows.integer(0, in: ColumnBounds.number))
        pushes.append((try rows.integer(10, in: ColumnBounds.number), number, push))
      }
      return pushes
    }
  }

  /// Returns the number of pushes that the mailbox limit evicted, for each device after `device` that has not been
  /// notified of them. Sorted by device.
  package func gaps(after device: Int64, limit: Int) throws -> [(device: DeviceID, dropped: Int)] {
    try read { db in
      let rows = try PreparedStatement(
        db,
        """
        SELECT device, gap_dropped FROM mailbox_state
        WHERE device > ? AND gap_to > acknowledged AND device IN (SELECT id FROM device) ORDER BY device LIMIT ?
        """)
      rows.bind(device)
      rows.bind(Int64(limit))
      return try rows.map { row in
        (device: DeviceID(row: try row.integer(0)), dropped: Int(try row.integer(1, in: ColumnBounds.number)))
      }
    }
  }

  /// Records the sequence numbers that pushes of the backup have in the cluster.
  package func note(_ moved: [(device: DeviceID, from: UInt64, to: UInt64)]) throws {
    try write { db in
      let insert = try db.cachedStatement(sql: "INSERT OR REPLACE INTO moved VALUES (?, ?, ?)")
      for one in moved {
        try insert.execute(arguments: [one.device.row, Int64(clamping: one.from), Int64(clamping: one.to)])
      }
    }
  }

  // MARK: Shared data

  package func writeFiles(into folder: StateFolder) throws { try write { try Backup.takeFiles(out: $0, into: folder) } }

  /// Makes the copy a replica of a cluster whose mailboxes have taken over the pending pushes.
  ///
  /// - Parameters:
  ///   - position: the last entry of the cluster's log.
  ///   - authority: the files that all gateways of a cluster share, by their names.
  /// - Returns: the path of the replica.
  package func makeReplica(of cluster: String, position: UInt64, authority: [String: [UInt8]]) throws -> String {
    try write { db in
      try db.execute(
        sql: """
          UPDATE digest SET seq = ifnull((
            SELECT max("to") FROM moved WHERE moved.device = digest.device AND "from" <= digest.seq), 0);
          UPDATE held SET seq = ifnull((
            SELECT "to" FROM moved WHERE moved.device = held.device AND "from" = held.seq), 0);
          DROP TABLE moved;
          DELETE FROM mailbox; DELETE FROM mailbox_payload; DELETE FROM mailbox_state; DELETE FROM mailbox_commit;
          DELETE FROM attachment; DELETE FROM cell_file
          """)
      for (name, content) in authority {
        try db.execute(sql: "INSERT INTO cell_file (name, content) VALUES (?, ?)", arguments: [name, Data(content)])
      }
      try db.execute(
        sql: "INSERT INTO replica (id, cell, position) VALUES (1, ?, ?)",
        arguments: [cluster, Int64(clamping: position)])
    }
    do {
      // The result is one file, and its free pages contain nothing of the pending pushes.
      try copy.writeWithoutTransaction { try $0.execute(sql: "VACUUM; PRAGMA journal_mode = DELETE") }
      try copy.close()
    } catch {
      throw Backup.explain(error, source)
    }
    return path
  }

  private func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    do { return try copy.read(body) } catch { throw Backup.explain(error, source) }
  }

  private func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
    do { return try copy.write(body) } catch { throw Backup.explain(error, source) }
  }
}
