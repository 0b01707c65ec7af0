import PushTesting
import Testing

@testable import PushStorage

/// A storage backend of the mailbox for tests. Every check of ``MailboxConformance`` runs on each.
struct MailboxHome: Sendable, CustomTestStringConvertible {
  /// An open mailbox.
  struct Opened: Sendable {
    let mailbox: any Mailbox
    /// The pushes that were removed without an acknowledgement since the mailbox was opened.
    let removals: SQLiteHome.Removals
    let close: @Sendable () -> Void
    /// Closes the mailbox in an orderly way and opens it again.
    let reopened: @Sendable () async throws -> Opened
  }

  let testDescription: String
  /// Opens a new mailbox with a clock and a limit.
  let open: @Sendable (TestClock, Int) async throws -> Opened

  static let all = [sqlite(.full), sqlite(.normal), memory]

  static func sqlite(_ durability: Durability) -> MailboxHome {
    @Sendable func opened(_ home: SQLiteHome) -> Opened {
      Opened(
        mailbox: home.mailbox, removals: home.removals, close: { home.mailbox.close() },
        reopened: { opened(try home.reopened()) })
    }
    return MailboxHome(testDescription: "SQLite \(durability)") { clock, cap in
      opened(try SQLiteHome(clock: clock, cap: cap, durability: durability))
    }
  }

  static let memory = MailboxHome(testDescription: "memory") { clock, cap in
    let removals = SQLiteHome.Removals()
    return opened(MemoryMailbox(cap: cap, clock: clock, removed: { removals.add($0) }), removals)
  }

  private static func opened(_ mailbox: MemoryMailbox, _ removals: SQLiteHome.Removals) -> Opened {
    Opened(
      mailbox: mailbox, removals: removals, close: {},
      reopened: {
        let removals = SQLiteHome.Removals()
        return opened(mailbox.reopened(removed: { removals.add($0) }), removals)
      })
  }
}
