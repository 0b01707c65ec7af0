import Foundation
import GRDB
package import PushCore
import Synchronization

/// A sender of messages (`POST /send/NAME`, or `POST /hooks/NAME` for a webhook), as it is listed. The token's text is
/// not part of it.
package struct MessageSender: Sendable, Equatable {
  /// A device or a group to which the sender may send.
  package enum Recipient: Sendable, Equatable {
    case device(DeviceID)
    /// The number of a group.
    case group(Int64)
  }

  /// A Web Push endpoint to which a sender without a token posts.
  package struct Endpoint: Sendable, Equatable {
    /// The id in its path.
    package var id: String
    package var origin: String
    /// True if the app holds back advertising, which only the device can detect.
    package var holdsAds: Bool

    package init(id: String, origin: String, holdsAds: Bool) {
      (self.id, self.origin, self.holdsAds) = (id, origin, holdsAds)
    }
  }

  /// The name, which is a part of the path.
  package var name: String
  package var app: AppID
  package var recipients: [Recipient]
  /// The maximum number of messages in a minute.
  package var rate: Int
  /// The time of creation in milliseconds since 1970.
  package var created: Int64
  /// The start of the hour in which the token was last used, in seconds since 1970; nil if it was never used.
  package var lastUsed: Int64?
  /// The time in seconds in which equal messages become one; nil: each is a push of its own.
  package var combine: Int64?
  /// The form of the requests of a webhook; nil for a sender of messages.
  package var hook: Hook?
  /// The endpoint of a sender of Web Push, which is not stored; nil for a sender with a token.
  package var endpoint: Endpoint?

  package init(
    name: String, app: AppID, recipients: [Recipient], rate: Int, created: Int64, lastUsed: Int64? = nil,
    combine: Int64? = nil, hook: Hook? = nil
  ) {
    (self.name, self.app, self.recipients, self.rate) = (name, app, recipients, rate)
    (self.created, self.lastUsed, self.combine, self.hook) = (created, lastUsed, combine, hook)
  }

  /// The description of a valid name, for messages with "expected".
  package static let expectedName = "1 to 64 letters, digits, dots, hyphens and underscores"

  /// Returns true for a name that is the same in a path and in a shell.
  package static func isValid(name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "._-".utf8.contains(byte)
      }
  }
}

