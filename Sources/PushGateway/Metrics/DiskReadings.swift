import Glibc
import PushCore

/// The free space and the file sizes of a state folder.
struct DiskReadings: Sendable {
  /// The number of bytes that this user may still write, and the size of the file system in bytes.
  var free: UInt64
  var size: UInt64

  /// Reads the file system of a folder; nil if it can't be read.
  init?(_ folder: StateFolder) {
    var status = statvfs()
    guard unsafe statvfs(folder.path, &status) == 0 else { return nil }
    free = UInt64(status.f_bavail) &* UInt64(status.f_frsize)
    size = UInt64(status.f_blocks) &* UInt64(status.f_frsize)
  }

  /// Returns the files whose sizes are reported, with their labels.
  static func files(of folder: StateFolder) -> [(label: String, path: String)] {
    [
      ("database", folder.databasePath), ("database_wal", folder.databasePath + "-wal"),
      ("delivery_log", folder.logPath), ("delivery_log_wal", folder.logPath + "-wal"),
    ]
  }

  /// Returns the size of a file in bytes; 0 if it does not exist.
  static func size(of path: String) -> UInt64 {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
  }
}
