import Foundation
import Glibc

/// A duplicate of a descriptor of this process, as a child process has it between `fork` and `exec`. It is closed with
/// the last reference.
package final class HeldDescriptor: Sendable {
  private let file: Int32

  /// Duplicates the descriptor of the file at `path`. Nil if this process has no such file open.
  package init?(of path: String) {
    let path = URL(filePath: path).resolvingSymlinksInPath().path()
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let number = numbers.first {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == path
    }
    guard let number = number.flatMap(Int32.init) else { return nil }
    file = fcntl(number, F_DUPFD_CLOEXEC, 0)
    if file < 0 { return nil }
  }

  deinit { close(file) }
}
