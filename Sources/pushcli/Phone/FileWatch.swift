import Foundation
import Glibc

/// Reports when a file is written to or replaced, by whichever process; where the system watches no more files, nothing.
final class FileWatch {
  /// An element for any number of changes since the one before.
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

  /// Takes what the system has to report; returns whether any of it is about the name.
  private static func read(_ file: Int32, for name: [UInt8]) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var isFound = false
    while true {
      let count = unsafe Glibc.read(file, &buffer, buffer.count)
      guard count > 0 else { return isFound }
      // `struct inotify_event`: four words, the last of them the length of the name that follows.
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
