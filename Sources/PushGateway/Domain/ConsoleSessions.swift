import PushCore
import Synchronization

/// The links and the sessions of the console, in memory: a restart of the gateway ends them.
///
/// A link is for one use. It begins a session with the credential of the administrator who requested it. Links and sessions
/// are found by the hash of their text: with a lookup by hash, the response time reveals nothing about the text.
final class ConsoleSessions: Sendable {
  /// The permissions of a session.
  struct Grant: Sendable, Equatable {
    /// The administrator who requested the link.
    var administrator: Administrator
    /// The token or the secret with which the link was requested: it is checked again with each request of the session.
    /// Nil for the admin socket.
    var bearer: String?
  }

  /// A grant with its end in seconds since 1970.
  struct Entry: Sendable, Equatable {
    var grant: Grant
    var expires: Int64
  }

  private typealias Table = [[UInt8]: Entry]
  private struct State {
    var links: Table = [:]
    var sessions: Table = [:]
  }

  private let state = Mutex(State())
  /// The size of a text before its encoding, in bytes: 192 random bits.
  private static let textSize = 24

  /// Adds a link for one use.
  ///
  /// - Parameter now: seconds since 1970.
  func link(for grant: Grant, now: Int64) -> (code: String, expires: Int64) {
    let entry = Entry(grant: grant, expires: now + Limits.consoleLinkTime)
    let code = state.withLock {
      ConsoleSessions.add(entry, to: &$0.links, atMost: Limits.maximumConsoleLinks, now: now)
    }
    return (code, entry.expires)
  }

  /// Begins the session of a link, which is used up then.
  ///
  /// - Returns: the text of the session, and its permissions; nil if the link was used, or has ended.
  func begin(_ code: String, now: Int64) -> (secret: String, entry: Entry)? {
    state.withLock { state in
      guard let link = state.links.removeValue(forKey: ConsoleSessions.hash(code)), link.expires > now else {
        return nil
      }
      let entry = Entry(grant: link.grant, expires: now + Limits.consoleSessionTime)
      let secret = ConsoleSessions.add(entry, to: &state.sessions, atMost: Limits.maximumConsoleSessions, now: now)
      return (secret, entry)
    }
  }

  /// Returns the session with a text; nil if there is none, or if it has ended.
  func session(_ secret: String, now: Int64) -> Entry? {
    let entry = state.withLock { $0.sessions[ConsoleSessions.hash(secret)] }
    return entry.flatMap { $0.expires > now ? $0 : nil }
  }

  func end(_ secret: String) { state.withLock { $0.sessions[ConsoleSessions.hash(secret)] = nil } }

  /// Adds an entry. From a full table, ended entries are removed, else the entry that ends first.
  ///
  /// - Returns: the new text of the entry.
  private static func add(_ entry: Entry, to table: inout Table, atMost limit: Int, now: Int64) -> String {
    if table.count >= limit { table = table.filter { $0.value.expires > now } }
    if table.count >= limit, let first = table.min(by: { $0.value.expires < $1.value.expires })?.key {
      table[first] = nil
    }
    let text = Digest.hex(randomBytes(count: textSize))
    table[hash(text)] = entry
    return text
  }

  private static func hash(_ text: String) -> [UInt8] { Digest.sha256(Array(text.utf8)) }
}
