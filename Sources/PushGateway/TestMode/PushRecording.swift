import Foundation
import PushCore
import Synchronization

/// A file with one recorded push a line, as JSON.
///
/// A push is written when it leaves the record, or at the end of the gateway, so that a line has all events of its push.
final class PushRecording: Sendable {
  private struct State {
    let file: FileHandle
    /// The error of the first write that failed; nil if none has.
    var failure: String?
  }

  private let path: String
  private let state: Mutex<State>

  /// - Parameter file: open for writing, at its beginning.
  init(_ file: sending FileHandle, path: String) {
    self.path = path
    state = Mutex(State(file: file))
  }

  /// Creates or empties the file.
  ///
  /// - Throws: ``ConfigurationError`` if it can't be written.
  convenience init(path: String) throws(ConfigurationError) {
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let handle = FileHandle(forWritingAtPath: path)
    else { throw ConfigurationError(description: "the recording \(path) can't be written: choose another file") }
    self.init(handle, path: path)
  }

  /// A sentence about missing pushes; nil if all pushes so far were written.
  var problem: String? {
    let failure = state.withLock { $0.failure }
    return failure.map { "the recording \(path) is incomplete (\($0)): free some space, and record again" }
  }

  /// Writes pushes, each as a line.
  func write(_ pushes: [RecordedPush]) {
    var lines: [UInt8] = []
    for push in pushes { lines += controlJSON(push.json) + [UInt8(ascii: "\n")] }
    let data = Data(lines)
    state.withLock { state in
      do {
        try state.file.write(contentsOf: data)
      } catch {
        state.failure = state.failure ?? error.localizedDescription
      }
    }
  }
}
