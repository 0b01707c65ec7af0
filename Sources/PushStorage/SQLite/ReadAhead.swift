import Foundation
import Glibc
import Synchronization

/// Makes the system read a large database sequentially into its cache, while the start reads its rows in random
/// order.
enum ReadAhead {
  /// The sizes of the files to read ahead, in bytes. Smaller files are read fast enough; larger ones would evict
  /// useful data.
  private static let sizes = (64 << 20)...(4 << 30)
  private static let step = 4 << 20
  /// The files that stay open: closing one would release the locks that SQLite has on it in this process.
  private static let descriptors = Mutex<[FileIdentity: CInt]>([:])

  private struct FileIdentity: Hashable {
    var device: dev_t
    var inode: ino_t
  }

  /// Begins to read ahead, on a separate thread.
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
