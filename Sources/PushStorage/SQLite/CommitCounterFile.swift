import GRDB
import Glibc
import Synchronization

/// The number of commits that the mailbox has made, in a file next to the database.
///
/// SQLite treats a write-ahead log whose end is truncated or damaged as the end of the committed data, without an
/// error: pushes that were answered with 200 would be lost without notice. The database counts its commits in a row
/// and this file counts them too, so that the difference shows the lost commits. The file is a page of shared memory:
/// counting costs one store instruction, and the number outlives the process. After a power failure it may be behind,
/// but never ahead of the data that was synced before it.
@safe final class CommitCounterFile: Sendable {
  nonisolated(unsafe) private let page: UnsafeMutablePointer<UInt64>

  /// "PGCOMMIT".
  private static let magic: UInt64 = 0x5047_434F_4D4D_4954
  private static let size = 4096
  /// The suffix of the file's path after the path of its database.
  static let suffix = ".commits"

  /// Opens or creates the file; nil if the disk has no space for it or it can't be created. Without it, commits are
  /// not compared.
  init?(path: String) {
    let file = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return nil }
    defer { close(file) }
    // A write to a page without disk space would end the process.
    guard posix_fallocate(file, 0, off_t(CommitCounterFile.size)) == 0,
      let memory = unsafe mmap(nil, CommitCounterFile.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
      unsafe memory != MAP_FAILED
    else { return nil }
    unsafe page = memory.assumingMemoryBound(to: UInt64.self)
  }

  deinit { unsafe munmap(page, CommitCounterFile.size) }

  /// The last number that was written; 0 before the first, and if the content of the file is invalid.
  var number: UInt64 {
    let (magic, number, check) = unsafe (page[0], page[1], page[2])
    return magic == CommitCounterFile.magic && check == ~number ? number : 0
  }

  /// Writes the number of a finished commit.
  func note(_ number: UInt64) {
    unsafe page[1] = number
    unsafe page[2] = ~number
    unsafe page[0] = CommitCounterFile.magic
  }
}

/// The count of a mailbox's commits: in the database with each commit, and in the ``CommitCounterFile`` after it.
final class CommitCount: Sendable {
  private let mark: CommitCounterFile?
  /// The number of the last finished commit; only the writer changes it.
  private let number: Atomic<UInt64>
  /// The number of commits that are missing in the database: the end of the write-ahead log was truncated or damaged.
  let missing: UInt64

  init(_ store: SQLiteStore) throws {
    mark = CommitCounterFile(path: store.path + CommitCounterFile.suffix)
    let stored = UInt64(
      clamping: try store.pool.read { try Int64.fetchOne($0, sql: "SELECT number FROM mailbox_commit") } ?? 0)
    let noted = mark?.number ?? 0
    missing = noted > stored ? noted - stored : 0
    number = Atomic(stored)
    mark?.note(stored)
  }

  var next: UInt64 { number.load(ordering: .relaxed) &+ 1 }

  /// Records that the next commit is finished.
  func advance() {
    let made = next
    number.store(made, ordering: .relaxed)
    mark?.note(made)
  }
}
