import Foundation
import GRDB
package import PushCore
import Synchronization

/// The attachment of a message, without its content.
package struct StoredAttachment: Sendable, Equatable {
  package var reference: AttachmentReference
  /// The name of the sender. The attachment counts against the limit of this sender.
  package var sender: String
  package var app: AppID
  /// The recipients that may read it.
  package var recipients: [MessageSender.Recipient]
  /// The time from which it is gone, in seconds since 1970.
  package var expires: Int64

  package init(
    _ reference: AttachmentReference, sender: String, app: AppID, recipients: [MessageSender.Recipient], expires: Int64
  ) {
    (self.reference, self.sender, self.app) = (reference, sender, app)
    (self.recipients, self.expires) = (recipients, expires)
  }

  package var id: String { reference.id }

  /// The bytes that it counts.
  fileprivate var charge: Int { reference.size + Limits.attachmentOverhead }
}

/// The attachments of messages: their descriptions in memory, their contents only on disk. They are limited by number and
/// size for each sender and for the gateway.
package final class Attachments: Sendable {
  /// The outcome of ``put(_:content:)``.
  package enum Outcome: Sendable, Equatable {
    case stored
    /// The attachments of the sender have the maximum size.
    case senderIsFull
    /// The attachments of all senders have the maximum size.
    case gatewayIsFull
    /// Too many attachments are being stored.
    case busy
  }

  private struct State {
    var attachments: [String: StoredAttachment] = [:]
    /// The counted bytes by sender, and of all senders. Attachments in the process of being stored count, too.
    var sizes: [String: Int] = [:]
    var size = 0
    /// The number of writes and reads in progress.
    var (writes, reads) = (0, 0)

    init(_ all: [StoredAttachment]) {
      for one in all {
        count(one)
        attachments[one.id] = one
      }
    }

    mutating func count(_ one: StoredAttachment) {
      sizes[one.sender, default: 0] += one.charge
      size += one.charge
    }

    mutating func uncount(_ one: StoredAttachment) {
      let left = (sizes[one.sender] ?? 0) - one.charge
      sizes[one.sender] = left > 0 ? left : nil
      size -= one.charge
    }

    mutating func remove(_ id: String) {
      if let known = attachments.removeValue(forKey: id) { uncount(known) }
    }

    /// Reserves the space of an attachment.
    mutating func reserve(_ one: StoredAttachment) -> Outcome {
      if writes >= Limits.maximumAttachmentWrites { return .busy }
      if (sizes[one.sender] ?? 0) + one.charge > Limits.maximumSenderAttachments { return .senderIsFull }
      if size + one.charge > Limits.maximumAttachments { return .gatewayIsFull }
      count(one)
      writes += 1
      return .stored
    }
  }

  private let store: SQLiteStore
  private let state: Mutex<State>

  /// Reads all descriptions into memory.
  ///
  /// - Throws: ``StoreError`` if a row can't be read.
  package init(store: SQLiteStore) throws(StoreError) {
    self.store = store
    state = Mutex(State(try store.load(Attachments.load)))
  }

  /// The number of attachments, and their counted bytes.
  package var usage: (count: Int, bytes: Int) { state.withLock { ($0.attachments.count, $0.size) } }

  /// Returns an attachment that is not expired; nil for an unknown id.
  ///
  /// - Parameter now: seconds since 1970.
  package func find(_ id: String, now: Int64) -> StoredAttachment? {
    state.withLock { state in state.attachments[id].flatMap { $0.expires > now ? $0 : nil } }
  }

  /// Stores an attachment. It is on disk when this returns ``Outcome/stored``.
  ///
  /// - Parameter content: at most ``Limits/maximumAttachmentSize`` bytes.
  @inline(never)
  package func put(_ attachment: StoredAttachment, content: [UInt8]) async throws -> Outcome {
    let outcome = state.withLock { $0.reserve(attachment) }
    guard outcome == .stored else { return outcome }
    do {
      try await store.write { [self] db in
        try db.execute(
          sql: """
            INSERT INTO attachment (id, sender, app, recipients, name, type, expires, content)
              VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
          arguments: [
            attachment.id, attachment.sender, attachment.app.row, "\(attachment.recipients.map(\.stored))",
            attachment.reference.name, attachment.reference.type.rawValue, attachment.expires, Data(content),
          ])
        db.afterNextTransaction { [self] _ in state.withLock { $0.attachments[attachment.id] = attachment } }
      }
    } catch {
      state.withLock { state in
        state.uncount(attachment)
        state.writes -= 1
      }
      throw error
    }
    state.withLock { $0.writes -= 1 }
    return .stored
  }

  /// Reads the content of an attachment.
  ///
  /// - Returns: nil if it was removed.
  /// - Throws: ``StoreError`` if too many others are being read.
  @inline(never)
  package func content(of id: String) async throws(StoreError) -> [UInt8]? {
    let isWithinLimit = state.withLock { state in
      guard state.reads < Limits.maximumAttachmentReads else { return false }
      state.reads += 1
      return true
    }
    guard isWithinLimit else { throw StoreError("too many attachments are being read: try again in a moment") }
    defer { state.withLock { $0.reads -= 1 } }
    return try await store.read { db in
      let rows = try PreparedStatement(db, "SELECT content FROM attachment WHERE id = ?")
      rows.bind(text: id)
      return try rows.next() ? rows.blob(0) : nil
    }
  }

  // MARK: Removal

  @inline(never)
  package func remove(_ id: String) async throws { try await delete([id]) }

  /// Removes the attachments that are expired at `now`, in seconds since 1970.
  @inline(never)
  package func trim(now: Int64) async throws {
    try await delete(state.withLock { state in state.attachments.values.filter { $0.expires <= now }.map(\.id) })
  }

  /// Removes the attachments of an app.
  @inline(never)
  package func forget(_ app: AppID) async throws {
    try await delete(state.withLock { state in state.attachments.values.filter { $0.app == app }.map(\.id) })
  }

  /// Removes recipients that are gone, and the attachments that only they could read.
  @inline(never)
  package func forget(where isGone: @Sendable (MessageSender.Recipient) -> Bool) async throws {
    let all = state.withLock { Array($0.attachments.values) }
    var (unread, changed): ([String], [StoredAttachment]) = ([], [])
    for var one in all {
      let count = one.recipients.count
      one.recipients.removeAll(where: isGone)
      if one.recipients.count == count { continue }
      if one.recipients.isEmpty { unread.append(one.id) } else { changed.append(one) }
    }
    try await delete(unread)
    guard !changed.isEmpty else { return }
    try await store.write { [self, changed] db in
      for one in changed {
        try db.execute(
          sql: "UPDATE attachment SET recipients = ? WHERE id = ?",
          arguments: ["\(one.recipients.map(\.stored))", one.id])
      }
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          for one in changed { state.attachments[one.id]?.recipients = one.recipients }
        }
      }
    }
  }

  /// Deletes attachments, a few in each transaction.
  @inline(never)
  private func delete(_ ids: [String]) async throws {
    for start in stride(from: 0, to: ids.count, by: Limits.attachmentSlice) {
      let slice = Array(ids[start..<min(start + Limits.attachmentSlice, ids.count)])
      try await store.write { [self] db in
        for id in slice { try db.execute(sql: "DELETE FROM attachment WHERE id = ?", arguments: [id]) }
        db.afterNextTransaction { [self] _ in
          state.withLock { state in
            for id in slice { state.remove(id) }
          }
        }
      }
    }
  }

  // MARK: Rows

  static func load(_ db: Database) throws -> [StoredAttachment] {
    let rows = try PreparedStatement(
      db,
      "SELECT id, sender, app, recipients, name, type, expires, length(content) AS content FROM attachment")
    return try rows.map { row in
      let id = try row.text(0)
      guard AttachmentReference.isID(id) else { throw row.damage(0, "expected 32 hex digits") }
      let recipients: [Int64] = try row.json(3)
      let type: AttachmentType? = try row.word(5)
      guard let type else { throw row.damage(5, "expected a served media type") }
      let size = try row.integer(7, in: ColumnBounds.attachmentSize)
      return StoredAttachment(
        AttachmentReference(id: id, name: try row.text(4), type: type, size: Int(size)), sender: try row.text(1),
        app: AppID(row: try row.integer(2, in: ColumnBounds.app)),
        recipients: recipients.compactMap { MessageSender.Recipient(stored: $0) },
        expires: try row.integer(6, in: ColumnBounds.seconds))
    }
  }
}
