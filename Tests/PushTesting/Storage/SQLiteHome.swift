import Foundation
import GRDB
package import Logging
package import PushStorage
import Synchronization

/// A mailbox in a database in its own folder.
package struct SQLiteHome {
  package let folder: TemporaryFolder
  package let clock: TestClock
  package let cap: Int
  package let durability: Durability
  package let store: SQLiteStore
  package let mailbox: SQLiteMailbox
  package let removals: Removals

  /// The pushes that were removed without an acknowledgement.
  package final class Removals: Sendable {
    private let list = Mutex<[MailboxRemoval]>([])
    package init() {}
    package var all: [MailboxRemoval] { list.withLock { $0 } }
    package func add(_ removals: [MailboxRemoval]) { list.withLock { $0 += removals } }
  }

  package init(
    folder: TemporaryFolder? = nil, clock: TestClock = TestClock(), cap: Int = 10_000, durability: Durability = .full
  ) throws {
    self.folder = try folder ?? TemporaryFolder()
    self.clock = clock
    self.cap = cap
    self.durability = durability
    let removals = Removals()
    self.removals = removals
    store = try SQLiteStore(path: self.folder.file("push.sqlite"), durability: durability)
    mailbox = try SQLiteMailbox(
      store: store, cap: cap, logger: .silent, now: { clock.seconds }, removed: { removals.add($0) })
  }

  /// Closes the database in an orderly way and opens it again.
  package func reopened() throws -> SQLiteHome {
    mailbox.close()
    return try SQLiteHome(folder: folder, clock: clock, cap: cap, durability: durability)
  }

  /// Opens a copy of the current files, as they are after a crash of the process.
  package func crashed() throws -> SQLiteHome {
    let copy = try TemporaryFolder()
    for name in ["push.sqlite", "push.sqlite-wal"] where FileManager.default.fileExists(atPath: folder.file(name)) {
      try FileManager.default.copyItem(atPath: folder.file(name), toPath: copy.file(name))
    }
    mailbox.close()
    return try SQLiteHome(folder: copy, clock: clock, cap: cap)
  }
}

extension Logger {
  /// Discards all messages.
  package static let silent = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
}
