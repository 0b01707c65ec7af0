import Foundation

/// The files of proc(5).
package enum ProcFile {
  /// Returns the whole text of a file; nil if it can't be read.
  ///
  /// Such a file has the size 0, and one read returns at most a page of it, which `FileManager` and `String` take for
  /// its end.
  package static func text(_ path: String) -> String? {
    guard let file = FileHandle(forReadingAtPath: path), let data = try? file.readToEnd() else { return nil }
    return String(decoding: data, as: UTF8.self)
  }
}
