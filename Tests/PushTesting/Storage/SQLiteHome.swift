import Foundation
import GRDB
import Logging
import Synchronization

@testable import PushStorage

/// A mailbox in a database in a folder of its own.
struct SQLiteHome {
  let folder: TemporaryFolder
  let clock: TestClock
  let cap: Int
  let durability: Durability
  let store: SQLiteStore
  let mailbox: SQLiteMailbox
  let removals: Removals

  /// What left without an acknowledgement.
  final class Removals: Sendable {
    private let list = Mutex<[MailboxRemoval]>([])
    var all: [MailboxRemoval] { list.withLock { $0 } }
    func add(_ removals: [MailboxRemoval]) { list.withLock { $0 += removals } }
  }

  init(
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

  /// The same database, closed in good order and opened again.
  func reopened() throws -> SQLiteHome {
    mailbox.close()
    return try SQLiteHome(folder: folder, clock: clock, cap: cap, durability: durability)
  }

  /// A copy of the files as they are now, opened: what a process that dies here leaves behind.
  func crashed() throws -> SQLiteHome {
    let copy = try TemporaryFolder()
    for name in ["push.sqlite", "push.sqlite-wal"] where FileManager.default.fileExists(atPath: folder.file(name)) {
      try FileManager.default.copyItem(atPath: folder.file(name), toPath: copy.file(name))
    }
    mailbox.close()
    return try SQLiteHome(folder: copy, clock: clock, cap: cap)
  }
}

extension Logger {
  /// Says nothing.
  static let silent = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
}
