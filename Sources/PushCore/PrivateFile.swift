package import Glibc

/// Files and folders that are their owner's alone from the first moment, whatever the umask says: keys, secrets, state.
package enum PrivateFile {
  /// The rights of others and of the group.
  package static let foreignRights: mode_t = 0o077

  /// Makes whatever this process makes from now on its user's alone, SQLite's files among them.
  package static func restrictProcess() { umask(foreignRights) }

  /// Makes a file that is not there yet, and returns when it and its name are on disk.
  ///
  /// - Parameter mode: What the file is in the end; while it is written it is its owner's alone.
  /// - Throws: the C error, `EEXIST` where anything has that name, a link too.
  package static func create(_ bytes: [UInt8], at path: String, mode: mode_t = 0o600) throws(SystemError) {
    try write(bytes, to: path, mode: mode)
    try synchronize(folderOf: path)
  }

  /// Makes a file, or replaces one as a whole: nobody ever sees half of it. Returns when that is on disk.
  ///
  /// - Throws: the C error; then the file that was there still is.
  package static func replace(_ path: String, with bytes: [UInt8], mode: mode_t = 0o600) throws(SystemError) {
    let draft = path + ".new"
    // What a crash has left; a link that somebody put there is taken away, never followed.
    unsafe unlink(draft)
    try write(bytes, to: draft, mode: mode)
    guard unsafe rename(draft, path) == 0 else {
      let error = SystemError(errno)
      unsafe unlink(draft)
      throw error
    }
    try synchronize(folderOf: path)
  }

  /// Makes a folder and those above it that are not there, each its owner's alone.
  package static func createFolder(_ path: String) throws(SystemError) {
    var status = stat()
    if path.isEmpty { return }
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
    try createFolder(folder(of: path))
    // Somebody may have made it meanwhile.
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
    // Some file systems can't, and have nothing to do.
    guard fsync(file) == 0 || errno == EINVAL || errno == EROFS else { throw SystemError(errno) }
  }

  /// The path without its last part; empty for a name alone.
  private static func folder(of path: String) -> String {
    var path = path[...]
    while path.count > 1, path.last == "/" { path.removeLast() }
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

/// A C error.
package struct SystemError: Error, CustomStringConvertible, Equatable {
  package var code: Int32

  package init(_ code: Int32) { self.code = code }

  /// What the system calls it.
  package var description: String { unsafe String(cString: strerror(code)) }
}
