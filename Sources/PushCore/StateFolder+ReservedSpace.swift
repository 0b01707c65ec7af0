import Glibc

/// A file that reserves disk space for the case that the disk is full: SQLite needs space for files of its own to
/// open a database, and a gateway that can't start delivers none of the pending pushes.
package struct ReservedSpace: Sendable {
  private let folder: StateFolder
  private var path: String { folder.reservedSpacePath }

  /// The size of the file in bytes: the space that a start needs, and some more.
  package static let size = 1 << 20
  /// The free space in bytes that is required to create the file, so that the file itself never fills the disk.
  private static let room = 8 * size

  package init(in folder: StateFolder) { self.folder = folder }

  /// Creates the file, unless it exists or there is little free space.
  package func make() {
    var status = statvfs()
    guard unsafe access(path, F_OK) != 0, unsafe statvfs(folder.path, &status) == 0,
      status.f_bavail.multipliedReportingOverflow(by: UInt(status.f_frsize)).partialValue > ReservedSpace.room
    else { return }
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    // On a file system that can't allocate space in advance, nothing is reserved.
    if posix_fallocate(file, 0, off_t(ReservedSpace.size)) != 0 { unsafe unlink(path) }
    close(file)
  }

  /// Frees the reserved space; returns false if none was reserved.
  package func release() -> Bool { unsafe unlink(path) == 0 }
}
