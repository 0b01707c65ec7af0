import Foundation
import GRDB
package import PushCore

/// The pending pushes of a cluster's devices, as rows of a backup that is being made. They come from the brokers in
/// the order of their sequence numbers, which they keep.
///
/// Belongs to one task.
package final class BackupMailbox {
  private let copy: DatabaseQueue
  private var row: Int64 = 0

  /// Opens a copy of a gateway's replica and makes it the database of a standalone gateway.
  ///
  /// - Parameter path: the path of the copy.
  init(_ path: String) throws {
    copy = try DatabaseQueue(path: path)
    try copy.write { db in
      try db.execute(
        sql: """
          DELETE FROM replica; DELETE FROM cell_file;
          DELETE FROM mailbox; DELETE FROM mailbox_payload; DELETE FROM mailbox_state; DELETE FROM mailbox_commit
          """)
    }
  }

  /// Adds pushes with their existing numbers.
  package func append(_ entries: [MailboxEntry]) throws {
    let first = row + 1
    row += Int64(entries.count)
    try copy.write { db in
      let insert = try db.cachedStatement(
        sql: """
          INSERT INTO mailbox (id, device, seq, app, apns_id, is_sender_id, unique_id, received, expires, priority,
            collapse_id, payload, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """)
      for (id, entry) in zip(first..., entries) {
        let push = entry.push
        try insert.execute(arguments: [
          id, push.device.row, Int64(clamping: entry.seq), push.app.row, push.id.data, push.isSenderID ? 1 : 0,
          push.uniqueID.data, push.received, push.expires, Int64(push.priority), push.collapseID, push.payload.data,
          SQLiteMailbox.checksum(of: push, in: id),
        ])
      }
    }
  }

  /// Stores the gap that the mailbox limit left for a device, which has not yet been notified of it.
  package func set(_ gap: MailboxGap, of device: DeviceID) throws {
    try copy.write { db in
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO mailbox_state (device, acknowledged, last_seq, gap_from, gap_to, gap_dropped)
          VALUES (?, 0, 0, ?, ?, ?)
          """,
        arguments: [
          device.row, Int64(clamping: gap.from), Int64(clamping: gap.to), Int64(clamping: gap.dropped),
        ])
    }
  }

  /// Completes the mailbox: of pushes that were stored twice, or that replace each other, one stays.
  ///
  /// - Parameter highest: the highest number given out so far. A gateway that starts from this backup begins after
  ///   it, so that no number denotes two pushes to a device, even if that device was last connected before the
  ///   cluster existed.
  package func finish(_ highest: UInt64) throws {
    try copy.write { db in
      try db.execute(
        sql: """
          DELETE FROM mailbox WHERE device NOT IN (SELECT id FROM device);
          DELETE FROM mailbox_state WHERE device NOT IN (SELECT id FROM device);
          CREATE INDEX moving ON mailbox (device, app, apns_id, id);
          DELETE FROM mailbox WHERE is_sender_id AND EXISTS (
            SELECT 1 FROM mailbox AS first WHERE first.device = mailbox.device AND first.app = mailbox.app
              AND first.apns_id = mailbox.apns_id AND first.id < mailbox.id AND first.is_sender_id);
          DROP INDEX moving;
          CREATE INDEX moving ON mailbox (device, app, collapse_id, id);
          DELETE FROM mailbox WHERE collapse_id <> '' AND EXISTS (
            SELECT 1 FROM mailbox AS last WHERE last.device = mailbox.device AND last.app = mailbox.app
              AND last.collapse_id = mailbox.collapse_id AND last.id > mailbox.id);
          DROP INDEX moving
          """)
      try db.execute(
        sql: """
          INSERT INTO mailbox_state (device, acknowledged, last_seq) SELECT id, 0, ? FROM device WHERE true
          ON CONFLICT (device) DO UPDATE SET last_seq = excluded.last_seq
          """, arguments: [Int64(clamping: highest)])
    }
  }

  func close() throws { try copy.close() }
}

extension APNSID {
  fileprivate var data: Data { Data(stored) }
}

extension [UInt8] {
  fileprivate var data: Data { Data(self) }
}
