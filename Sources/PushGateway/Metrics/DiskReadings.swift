import Glibc
import PushCore

/// What lies in a state folder, and what room there is for more.
struct DiskReadings: Sendable {
  /// Bytes that this user may still write, and that the file system has in all.
  var free: UInt64
  var size: UInt64

  /// nil where the folder can't be looked at.
  init?(_ folder: StateFolder) {
    var status = statvfs()
    guard unsafe statvfs(folder.path, &status) == 0 else { return nil }
    free = UInt64(status.f_bavail) &* UInt64(status.f_frsize)
    size = UInt64(status.f_blocks) &* UInt64(status.f_frsize)
  }

  /// The files whose sizes are told, as they are named to monitors.
  static func files(of folder: StateFolder) -> [(label: String, path: String)] {
    [
      ("database", folder.databasePath), ("database_wal", folder.databasePath + "-wal"),
      ("delivery_log", folder.logPath), ("delivery_log_wal", folder.logPath + "-wal"),
    ]
  }

  /// Bytes of a file; 0 where there is none.
  static func size(of path: String) -> UInt64 {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
  }
}
