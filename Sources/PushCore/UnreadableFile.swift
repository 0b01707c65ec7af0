import Glibc

/// A file that a user names and that can't be read.
package enum UnreadableFile {
  /// Returns the reason for which a file can't be read, in one clause.
  package static func reason(of path: String) -> String {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      return errno == EACCES ? denied : "there is no such file"
    }
    if status.st_mode & S_IFMT == S_IFDIR { return "expected a file, not a folder" }
    if status.st_mode & S_IFMT != S_IFREG { return "expected a regular file" }
    return unsafe access(path, R_OK) == 0 ? "check the disk" : denied
  }

  private static let denied = "this user has no permission"
}
