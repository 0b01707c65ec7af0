import Foundation

/// Reads files that the user names.
enum PayloadFile {
  /// Returns the bytes of `file`; `-` is standard input.
  ///
  /// - Throws: ``CommandFailure`` of wrong usage if it can't be read.
  static func read(_ file: String) throws -> [UInt8] {
    if file == "-" { return Array(try standardInput()) }
    guard let data = FileManager.default.contents(atPath: file) else {
      throw CommandFailure(.usage, "\(file) can't be read: check its name and permissions")
    }
    return Array(data)
  }

  /// Reads standard input to its end, or at most `maximum` bytes.
  ///
  /// - Throws: ``CommandFailure`` of wrong usage if it can't be read.
  static func standardInput(upToCount maximum: Int? = nil) throws -> Data {
    do {
      let input = FileHandle.standardInput
      let data = if let maximum { try input.read(upToCount: maximum) } else { try input.readToEnd() }
      return data ?? Data()
    } catch {
      throw CommandFailure(.usage, "standard input can't be read: name a file, or pipe something in")
    }
  }
}
