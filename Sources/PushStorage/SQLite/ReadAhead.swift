import Foundation
import Glibc
import Synchronization

/// Has the system read a large database into its cache, from the front to the end, while a start reads its rows here and there.
enum ReadAhead {
  /// Smaller files are read soon enough, larger ones would drive out what is of use.
  private static let sizes = (64 << 20)...(4 << 30)
  private static let step = 4 << 20
  /// Files that stay open: closing one would end the locks that SQLite has on it in this process.
  private static let descriptors = Mutex<[FileIdentity: CInt]>([:])

  private struct FileIdentity: Hashable {
    var device: dev_t
    var inode: ino_t
  }

  /// Begins with it, on a thread of its own.
  static func begin(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, sizes.contains(Int(status.st_size)) else { return }
    let (identity, size) = (FileIdentity(device: status.st_dev, inode: status.st_ino), Int(status.st_size))
    let descriptor = descriptors.withLock { descriptors -> CInt in
      if let known = descriptors[identity] { return known }
      let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
      if descriptor >= 0 { descriptors[identity] = descriptor }
      return descriptor
    }
    guard descriptor >= 0 else { return }
    Thread.detachNewThread {
      for offset in stride(from: 0, to: size, by: step) {
        posix_fadvise(descriptor, offset, step, POSIX_FADV_WILLNEED)
      }
    }
  }
}
