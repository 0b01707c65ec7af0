import Foundation
import GRDB
package import PushCore
import Synchronization

/// A token for remote administration of a gateway, as it is listed. The token's text is not part of it.
package struct AdministratorToken: Sendable, Equatable {
  package var name: String
  /// The token's role: `reader`, `operator` or `admin`.
  package var role: Role
  /// The time of creation in milliseconds since 1970.
  package var created: Int64
  /// The time of expiration in seconds since 1970.
  package var expires: Int64
  /// The start of the hour in which the token was last used, in seconds since 1970; nil if it was never used.
  package var lastUsed: Int64?

  package init(name: String, role: Role, created: Int64, expires: Int64, lastUsed: Int64? = nil) {
    (self.name, self.role, self.created, self.expires, self.lastUsed) = (name, role, created, expires, lastUsed)
  }
}

/// The tokens for remote administration of a gateway. The gateway keeps only their hashes: all of them in memory,
/// each change on disk first.
package final class AdministratorTokens: Sendable {
  private struct State {
    /// The tokens by the SHA-256 hash of their text: with a lookup by hash, the response time reveals nothing about a
    /// token.
    var tokens: [[UInt8]: AdministratorToken] = [:]
    /// The hashes of the tokens whose last use ``settle()`` has to write to disk.
    var used: Set<[UInt8]> = []
  }

  private let store: SQLiteStore
  private let state: Mutex<State>

  /// The resolution in seconds of the time at which a token was last used.
  private static let useStep: Int64 = 3600

  /// Reads all tokens into memory.
  ///
  /// - Throws: ``StoreError`` if a row can't be read.
  package init(store: SQLiteStore) throws(StoreError) {
    self.store = store
    state = Mutex(State(tokens: try store.load(AdministratorTokens.load)))
    store.replica.onChange(of: ["administrator"]) { [weak self] db, _ in
      let fresh = try AdministratorTokens.load(db)
      db.afterNextTransaction { [weak self] _ in self?.state.withLock { $0.tokens = fresh } }
    }
  }

  /// All tokens, sorted by name.
  package var list: [AdministratorToken] { state.withLock { $0.tokens }.values.sorted { $0.name < $1.name } }

  /// Returns the token with a text, unless there is none or it has expired, and records the hour of its use.
  ///
  /// - Parameter now: seconds since 1970.
  package func find(_ text: String, now: Int64) -> AdministratorToken? {
    let hash = Digest.sha256(Array(text.utf8))
    return state.withLock { state in
      guard var token = state.tokens[hash], token.expires > now else { return nil }
      let hour = now - now % AdministratorTokens.useStep
      if token.lastUsed ?? .min < hour {
        token.lastUsed = hour
        state.tokens[hash] = token
        state.used.insert(hash)
      }
      return token
    }
  }

  /// Adds a token. Only the hash of its text is stored.
  ///
  /// - Throws: ``RegistrationRefusal`` if the name or the role is invalid or the name is taken, and ``StoreError``.
  @inline(never)
  package func add(_ token: AdministratorToken, text: String) async throws {
    guard ShownName.isValid(token.name) else {
      throw RegistrationRefusal(kind: .invalid, description: "invalid name of a token: expected \(ShownName.expected)")
    }
    guard Role.administrators.contains(token.role) else {
      let roles = Role.administrators.map(\.rawValue).joined(separator: ", ")
      throw RegistrationRefusal(
        kind: .invalid, description: "invalid role of a token \"\(token.role.rawValue)\": expected one of \(roles)")
    }
    let hash = Digest.sha256(Array(text.utf8))
    try await store.write { [self] db in
      guard try Int64.fetchOne(db, sql: "SELECT 1 FROM administrator WHERE name = ?", arguments: [token.name]) == nil
      else {
        throw RegistrationRefusal(
          kind: .conflict,
          description: "there is a token \(token.name) already: choose another name, or "
            + "`pushcli admin tokens remove` it first")
      }
      guard try Int.fetchOne(db, sql: "SELECT count(*) FROM administrator") ?? 0 < Limits.maximumAdministratorTokens
      else {
        throw RegistrationRefusal(
          kind: .conflict,
          description: "a gateway has at most \(Limits.maximumAdministratorTokens) tokens of administrators: remove one"
        )
      }
      try db.execute(
        sql: "INSERT INTO administrator (token_hash, name, role, created, expires) VALUES (?, ?, ?, ?, ?)",
        arguments: [Data(hash), token.name, token.role.rawValue, token.created, token.expires])
      db.afterNextTransaction { [self] _ in state.withLock { $0.tokens[hash] = token } }
    }
  }

  /// Removes a token, which revokes it.
  ///
  /// - Throws: ``RegistrationRefusal`` if there is no token of this name, and ``StoreError``.
  @inline(never)
  package func remove(_ name: String) async throws {
    guard let hash = state.withLock({ state in state.tokens.first { $0.value.name == name }?.key }) else {
      throw RegistrationRefusal(
        kind: .unknown, description: "there is no token \(name): `pushcli admin tokens` shows them")
    }
    try await store.write { [self] db in
      try db.execute(sql: "DELETE FROM administrator WHERE token_hash = ?", arguments: [Data(hash)])
      db.afterNextTransaction { [self] _ in
        state.withLock { state in
          state.tokens[hash] = nil
          state.used.remove(hash)
        }
      }
    }
  }

  /// Writes to disk when tokens were last used.
  @inline(never)
  package func settle() async throws {
    let used = state.withLock { state in
      defer { state.used = [] }
      return state.used.compactMap { hash in state.tokens[hash]?.lastUsed.map { (hash: hash, at: $0) } }
    }
    guard !used.isEmpty else { return }
    try await store.write { db in
      for (hash, at) in used {
        try db.execute(
          sql: "UPDATE administrator SET last_used = ? WHERE token_hash = ?", arguments: [at, Data(hash)])
      }
    }
  }

  static func load(_ db: Database) throws -> [[UInt8]: AdministratorToken] {
    let rows = try PreparedStatement(
      db, "SELECT token_hash, name, role, created, expires, last_used FROM administrator")
    var tokens: [[UInt8]: AdministratorToken] = [:]
    while try rows.next() {
      guard let role: Role = try rows.word(2), Role.administrators.contains(role) else {
        // A token with an unknown role grants nothing: it is skipped.
        continue
      }
      tokens[rows.blob(0)] = AdministratorToken(
        name: try rows.text(1), role: role, created: try rows.integer(3, in: ColumnBounds.milliseconds),
        expires: try rows.integer(4, in: ColumnBounds.seconds),
        lastUsed: try rows.optionalInteger(5, in: ColumnBounds.seconds))
    }
    return tokens
  }
}
