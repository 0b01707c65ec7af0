package import Glibc

/// Creates files and folders that only their owner can access from the first moment, independent of the umask: keys,
/// secrets, state.
package enum PrivateFile {
  /// The permissions of the group and of others.
  package static let foreignRights: mode_t = 0o077

  /// Restricts all files that this process creates from now on to its user, including those of SQLite.
  package static func restrictProcess() { umask(foreignRights) }

  /// Creates a new file, and returns after the file and its name are on disk.
  ///
  /// - Parameter mode: the final permissions of the file; only its owner can access it while it is written.
  /// - Throws: the C error; `EEXIST` if any file, also a link, has this name.
  package static func create(_ bytes: [UInt8], at path: String, mode: mode_t = 0o600) throws(SystemError) {
    try write(bytes, to: path, mode: mode)
    try synchronize(folderOf: path)
  }

  /// Creates or replaces a file atomically: a reader never sees a part of it. Returns after the change is on disk.
  ///
  /// - Throws: the C error; the previous file is unchanged then.
  package static func replace(_ path: String, with bytes: [UInt8], mode: mode_t = 0o600) throws(SystemError) {
    let draft = path + ".new"
    // Removes the rest of a crash; a link that another user put there is removed, never followed.
    unsafe unlink(draft)
    try write(bytes, to: draft, mode: mode)
    guard unsafe rename(draft, path) == 0 else {
      let error = SystemError(errno)
      unsafe unlink(draft)
      throw error
    }
    try synchronize(folderOf: path)
  }

  /// Creates a folder and its missing parent folders, each accessible only to its owner.
  package static func createFolder(_ path: String) throws(SystemError) {
    var status = stat()
    if path.isEmpty { return }
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
    try createFolder(folder(of: path))
    // Another process may have created the folder in the last moment.
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError(errno) }
  }

  private static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(SystemError) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemError(errno) }
    defer { close(file) }
    var failure: Int32 = 0
    var written = 0
    while written < bytes.count, failure == 0 {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(file, $0.baseAddress! + written, bytes.count - written)
      }
      if count >= 0 { written += count } else if errno != EINTR { failure = errno }
    }
    if failure == 0, mode != 0o600, fchmod(file, mode) != 0 { failure = errno }
    if failure == 0, fsync(file) != 0 { failure = errno }
    guard failure == 0 else {
      unsafe unlink(path)
      throw SystemError(failure)
    }
  }

  private static func synchronize(folderOf path: String) throws(SystemError) {
    let parent = folder(of: path)
    let file = unsafe open(parent.isEmpty ? "." : parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { throw SystemError(errno) }
    defer { close(file) }
    // Some file systems don't support this, and need no sync.
    guard fsync(file) == 0 || errno == EINVAL || errno == EROFS else { throw SystemError(errno) }
  }

  /// Returns the path without its last component; empty for a name alone.
  private static func folder(of path: String) -> String {
    var path = path[...]
    while path.count > 1, path.last == "/" { path.removeLast() }
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

/// An error of the C library, by its `errno`.
package struct SystemError: Error, CustomStringConvertible, Equatable {
  package var code: Int32

  package init(_ code: Int32) { self.code = code }

  /// The message of the system for the error.
  package var description: String { unsafe String(cString: strerror(code)) }
}
