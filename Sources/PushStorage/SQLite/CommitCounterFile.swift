import GRDB
import Glibc
import Synchronization

/// How many commits the mailbox has made, in a file beside the database.
///
/// SQLite takes a write-ahead log whose end is cut off, or noise, for the end of what was committed, and says nothing: what
/// was answered 200 is gone, and nobody learns it. The database counts its commits in a row, this counts them too, and
/// what is missing there is here. The file is a page of shared memory: to count costs a store, and the number outlives the
/// process. After a power cut it may be behind, never ahead of what was synced before it.
@safe final class CommitCounterFile: Sendable {
  nonisolated(unsafe) private let page: UnsafeMutablePointer<UInt64>

  /// "PGCOMMIT".
  private static let magic: UInt64 = 0x5047_434F_4D4D_4954
  private static let size = 4096
  /// What its path has behind that of its database.
  static let suffix = ".commits"

  /// Opens or makes the file; nil where there is no room for it, or none can be made: then nothing is compared.
  init?(path: String) {
    let file = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return nil }
    defer { close(file) }
    // A page without room behind it would end the process when it is written to.
    guard posix_fallocate(file, 0, off_t(CommitCounterFile.size)) == 0,
      let memory = unsafe mmap(nil, CommitCounterFile.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
      unsafe memory != MAP_FAILED
    else { return nil }
    unsafe page = memory.assumingMemoryBound(to: UInt64.self)
  }

  deinit { unsafe munmap(page, CommitCounterFile.size) }

  /// The number that was noted last; 0 before the first, and where the file holds anything else.
  var number: UInt64 {
    let (magic, number, check) = unsafe (page[0], page[1], page[2])
    return magic == CommitCounterFile.magic && check == ~number ? number : 0
  }

  /// Notes the number of a commit that is made.
  func note(_ number: UInt64) {
    unsafe page[1] = number
    unsafe page[2] = ~number
    unsafe page[0] = CommitCounterFile.magic
  }
}

/// The commits of a mailbox, as its writer counts them: in the database with each of them, and in the mark after it.
final class CommitCount: Sendable {
  private let mark: CommitCounterFile?
  /// Of the last commit that was made; the writer's alone.
  private let number: Atomic<UInt64>
  /// What was committed and is not there any longer: the end of the write-ahead log was cut off, or was noise.
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

  /// The number of the next commit.
  var next: UInt64 { number.load(ordering: .relaxed) &+ 1 }

  /// The next commit is made.
  func advance() {
    let made = next
    number.store(made, ordering: .relaxed)
    mark?.note(made)
  }
}
