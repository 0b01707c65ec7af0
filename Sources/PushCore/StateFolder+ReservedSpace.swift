import Glibc

/// A file that takes some room on the disk, so that there is some when the disk is full: SQLite needs files of its own to
/// open a database, and a gateway that can't start delivers nothing of what waits.
package struct ReservedSpace: Sendable {
  private let folder: StateFolder
  private var path: String { folder.ballastPath }

  /// What a start writes, and some more.
  package static let size = 1 << 20
  /// It is made where this much is left besides, so that it is never what fills the disk.
  private static let room = 8 * size

  package init(in folder: StateFolder) { self.folder = folder }

  /// Makes it, unless it is there or there is little room.
  package func make() {
    var status = statvfs()
    guard unsafe access(path, F_OK) != 0, unsafe statvfs(folder.path, &status) == 0,
      status.f_bavail.multipliedReportingOverflow(by: UInt(status.f_frsize)).partialValue > ReservedSpace.room
    else { return }
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    // A file system that can't set room aside has no ballast.
    if posix_fallocate(file, 0, off_t(ReservedSpace.size)) != 0 { unsafe unlink(path) }
    close(file)
  }

  /// Gives its room to whoever needs it now; false when there is none.
  package func release() -> Bool { unsafe unlink(path) == 0 }
}
