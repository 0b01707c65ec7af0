import Foundation
import PushCore
import Synchronization

/// A file with one recorded push a line, as JSON.
///
/// A push is written when it leaves the record, or at the end of the gateway, so that a line has all events of its push.
final class PushRecording: Sendable {
  private let file: Mutex<FileHandle>

  /// Creates or empties the file.
  ///
  /// - Throws: ``ConfigurationError`` if it can't be written.
  init(path: String) throws(ConfigurationError) {
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let handle = FileHandle(forWritingAtPath: path)
    else { throw ConfigurationError(description: "the recording \(path) can't be written: choose another file") }
    file = Mutex(handle)
  }

  /// Writes pushes, each as a line.
  func write(_ pushes: [RecordedPush]) {
    var lines: [UInt8] = []
    for push in pushes { lines += controlJSON(push.json) + [UInt8(ascii: "\n")] }
    let data = Data(lines)
    _ = file.withLock { try? $0.write(contentsOf: data) }
  }
}