/// The senders of messages: all senders in memory, each change on disk first. The gateway keeps only the hashes of their
/// tokens, and the token itself if a service signs with it.
package final class MessageSenders: Sendable {
  private struct State {
    /// The senders by the SHA-256 hash of their token: with a lookup by hash, the response time reveals nothing about
    /// a token.
    var senders: [[UInt8]: MessageSender] = [:]
    /// The tokens of services that sign their requests, by the names of the senders.
    var secrets: [String: String] = [:]
    /// The names of the senders whose last use ``settle()`` has to write to disk.
    var used: Set<String> = []

    func hash(of name: String) -> [UInt8]? { senders.first { $0.value.name == name }?.key }
  }

  let store: SQLiteStore
  private let state: Mutex<State>

  /// The resolution in seconds of the time at which a token was last used.
  private static let useStep: Int64 = 3600

  /// Reads all senders into memory.
  ///
  /// - Throws: ``StoreError`` if a row can't be read.
  package init(store: SQLiteStore) throws(StoreError) {
    self.store = store
    state = Mutex(try store.load(MessageSenders.load))
    store.replica.onChange(of: ["sender"]) { [weak self] db, _ in
      let fresh = try MessageSenders.load(db)
      db.afterNextTransaction { [weak self] _ in
        self?.state.withLock { ($0.senders, $0.secrets) = (fresh.senders, fresh.secrets) }
      }
    }
  }

  /// All senders, sorted by name.
  package var list: [MessageSender] { state.withLock { $0.senders }.values.sorted { $0.name < $1.name } }

  /// Returns the sender of a token, and records the hour of its use.
  ///
  /// - Parameters:
  ///   - name: the name that the sender must have; nil for any.
  ///   - now: seconds since 1970.
  package func find(_ name: String?, token: String, now: Int64) -> MessageSender? {
    let hash = Digest.sha256(Array(token.utf8))
    return state.withLock { state in
      guard var sender = state.senders[hash], name == nil || sender.name == name else { return nil }
      let hour = now - now % MessageSenders.useStep
      if sender.lastUsed ?? .min < hour {
        sender.lastUsed = hour
        state.senders[hash] = sender
        state.used.insert(sender.name)
      }
      return sender
    }
  }

  /// Returns the sender of a name if its service has signed a request, and records the hour of its use.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - isSigned: checks the signature with a token. It is also called for an unknown name, so that the response time
  ///     reveals no name.
  package func find(_ name: String, now: Int64, isSigned: (_ token: String) -> Bool) -> MessageSender? {
    let secret = state.withLock { $0.secrets[name] }
    guard isSigned(secret ?? ""), let secret else { return nil }
    return find(name, token: secret, now: now)
  }

  /// Adds a sender. Only the hash of its token is stored, unless its service signs with the token.
  ///
  /// - Throws: ``RegistrationRefusal`` if the name is invalid or taken, and ``StoreError``.
  @inline(never)
  package func add(_ sender: MessageSender, token: String) async throws {
    guard MessageSender.isValid(name: sender.name) else {
      throw RegistrationRefusal(
        kind: .invalid, description: "invalid name of a sender: expected \(MessageSender.expectedName)")
    }
    let hash = Digest.sha256(Array(token.utf8))
    let hook = try sender.hook.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
    let secret = sender.hook?.kind.isSigned == true ? token : nil
    try await store.write { [self] db in
      guard try Int64.fetchOne(db, sql: "SELECT 1 FROM sender WHERE name = ?", arguments: [sender.name]) == nil else {
        throw RegistrationRefusal(
          kind: .conflict,
          description: "there is a sender \(sender.name) already: choose another name, or `pushcli senders remove` it "
            + "first")
      }
      guard try Int.fetchOne(db, sql: "SELECT count(*) FROM sender") ?? 0 < Limits.maximumMessageSenders else {
        throw RegistrationRefusal(
          kind: .conflict, description: "a gateway has at most \(Limits.maximumMessageSenders) senders: remove one")
      }
      try db.execute(
        sql: """
          INSERT INTO sender (name, token_hash, app, recipients, rate, created, combine, hook, secret)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          sender.name, Data(hash), sender.app.row, "\(sender.recipients.map(\.stored))", sender.rate, sender.created,
          sender.combine, hook, secret,
        ])
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          state.senders[hash] = sender
          state.secrets[sender.name] = secret
        }
      }
    }
  }

  /// Replaces the token of a sender; the previous one becomes invalid.
  ///
  /// - Throws: ``RegistrationRefusal`` if there is no sender of this name, and ``StoreError``.
  @inline(never)
  package func rotate(_ name: String, token: String) async throws -> MessageSender {
    let sender = try sender(named: name)
    let hash = Digest.sha256(Array(token.utf8))
    let secret = sender.hook?.kind.isSigned == true ? token : nil
    try await store.write { [self] db in
      try db.execute(
        sql: "UPDATE sender SET token_hash = ?, secret = ? WHERE name = ?", arguments: [Data(hash), secret, name])
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          // A sender that was removed in between stays removed.
          guard let old = state.hash(of: name) else { return }
          state.senders[hash] = state.senders.removeValue(forKey: old)
          state.secrets[name] = secret
        }
      }
    }
    return sender
  }

  /// Removes a sender, which revokes its token, and its expectation.
  ///
  /// - Throws: ``RegistrationRefusal`` if there is no sender of this name, and ``StoreError``.
  @inline(never)
  package func remove(_ name: String) async throws {
    _ = try sender(named: name)
    try await store.write { [self] db in
      for table in ["expectation", "hook_push"] {
        try db.execute(sql: "DELETE FROM \(table) WHERE sender = ?", arguments: [name])
      }
      try db.execute(sql: "DELETE FROM sender WHERE name = ?", arguments: [name])
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          state.senders = state.senders.filter { $0.value.name != name }
          state.secrets[name] = nil
          state.used.remove(name)
        }
      }
    }
  }

  /// Removes the senders of an app.
  @inline(never)
  package func forget(_ app: AppID) async throws {
    guard list.contains(where: { $0.app == app }) else { return }
    try await store.write { [self] db in
      for table in ["expectation", "hook_push"] {
        try db.execute(
          sql: "DELETE FROM \(table) WHERE sender IN (SELECT name FROM sender WHERE app = ?)", arguments: [app.row])
      }
      try db.execute(sql: "DELETE FROM sender WHERE app = ?", arguments: [app.row])
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          for sender in state.senders.values where sender.app == app { state.secrets[sender.name] = nil }
          state.senders = state.senders.filter { $0.value.app != app }
        }
      }
    }
  }

  /// Writes to disk when tokens were last used.
  @inline(never)
  package func settle() async throws {
    let used = state.withLock { state in
      defer { state.used = [] }
      return state.senders.values.filter { state.used.contains($0.name) }.map { (name: $0.name, at: $0.lastUsed) }
    }
    guard !used.isEmpty else { return }
    try await store.write { db in
      for (name, at) in used {
        try db.execute(sql: "UPDATE sender SET last_used = ? WHERE name = ?", arguments: [at, name])
      }
    }
  }

  /// - Throws: ``RegistrationRefusal`` if there is no sender of this name.
  package func sender(named name: String) throws -> MessageSender {
    guard let sender = state.withLock({ state in state.senders.values.first { $0.name == name } }) else {
      throw RegistrationRefusal(
        kind: .unknown, description: "there is no sender \(name): `pushcli senders` shows them")
    }
    return sender
  }

  /// Reads every row to check it, and discards the result.
  static func checkRows(_ db: Database) throws {
    _ = try load(db)
    try checkSubjects(db)
  }

  private static func load(_ db: Database) throws -> State {
    let rows = try PreparedStatement(
      db, "SELECT name, token_hash, app, recipients, rate, created, last_used, combine, hook, secret FROM sender")
    var state = State()
    while try rows.next() {
      let recipients: [Int64] = try rows.json(3)
      let rate = try rows.integer(4, in: ColumnBounds.messageRate)
      let name = try rows.text(0)
      state.senders[rows.blob(1)] = MessageSender(
        name: name, app: AppID(row: try rows.integer(2, in: ColumnBounds.app)),
        recipients: recipients.compactMap { MessageSender.Recipient(stored: $0) }, rate: Int(rate),
        created: try rows.integer(5, in: ColumnBounds.milliseconds),
        lastUsed: try rows.optionalInteger(6, in: ColumnBounds.seconds),
        combine: try rows.optionalInteger(7, in: ColumnBounds.combineTime),
        hook: rows.isNull(8) ? nil : try rows.json(8, as: Hook.self))
      state.secrets[name] = try rows.optionalText(9)
    }
    return state
  }
}

extension MessageSender.Recipient {
  /// The number in a row: that of a device, or the negative number of a group.
  var stored: Int64 {
    switch self {
    case .device(let device): device.row
    case .group(let group): -group
    }
  }

  /// Reads a number of a row; nil for a number that no gateway writes.
  init?(stored: Int64) {
    guard ColumnBounds.number.contains(stored) || ColumnBounds.address.contains(stored) else { return nil }
    self = stored > 0 ? .device(DeviceID(row: stored)) : .group(-stored)
  }
}
