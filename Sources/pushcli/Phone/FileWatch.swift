import Foundation
import Glibc

/// Reports when any process writes to a file or replaces it. If the system allows no more watches, it reports
/// nothing.
final class FileWatch {
  /// One element for any number of changes since the previous element.
  let changes: AsyncStream<Void>
  private let source: (any DispatchSourceRead)?

  init(_ path: String) {
    let (changes, reporter) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.changes = changes
    let file = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    let folder = (path as NSString).deletingLastPathComponent
    let name = Array((path as NSString).lastPathComponent.utf8)
    guard file >= 0, unsafe inotify_add_watch(file, folder, UInt32(IN_MODIFY) | UInt32(IN_MOVED_TO)) >= 0 else {
      if file >= 0 { close(file) }
      source = nil
      reporter.finish()
      return
    }
    let source = DispatchSource.makeReadSource(fileDescriptor: file)
    source.setEventHandler { if FileWatch.read(file, for: name) { reporter.yield() } }
    source.setCancelHandler {
      close(file)
      reporter.finish()
    }
    self.source = source
    source.activate()
  }

  deinit { source?.cancel() }

  /// Reads all events of the system. Returns true if at least one of them concerns the file `name`.
  private static func read(_ file: Int32, for name: [UInt8]) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var isFound = false
    while true {
      let count = unsafe Glibc.read(file, &buffer, buffer.count)
      guard count > 0 else { return isFound }
      // `struct inotify_event`: four words, the last of which is the length of the following name.
      var start = 0
      while start + 16 <= count {
        let length = unsafe buffer.withUnsafeBytes {
          unsafe Int($0.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
        }
        let end = min(start + 16 + length, count)
        isFound = isFound || buffer[(start + 16)..<end].prefix { $0 != 0 }.elementsEqual(name)
        start = end
      }
    }
  }
}
